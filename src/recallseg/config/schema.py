"""Every setting of a run: what it is called, what it may be and what it means."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

Positive = Annotated[int, Field(gt=0)]
Rate = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(ge=0, le=1)]


class Section(BaseModel):
    """A part of the configuration: it cannot be changed, and refuses keys it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class DataConfig(Section):
    """Which photos to learn from and to be measured on."""

    name: str = "voc-mini"
    """A dataset that `recallseg doctor` lists."""
    root: Path | None = None
    """Where it lies; by default `$RECALLSEG_DATA/name`."""
    train: str = "train"
    """The split to learn from: `train` is the dataset's own default."""
    val: str = "val"
    """The split to be measured on; `tune` takes a fifth of the training photos away from training,
    to choose settings on, and leaves the dataset's own validation photos alone."""

    @property
    def learned(self) -> str:
        """The split that is learned from: the training photos that are not held out."""
        return "fit" if self.val == "tune" else self.train

    @model_validator(mode="after")
    def _held_out_of_the_default(self) -> "DataConfig":
        if self.val == "tune" and self.train != "train":
            raise ValueError("val=tune holds photos of the default training split out, not others")
        return self


class ScenarioConfig(Section):
    """Which classes come when (paper, sec. 3)."""

    spec: str = "15-1"
    """a-b: a classes first, then b at a time."""
    setup: Literal["disjoint", "overlapped", "sequential"] = "disjoint"
    rule: Literal["standard", "as-written"] = "standard"
    """How photos are dealt out to steps: as the field ships it, or as the paper's sentences say."""
    order: tuple[str, ...] | None = None
    """The class names in the order of learning; by default that of their ids."""


class ModelConfig(Section):
    """The encoder E and the shape of every decoder D on it."""

    encoder: str = "efficientnet_lite0"
    """`efficientnet_lite0`, `resnet101`, or another timm CNN that has an output stride."""
    output_stride: Literal[8, 16, 32] = 16
    weights: str = "imagenet"
    """`imagenet`, the path of a .safetensors or .pth file, or `none` for random ones."""
    neck: Positive | None = None
    """Width that a decoder brings the encoder's last stages to first, for small encoders; none: the
    last stage alone, as it is."""
    neck_stride: Literal[4, 8, 16] = 8
    """With a neck: the finest stage that it takes, and so the stride of the features."""
    dilations: tuple[Positive, ...] | None = None
    """Of the decoder's parallel convolutions; by default 6, 12, 18, 24 at stride 8, scaled."""
    train_batch_norm: bool = False
    """Let BatchNorm's statistics move in step 0; its weights always do."""


class ViewConfig(Section):
    """How a training photo is cut (paper, sec. 6)."""

    crop: Positive = 321
    scale: tuple[Rate, Rate] = (0.5, 1.5)
    label_stride: Literal[1, 2, 4, 8] = 1
    """Compute the loss at every n-th pixel only, which saves much of its time."""

    @model_validator(mode="after")
    def _ordered(self) -> "ViewConfig":
        if self.scale[0] > self.scale[1]:
            raise ValueError(f"scale goes from low to high, not {self.scale[0]} to {self.scale[1]}")
        return self


class OptimConfig(Section):
    """How weights are trained: polynomial decay from `lr`, reaching `end_lr` at the last step."""

    name: Literal["sgd", "adamw"] = "sgd"
    lr: Rate = 5e-4
    end_lr: Rate = 5e-6
    power: Rate = 0.9
    momentum: Share = 0.9
    weight_decay: Annotated[float, Field(ge=0)] = 1e-4
    """On weights only, not on biases and BatchNorm."""
    encoder_lr_factor: Rate = 1.0
    """The learning rate of the encoder's pretrained weights as a multiple of `lr`."""
    encoder_delay: Share = 0.0
    """The share of the iterations in which those weights wait for the new ones to settle."""
    warmup: Share = 0.0
    """The share of the iterations in which the rate first rises linearly from zero."""
    batch: Positive = 4
    accumulate: Positive = 1
    """Batches whose gradients are summed before a step of the optimiser."""
    iterations_per_class: Rate = 1000
    overlapped_factor: Rate = 1.0
    """Multiplies the iterations in the overlapped setup."""
    ema: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Decay of a moving average of the weights, which is what is kept; 0 for none."""


class BankConfig(Section):
    """Features of a frozen encoder, computed once per view and kept outside run folders."""

    enabled: bool = True
    views: Positive = 4
    """Augmented views of each photo."""
    budget_gb: Rate = 20.0
    """Disk space for features; past it, photos are encoded on the fly."""
    keep: bool = True
    """Keep the features for other runs; if not, they are deleted when their step ends."""


class MethodConfig(Section):
    """Which continual learner runs."""

    name: str = "ft"
    weights: dict[str, float] = {}
    """Of the terms of the method's loss, by name; by default those of its authors."""
    train_encoder: bool = False
    """Train the encoder after step 0 too, as some methods were published."""
    inpaint: bool | None = None
    """Background inpainting; by default what the method is known for."""
    inpaint_confidence: Share = 0.0
    """Inpaint only where the previous model is that sure."""
    void: Literal["ignore", "inpaint"] = "ignore"
    """What inpainting does with void pixels: leave them out of the loss, or fill them like
    background, as the paper's equation says."""


class HelperConfig(Section):
    """The helper decoders D^H that label replay images, one a step (paper, sec. 4)."""

    scope: Literal["step", "one_class", "shared"] = "step"
    """One for the classes of each step; one for each class; or a single one, which grows and is
    trained like the main decoder (the paper found that worse)."""
    optim: OptimConfig = OptimConfig(lr=2e-4, end_lr=2e-6)
    always: bool = False
    """Train them even if nothing is replayed yet, for steps that are to come."""
    initial: Literal["train", "reuse"] = "train"
    """Step 0's helper: trained as in Algorithm 1, or D_0 itself."""


class ReplayConfig(Section):
    """Where images of old classes come from, and how they are labelled and mixed in."""

    source: str = "none"
    """`none`, `folder`, `web` or `gan`."""
    path: Path | None = None
    """For `folder`: a folder per class, or a list of photos with tags (`photos.jsonl`); for `gan`:
    the generator's weights, or `toy`, which comes with the package. A relative path is looked for
    in `$RECALLSEG_DATA` too."""
    collection: str | None = None
    """For `folder`: use only this collection of a list."""
    site: Literal["flickr", "openverse", "commons"] = "openverse"
    """For `web`: the photo site. Flickr needs a key in FLICKR_API_KEY, the others need none."""
    base_url: str | None = None
    """Another address that speaks the site's language."""
    interval: Annotated[float, Field(ge=0)] = 1.0
    """For `web`: seconds between two requests to the same host, at least."""
    allow_hosts: tuple[str, ...] = ()
    """Private or loopback hosts that photos may come from; all others of that kind are refused."""
    match: Literal["both", "any"] = "both"
    """The class name must stand in tags and description, or in one of them."""
    queries: dict[str, str] = {}
    """What to search for instead of a class's name."""
    classifier: str = "efficientnet_lite0"
    """For `gan`: who maps our classes to the generator's: a timm network trained on ImageNet, the
    `.classifier.safetensors` that `recallseg gan train` wrote, or `toy`."""
    map_by: Literal["area", "photos", "boxes"] = "area"
    """For `gan`: what is classified to map a class: whole photos, which count by the share that the
    class covers, or each the same, as in the paper; or boxes around the class, which count by
    area."""
    map_apart: bool = False
    """For `gan`: let no two classes share a class of the generator, whose images would have to be
    replayed as both; whoever came first, or resembles it more, keeps it."""
    map_photos: Positive | None = None
    """For `gan`: how many photos of a class are classified, at most; by default all of them."""
    truncation: Annotated[float, Field(gt=0, le=1)] = 1.0
    """For `gan`: how far from the mean noise is drawn; less is cleaner and more alike."""
    side: Positive | None = None
    """For `gan`: pixels a side that images are brought to, so that things in them are about as
    large as in photos; by default they stay as large as they are generated."""
    images_per_class: Positive = 500
    ratio: float = 1.0
    """r_old / r_new: replayed samples for every new one in a batch."""
    labels: Literal["helpers", "previous"] = "helpers"
    """Who labels replay images: the helper decoder of the class's step, or the previous model."""
    label_on: Literal["views", "photos"] = "views"
    """Label each training view of an image by itself, or the image once, and cut its label too."""
    inpaint: bool = False
    """Let the previous model fill the background of replay images too: a helper knows the classes
    of its own step only, and calls all others background."""
    present: bool = True
    """Leave out images in which the class is not seen."""
    min_area: Share = 0.0
    max_area: Share = 1.0
    min_confidence: Share = 0.0

    @field_validator("ratio")
    @classmethod
    def _replays_something(cls, ratio: float) -> float:
        if not 0 < ratio < float("inf"):
            raise ValueError(
                "r_old/r_new must be above 0; to replay nothing, set replay.source=none"
            )
        return ratio


class RunConfig(Section):
    """Everything that decides the result of a run."""

    seed: Annotated[int, Field(ge=0)] = 0
    data: DataConfig = DataConfig()
    scenario: ScenarioConfig = ScenarioConfig()
    model: ModelConfig = ModelConfig()
    views: ViewConfig = ViewConfig()
    method: MethodConfig = MethodConfig()
    optim: OptimConfig = OptimConfig()
    """Step 0 and joint training: encoder and decoder."""
    increment: OptimConfig = OptimConfig()
    """Every later step."""
    helper: HelperConfig = HelperConfig()
    replay: ReplayConfig = ReplayConfig()
    bank: BankConfig = BankConfig()
    devices: Positive = 1
    accelerator: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    precision: Literal["32-true", "bf16-mixed", "16-mixed"] = "32-true"
    checkpoint_seconds: Annotated[float, Field(ge=0)] = 60.0
    """How often an unfinished training is saved, so that the same command goes on from there."""
    tensorboard: bool = False
    keep_predictions: bool = True
    """Keep what each step's model sees in the validation photos, as small masks, for reports."""

    @model_validator(mode="after")
    def _room_for_both(self) -> "RunConfig":
        if self.replay.source != "none" and self.increment.batch < 2:
            raise ValueError("increment.batch must be at least 2 to hold new and replayed samples")
        stride = self.model.neck_stride if self.model.neck else self.model.output_stride
        if self.views.label_stride > stride:
            raise ValueError(f"views.label_stride cannot be above the features' stride, {stride}")
        by_helpers = self.replay.source != "none" and self.replay.labels == "helpers"
        if by_helpers and self.method.train_encoder:
            raise ValueError(
                "helper decoders need the encoder that they were trained on; set "
                "method.train_encoder=false, or replay.labels=previous"
            )
        return self
