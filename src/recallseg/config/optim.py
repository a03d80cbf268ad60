"""How weights are trained."""

from typing import Annotated, Literal

from pydantic import Field

from recallseg.config.section import Positive, Rate, Section, Share


class OptimConfig(Section):
    """How weights are trained: polynomial decay from `lr`, reaching `end_lr` at the last step."""

    name: Literal["sgd", "adamw"] = "sgd"
    lr: Rate = 5e-4
    end_lr: Annotated[float, Field(ge=0)] = 5e-6
    power: Rate = 0.9
    momentum: Share = 0.9
    nesterov: bool = False
    """For `sgd`: Nesterov's momentum."""
    weight_decay: Annotated[float, Field(ge=0)] = 1e-4
    """On weights only, not on biases and BatchNorm."""
    decay_all: bool = False
    """Let weight decay act on biases and BatchNorm too."""
    encoder_lr_factor: Rate = 1.0
    """The learning rate of pretrained weights, in encoder or tail, as a multiple of `lr`."""
    encoder_delay: Share = 0.0
    """The share of the iterations in which those weights wait for the new ones to settle."""
    warmup: Share = 0.0
    """The share of the iterations in which the rate first rises linearly from zero."""
    batch: Positive = 4
    accumulate: Positive = 1
    """Batches whose gradients are summed before a step of the optimiser."""
    iterations_per_class: Rate = 1000
    overlapped_factor: Rate = 1.0
    """Multiplies `iterations_per_class` in the overlapped setup; joint training, which is the same
    in every setup, is left alone."""
    epochs: Positive | None = None
    """Train so many times over the step's photos instead, however many classes there are: this
    wins over `iterations_per_class`."""
    ema: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Decay of a moving average of the weights, which is what is kept; 0 for none."""
