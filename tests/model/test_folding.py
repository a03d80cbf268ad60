import recallseg.torchvision_guard  # noqa: F401

from copy import deepcopy

import pytest
import timm
import torch
from torch import nn

from recallseg.model.folding import fold_batch_norm


def norms(network):
    return [module for module in network.modules() if isinstance(module, nn.BatchNorm2d)]


def settled(network):
    """A network whose BatchNorm does something."""
    torch.manual_seed(0)
    for norm in norms(network):
        for values in (norm.weight, norm.running_var):
            nn.init.uniform_(values, 0.5, 2)
        for values in (norm.bias, norm.running_mean):
            nn.init.normal_(values)
    return network.eval()


@pytest.mark.parametrize("name", ["tf_efficientnet_lite0", "mobilenetv2_035", "resnet10t"])
def test_a_folded_network_answers_as_before(name):
    network = settled(timm.create_model(name, num_classes=0))
    folded, photo = deepcopy(network), torch.randn(1, 3, 64, 64)
    fold_batch_norm(folded, lambda: folded(photo))
    assert not norms(folded)
    with torch.no_grad():
        expected = network(photo)
        torch.testing.assert_close(folded(photo), expected, rtol=1e-3, atol=1e-3 * expected.std())


def test_what_follows_no_convolution_stays():
    network = settled(
        nn.Sequential(nn.BatchNorm2d(3), nn.Conv2d(3, 4, 3), nn.ReLU(), nn.BatchNorm2d(4))
    )
    expected = network(torch.ones(1, 3, 9, 9))
    fold_batch_norm(network, lambda: network(torch.ones(1, 3, 9, 9)))
    assert len(norms(network)) == 2
    torch.testing.assert_close(network(torch.ones(1, 3, 9, 9)), expected)
