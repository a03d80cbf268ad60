"""Every setting of a run: what it is called, what it may be and what it means."""

from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from recallseg.config.method import HelperConfig, MethodConfig
from recallseg.config.optim import OptimConfig
from recallseg.config.replay import ReplayConfig
from recallseg.config.section import NotNegative, Positive, Rate, Section, Share


class DataConfig(Section):
    """Which photos to learn from and to be measured on."""

    optional: ClassVar[tuple[str, ...]] = ("val_root",)

    name: str = "voc-mini"
    """A dataset that `recallseg doctor` lists."""
    root: Path | None = None
    """Where it lies; by default `$RECALLSEG_DATA/name`."""
    train: str = "train"
    """The split to learn from: `train` is the dataset's own default."""
    val: str = "val"
    """The split to be measured on; `tune` takes a fifth of the training photos away from training,
    to choose settings on, and leaves the dataset's own validation photos alone. `tune-later` takes
    it from the photos of later steps only, so that step 0 is the one of other runs."""
    val_root: Path | None = None
    """Where the photos to be measured on lie, if not with those to learn from: a folder that
    `recallseg learn --val` was given. Its split is `val` if it lists one, else all of it."""
    unlabelled: Literal["background", "void", "unscored"] | None = None
    """What the label 0 on disk is: background; void, which counts neither in the loss nor in
    scores; or `unscored`, background in training and void in evaluation. By default void for `ade`,
    whose 0 is what nobody labelled, and background for all others."""

    @property
    def learned(self) -> str:
        """The split that is learned from: the training photos that are not held out."""
        return "fit" if self.val == "tune" else self.train

    @model_validator(mode="after")
    def _held_out_of_the_default(self) -> "DataConfig":
        if self.val in ("tune", "tune-later") and self.train != "train":
            raise ValueError(
                f"val={self.val} holds photos of the default training split out, not others"
            )
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
    lists: Path | None = None
    """A folder with a list of photos for each step, as papers ship them (`train-0.npy` …), which
    takes the place of `rule`. A relative path is looked for in `$RECALLSEG_DATA` too."""


class ModelConfig(Section):
    """The encoder E and the shape of every decoder D on it."""

    optional: ClassVar[tuple[str, ...]] = ("tail", "first_stages")

    encoder: str = "efficientnet_lite0"
    """`efficientnet_lite0`, `resnet101`, or another timm CNN that has an output stride; with a tag
    (`resnet101.tv_in1k`) a certain set of its weights, else timm's default."""
    output_stride: Literal[8, 16, 32] = 16
    weights: str = "imagenet"
    """`imagenet`, the path of a .safetensors or .pth file, or `none` for random ones."""
    decoder: str = "deeplab_v2"
    """`deeplab_v2`, the paper's: dilated convolutions to classes, summed; or `deeplab_v3`: dilated
    convolutions and image pooling to 256 channels, BatchNorm, and a 1×1 classifier."""
    neck: Positive | None = None
    """Width that a decoder brings the encoder's last stages to first, for small encoders; none: the
    last stage alone, as it is."""
    neck_stride: Literal[4, 8, 16] = 8
    """With a neck: the finest stage that it takes, and so the stride of the features."""
    tail: Literal["decoder"] | None = None
    """With a neck, `decoder`: the encoder ends with the stage at `neck_stride` and keeps its
    pretrained weights for good, and the network's later stages belong to the decoder and learn in
    every step. None: the whole network is the encoder, which step 0 trains, as in the paper."""
    first_stages: Literal["step-0"] | None = None
    """With a tail, `step-0`: the encoder, which is all that comes before it, learns in step 0 too,
    for pictures that are not like those it was pretrained on."""
    dilations: tuple[Positive, ...] | None = None
    """Of the decoder's parallel convolutions; by default, scaled to the stride, 6, 12, 18, 24 at
    stride 8 for `deeplab_v2`, and 6, 12, 18 at stride 16 for `deeplab_v3`."""
    train_batch_norm: bool = False
    """Let the statistics of the encoder's BatchNorm move wherever the encoder learns; its weights
    always do. A decoder's own BatchNorm always learns."""
    batch_norm_momentum: Share | None = None
    """How fast those statistics move; by default as fast as the network's authors chose."""


class ViewConfig(Section):
    """How a training photo is cut (paper, sec. 6)."""

    optional: ClassVar[tuple[str, ...]] = ("longer_side",)

    crop: Positive = 321
    cut: Literal["window", "stretched"] = "window"
    """`window`: the photo is scaled, and a window of `crop` pixels is taken, padded if need be;
    `stretched`: a random part of the photo, of a side ratio from 3:4 to 4:3, is stretched to it."""
    scale: tuple[Rate, Rate] = (0.5, 1.5)
    """How much the photo is scaled; for `stretched`, the part's share of the photo's area."""
    label_stride: Literal[1, 2, 4, 8] = 1
    """Compute the loss at every n-th pixel only, which saves much of its time."""
    longer_side: Positive | None = None
    """Bring every photo to this size before anything else is done with it, in training and
    wherever the model looks at photos; masks keep the photo's own size. None: photos as they are.
    `recallseg learn` chooses it from the photos."""

    @model_validator(mode="after")
    def _ordered(self) -> "ViewConfig":
        if self.scale[0] > self.scale[1]:
            raise ValueError(f"scale goes from low to high, not {self.scale[0]} to {self.scale[1]}")
        return self


class BankConfig(Section):
    """Features of a frozen encoder, computed once per view and kept outside run folders."""

    optional: ClassVar[tuple[str, ...]] = ("replay_views", "seed")

    enabled: bool = True
    views: Positive = 4
    """Augmented views of each photo."""
    replay_views: Positive | None = None
    """Of each replay image, which comes less often in a step than a new photo does; by default as
    many as of a photo."""
    seed: NotNegative | None = None
    """Of the views that are stored; by default the run's. Fixed, runs of all seeds on one encoder
    share their features, and differ in how weights start and in what order views come."""
    budget_gb: Rate = 20.0
    """Disk space for features, a quarter of it at most for validation photos; past it, photos are
    encoded on the fly, which takes longer and changes nothing else."""
    keep: bool = True
    """Keep the features for other runs; if not, they are deleted when their step ends."""


class RunConfig(Section):
    """Everything that decides the result of a run."""

    optional: ClassVar[tuple[str, ...]] = ("nodes",)

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
    """Processes on each machine, each with a device of its own."""
    nodes: Positive | None = None
    """Machines, if more than one: `docs/scale.md` tells how a run is started on them."""
    accelerator: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    precision: Literal["32-true", "bf16-mixed", "16-mixed"] = "32-true"
    checkpoint_seconds: Annotated[float, Field(ge=0)] = 60.0
    """How often an unfinished training is saved, so that the same command goes on from there."""
    track: tuple[Literal["tensorboard", "wandb", "mlflow"], ...] = ()
    """Trackers that draw losses and scores, from files in the run folder unless told otherwise."""
    keep_predictions: bool = True
    """Keep what each step's model sees in the validation photos, as small masks, for reports."""

    @property
    def processes(self) -> int:
        """How many processes share the work of the run."""
        return self.devices * (self.nodes or 1)

    def in_one_process(self) -> "RunConfig":
        """The same settings for one process, which tells no tracker."""
        return self.model_copy(update={"devices": 1, "nodes": None, "track": ()})

    @field_validator("nodes")
    @classmethod
    def _only_if_several(cls, nodes: int | None) -> int | None:
        return None if nodes == 1 else nodes

    @model_validator(mode="after")
    def _room_for_all(self) -> "RunConfig":
        smallest = min(self.optim.batch, self.increment.batch, self.helper.optim.batch)
        if smallest < self.processes:
            raise ValueError(
                f"a batch of {smallest} is too small to be shared by {self.processes} processes "
                "(devices × nodes)"
            )
        return self

    @model_validator(mode="after")
    def _room_for_both(self) -> "RunConfig":
        if self.replay.settings is not None and self.increment.batch < 2:
            raise ValueError("increment.batch must be at least 2 to hold new and replayed samples")
        stride = self.model.neck_stride if self.model.neck else self.model.output_stride
        if self.model.tail and not self.model.neck:
            raise ValueError("model.tail=decoder needs a neck; set model.neck too")
        if self.model.first_stages and not self.model.tail:
            raise ValueError("model.first_stages=step-0 needs model.tail=decoder")
        if self.model.tail and self.method.train_encoder:
            raise ValueError(
                "with model.tail=decoder the encoder is frozen in later steps, and what learns is "
                "the decoder's; leave method.train_encoder out"
            )
        if self.views.label_stride > stride:
            raise ValueError(f"views.label_stride cannot be above the features' stride, {stride}")
        if self.replay.passes == 2 and self.method.train_encoder:
            raise ValueError("replay.passes=2 needs a frozen encoder, method.train_encoder=false")
        by_helpers = self.replay.settings is not None and self.replay.labels == "helpers"
        if by_helpers and self.method.train_encoder:
            raise ValueError(
                "helper decoders need the encoder that they were trained on; set "
                "method.train_encoder=false, or replay.labels=previous"
            )
        return self
