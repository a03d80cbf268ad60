"""What the setups of a scenario change in training."""

import pytest
from drawn import write_voc
from tiny import STEPS, tiny_config

from recallseg.engine.runner import run
from recallseg.engine.training.loop import train

OLD, NEW, EVERYWHERE = 1, 19, 5


def labels_of_step_1(tmp_path, **changes):
    """The labels that step 1 is trained on, after a model that sees class 5 in everything."""
    both = {f"d{number}": [NEW, OLD] for number in range(8)}
    root = write_voc(tmp_path / "voc", STEPS | {"train_aug": STEPS["train_aug"] | both})
    seen = {}

    def watched(session, training, model, stream, *rest):
        train(session, training, model, stream, *rest)
        if training.name == "step 0":
            model.decoder.branches[0].bias.data[EVERYWHERE] = 1e4
        rounds = [stream.batch(number).labels.unique().tolist() for number in range(3)]
        seen[training.name] = {label for labels in rounds for label in labels}

    settings = {"method__name": "recall", "scenario__spec": "18-2", "increment__lr": 0.002}
    settings |= changes
    run(tiny_config(root, **settings), tmp_path / "run", trainer=watched)
    return seen["step 1"]


@pytest.mark.parametrize("learning", [False, True])
def test_a_background_that_may_hold_old_classes_is_inpainted(learning, tmp_path):
    found = labels_of_step_1(tmp_path, method__train_encoder=learning)
    assert found == {EVERYWHERE, NEW, 20, 255}


@pytest.mark.parametrize("learning", [False, True])
@pytest.mark.parametrize("void", ["ignore", "inpaint"])
def test_labels_that_are_true_stay_as_they_are(learning, void, tmp_path):
    changes = {"method__train_encoder": learning, "method__void": void}
    changes |= {"scenario__setup": "sequential"}
    found = labels_of_step_1(tmp_path, **changes)
    assert found == {0, OLD, NEW, 20, 255}
