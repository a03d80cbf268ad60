import torch

from recallseg.losses import hinge_discriminator, hinge_generator


def test_the_discriminator_pays_for_scores_inside_the_margin():
    """Real 2, 0.5, -1 cost 0, 0.5, 2; generated -3, 0, 1 cost 0, 1, 2."""
    real, fake = torch.tensor([2.0, 0.5, -1.0]), torch.tensor([-3.0, 0.0, 1.0])
    torch.testing.assert_close(hinge_discriminator(real, fake), torch.tensor(2.5 / 3 + 3 / 3))
    assert hinge_discriminator(torch.ones(2, 4), -torch.ones(2, 4)).item() == 0


def test_the_generator_wants_high_scores():
    scores = torch.tensor([[1.0, 3.0], [-1.0, 5.0]], requires_grad=True)
    loss = hinge_generator(scores)
    loss.backward()
    assert loss.item() == -2
    assert scores.grad.tolist() == [[-0.25, -0.25], [-0.25, -0.25]]
