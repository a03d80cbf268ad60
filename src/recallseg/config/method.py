"""Which continual learner runs, and who labels what it replays."""

from typing import Literal

from pydantic import Field

from recallseg.config.optim import OptimConfig
from recallseg.config.section import Section, Share


class MethodConfig(Section):
    """Which continual learner runs."""

    name: str = "ft"
    weights: dict[str, float] = Field(default_factory=dict)
    """Of the terms of the method's loss, by name; by default those that its class names."""
    train_encoder: bool = False
    """Train the encoder after step 0 too, as all methods but RECALL were published."""
    growth: Literal["random", "background", "similar"] | None = None
    """How channels of new classes start: at random; as the background's, which is MiB's
    initialisation; or as those of whatever the previous model takes the class for. By default as
    the method's authors have it."""
    inpaint: bool | None = None
    """Background inpainting; by default what the method is known for."""
    inpaint_on: Literal["views", "photos"] = "views"
    """Let the previous model look at each training view by itself, or at the step's photos as a
    whole, once, and cut its labels along with them."""
    inpaint_confidence: Share = 0.0
    """Inpaint only where the previous model is that sure."""
    soft_labels: bool = False
    """RECALL: where a label is what the previous model sees, learn its probabilities for all old
    classes instead of that one class. The paper's labels are hard."""
    void: Literal["ignore", "inpaint"] = "ignore"
    """What inpainting does with void pixels: leave them out of the loss, or fill them like
    background, as the paper's equation says."""


class HelperConfig(Section):
    """The helper decoders D^H that label replay images, one per step (paper, sec. 4)."""

    scope: Literal["step", "one_class", "shared", "model"] = "step"
    """One for the classes of each step; one for each class; or a single one, which grows and is
    trained like the main decoder (the paper found that worse). `model`: none is trained, and the
    model as it was after a step labels images of that step's classes."""
    optim: OptimConfig = OptimConfig(lr=2e-4, end_lr=2e-6)
    always: bool = False
    """Train them even if nothing is replayed yet, for steps that are to come."""
    initial: Literal["train", "reuse"] = "train"
    """Step 0's helper: trained as in Algorithm 1, or D_0 itself."""
    tail: Literal["own", "model"] = "own"
    """With `model.tail=decoder`: its last stages learn too and are kept with it, or stay those that
    the model has after the helper's step, which keeps them anyway."""
