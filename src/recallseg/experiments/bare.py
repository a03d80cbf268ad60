"""The bare decoder: the least that a step of a training costs."""

from collections.abc import Callable

import torch

from recallseg.config import RunConfig
from recallseg.data.transforms import ViewRecipe
from recallseg.engine.training.shares import Shares, cores_to_share
from recallseg.experiments.timing import in_turns
from recallseg.methods import Batch, plain_loss
from recallseg.model import Segmenter
from recallseg.model.building import build_model

CLASSES = (10, 20, 50, 150)


def bare_step(model: Segmenter, config: RunConfig) -> Callable[[], None]:
    """Forward, loss and backward of the decoder on a batch of features in memory, a share of it on
    each core."""
    crop, stride = config.views.crop, config.views.label_stride
    side = ViewRecipe(crop, label_stride=stride).label_size
    batch = config.increment.batch
    features = torch.randn(batch, *model.encoder.feature_shape(crop))
    labels = torch.randint(0, model.decoder.classes, (batch, side, side), dtype=torch.uint8)
    samples = Batch(labels, features=features, label_stride=stride)
    model.encoder.freeze()
    shares = Shares(model, plain_loss, cores_to_share(model, plain_loss))

    def step() -> None:
        shares.backward(samples)
        model.zero_grad(set_to_none=True)

    return step


def class_ratios(config: RunConfig) -> dict[str, float]:
    """What a step of the bare decoder costs with more classes."""
    models = {count: build_model(config.model, 1 + count, "none") for count in CLASSES}
    works = {str(count): bare_step(model, config) for count, model in models.items()}
    times = in_turns(works)
    few = str(CLASSES[0])
    return {
        f"classes: bare decoder step with {count} over {few}": times[str(count)] / times[few]
        for count in CLASSES[1:]
    }
