"""Write docs/settings.md: every published setting beside what the presets set.

    python tools/settings_page.py [FILE]

The values of the presets and the sources of the competitors' settings, which are the comments of
their YAML files, are read from the presets. What the paper and the released code say is here.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from recallseg.config import RunConfig
from recallseg.config.loading import flat, load_preset

PAGE = Path(__file__).parents[1] / "docs" / "settings.md"
COMPETITORS = ("mib", "lwf", "lwf_mc", "sdr", "cil", "ilt")
SILENT = "–"


@dataclass(frozen=True)
class Row:
    """A setting: what the paper and its released code say, and why the preset differs, if it does.

    `paper` is a value of the setting where one can be compared, else words.
    """

    what: str
    keys: tuple[str, ...]
    paper: Any
    code: str
    why: str = ""


BOTH = ("optim", "increment")


def _both(name: str) -> tuple[str, ...]:
    return tuple(f"{part}.{name}" for part in BOTH)


ROWS = (
    Row(
        "encoder",
        ("model.encoder",),
        "ResNet-101",
        "`resnet_v1_101`, from a TensorFlow checkpoint",
        "`tv_in1k` are the classic ImageNet weights; timm's own default for `resnet101` is a much "
        "later recipe",
    ),
    Row("pre-training", ("model.weights",), "imagenet", "a checkpoint called `pretrained`"),
    Row("output stride", ("model.output_stride",), None, "8"),
    Row("decoder", ("model.decoder",), "deeplab_v2", "dilations 6, 12, 18, 24, summed"),
    Row("BatchNorm statistics move", ("model.train_batch_norm",), None, "no; weights learn"),
    Row("crop", ("views.crop",), 321, "321"),
    Row(
        "pad and crop",
        ("views.cut",),
        "random padding and cropping",
        "padded on the right and below, cropped at random",
        "a small photo lands at a random place of the window: the paper's words",
    ),
    Row(
        "scale",
        ("views.scale",),
        "random scaling",
        "0.5 to 1.5",
        "the paper does not say how far; the released code's range",
    ),
    Row("encoder learns later", ("method.train_encoder",), False, "no"),
    Row("void in inpainting", ("method.void",), "inpaint", "becomes background, then filled"),
    Row("what M_{k-1} looks at", ("method.inpaint_on",), "photos", "whole photos, once"),
    Row("probabilities as labels", ("method.soft_labels",), False, "no: a class per pixel"),
    Row("optimiser", _both("name"), "sgd", "SGD with momentum"),
    Row("learning rate", _both("lr"), 5e-4, "5e-4"),
    Row(
        "last learning rate",
        _both("end_lr"),
        5e-6,
        "5e-6, but step 0 counts the background as a class and never gets there",
    ),
    Row("power of the decay", _both("power"), 0.9, "0.9"),
    Row("momentum", _both("momentum"), None, "0.9"),
    Row("Nesterov", _both("nesterov"), None, "no"),
    Row("weight decay", _both("weight_decay"), None, "1e-4, on weights"),
    Row("batch", _both("batch"), None, "4"),
    Row("iterations per class", _both("iterations_per_class"), 1000, "1000"),
    Row(
        "… times, if overlapped",
        _both("overlapped_factor"),
        1.5,
        "1500 a class; joint training 1000 in every setup",
        "joint training is not lengthened: it is one run, whose row is the same in both setups",
    ),
    Row("helpers", ("helper.scope",), "step", "one for the classes of a step"),
    Row("helper of step 0", ("helper.initial",), "train", "D_0 itself"),
    Row("helpers: optimiser", ("helper.optim.name",), "sgd", "SGD with momentum"),
    Row("helpers: learning rate", ("helper.optim.lr",), 2e-4, "2e-4"),
    Row("helpers: last rate", ("helper.optim.end_lr",), 2e-6, "2e-6, never reached either"),
    Row("helpers: power", ("helper.optim.power",), 0.9, "0.9"),
    Row("helpers: momentum", ("helper.optim.momentum",), None, "0.9"),
    Row("helpers: weight decay", ("helper.optim.weight_decay",), None, "1e-4"),
    Row("helpers: batch", ("helper.optim.batch",), None, "4"),
    Row("helpers: iterations per class", ("helper.optim.iterations_per_class",), 1000, "1000"),
    Row("… times, if overlapped", ("helper.optim.overlapped_factor",), 1.0, "1000"),
    Row("images per old class", ("replay.images_per_class",), 500, "GAN 500, Flickr 1000"),
    Row("r_old / r_new", ("replay.ratio",), 1.0, "4 / 4, in batches of one kind by turns"),
    Row("who labels replay", ("replay.labels",), "helpers", "helpers; D_0 for step 0"),
    Row("what they look at", ("replay.label_on",), "photos", "whole images"),
    Row("replay inpainted", ("replay.inpaint",), False, "no"),
    Row("images left out", ("replay.filters.present",), False, "none"),
    Row("class mapping", ("classifier",), "efficientnet_b2", "not in the code"),
    Row("… looks at", ("map_by",), "photos", "not in the code"),
    Row("truncation", ("truncation",), None, "1"),
    Row(
        "stored views",
        ("bank.enabled",),
        None,
        "none: a fresh view at every visit",
        "with stored views, augmentation would depend on `bank.views` and on free disk",
    ),
)

NOT_SETTINGS = (
    ("generator", "BigGAN-deep", "BigGAN-deep, 512 px", "512 px: `configs/voc/recall-gan.yaml`"),
    ("channels of the head", "grow with the classes", "always 21", "grow"),
    ("batch of a later step", "r_new + r_old samples", "all new or all replayed", "r_new + r_old"),
    ("web photos", "name in tag and description", "no such filter", "`match: both`"),
    ("mean colour", SILENT, "BGR mean on RGB; none for pseudo-labels", "the encoder's own"),
    ("splits", "its step 0 is worded the other way round", "not shipped", "what MiB ships"),
)

DIFFERS = {
    "mib": (
        "In-place ABN is BatchNorm and a leaky ReLU of 0.01 in the decoder; the encoder is timm's, "
        "with ReLU, because Mapillary's weights are not there.",
        "BatchNorm is not synchronised over devices: with `devices` above 1 each sees its share.",
        "Their loader drops the last, smaller batch of an epoch; here it counts as one iteration.",
        "Their validation pools the image over 32×32 cells, here over the whole photo.",
        "The paper itself was not at hand: numbers are the public code's and its README's.",
    ),
    "sdr": (
        "As the scripts start it, the decoder has BatchNorm without an activation; here it has "
        "MiB's leaky ReLU.",
        "The paper's own rates and batch could not be checked against the scripts': unverified.",
        "The last, smaller batch of an epoch counts as one iteration here.",
    ),
    "cil": (
        "In the public code `--method CIL` compares (`opts.loss_CIL == 1`) where it should assign, "
        "so that the loss is only there if `--loss_CIL 1` is given too.",
    ),
    "ilt": (
        "It starts from MS COCO, here from ImageNet; give a file as `model.weights`.",
        "The first stage trains 1000 iterations for the background too; here for classes only.",
        "Its variants distil either the output (weight 1) or the features (weight 50); the method "
        "`ilt` does both, with the weights of MiB's comparison.",
        "In LD1's second stage the rate decays over 20,000 steps of which 1000 are run; LD2's over "
        "1000, as here.",
    ),
    "lwf": (),
    "lwf_mc": (),
}


def settings_of(config: RunConfig) -> dict[str, Any]:
    """Every setting of a configuration, by its full name."""
    return flat(config.model_dump(mode="json"))


def full_name(key: str, values: dict[str, Any]) -> str:
    """The one setting that a key is the name, or the last part of the name, of."""
    names = [key] if key in values else [name for name in values if name.endswith(f".{key}")]
    if len(names) != 1:
        raise ValueError(f"'{key}' is not one setting but {len(names)}: {names}")
    return names[0]


def shown(value: Any) -> str:  # noqa: ANN401
    """A value as a table has it."""
    if value is None:
        return SILENT
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " to ".join(map(shown, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def preset_text(preset: str) -> str:
    """The YAML file of a preset."""
    folder = resources.files("recallseg") / "presets"
    return (folder / f"{preset}.yaml").read_text(encoding="utf-8")


def source_comments(preset: str) -> dict[str, str]:
    """The comment behind every setting of a preset's file, by the setting's name."""
    text = preset_text(preset)
    lines = text.splitlines()

    def walk(node: yaml.MappingNode, prefix: str) -> Iterator[tuple[str, str]]:
        for key, value in node.value:
            if key.value == "<<":
                yield from walk(value, prefix)
            elif isinstance(value, yaml.MappingNode):
                yield from walk(value, f"{prefix}{key.value}.")
            elif key.value != "preset":
                yield f"{prefix}{key.value}", lines[key.start_mark.line].partition("  # ")[2]

    return dict(walk(yaml.compose(text), ""))


def paper_table() -> Iterator[str]:
    """The paper, the released code and `preset: paper`, a line for each setting."""
    values = settings_of(load_preset("paper"))
    yield "| | setting | paper | released code | `preset: paper` | |"
    yield "|---|---|---|---|---|---|"
    for row in ROWS:
        names = [full_name(key, values) for key in row.keys]
        found = {shown(values[name]) for name in names}
        if len(found) != 1:
            raise ValueError(f"{names} are not all the same: {found}")
        [here] = found
        paper = shown(row.paper)
        if row.paper is not None and paper != here and not row.why:
            raise ValueError(f"{names} are {here}, but {paper} in the paper: say why")
        listed = ", ".join(f"`{name}`" for name in names)
        yield f"| {row.what} | {listed} | {paper} | {row.code} | {here} | {row.why} |"
    for what, paper, code, here in NOT_SETTINGS:
        yield f"| {what} | | {paper} | {code} | {here} | |"


def competitor_table() -> Iterator[str]:
    """What the competitors' presets set, side by side."""
    presets = {name: settings_of(load_preset(name)) for name in COMPETITORS}
    listed = dict.fromkeys(key for name in COMPETITORS for key in source_comments(name))
    yield "| | " + " | ".join(f"`{name}`" for name in COMPETITORS) + " |"
    yield "|---" * (len(COMPETITORS) + 1) + "|"
    for key in listed:
        if key != "method.name":
            cells = " | ".join(_cell(values, key) for values in presets.values())
            yield f"| `{key}` | {cells} |"


def _cell(values: dict[str, Any], key: str) -> str:
    """A setting's value; where epochs decide, iterations do not."""
    part, _, name = key.partition(".")
    idle = name == "iterations_per_class" and values[f"{part}.epochs"] is not None
    return SILENT if idle else shown(values[key])


def source_list(preset: str) -> Iterator[str]:
    """Where each number of a preset is from, and how it differs from the authors' code."""
    values = settings_of(load_preset(preset))
    comments = source_comments(preset)
    yield f"### `preset: {preset}`"
    yield ""
    for name, comment in comments.items():
        if comment:
            yield f"- `{name}` {shown(values[name])}: {comment}"
    if below := yaml.safe_load(preset_text(preset)).get("preset"):
        yield f"- everything else as in `preset: {below}`"
    for difference in DIFFERS[preset]:
        yield f"- *differs:* {difference}"
    yield ""


def page() -> str:
    """The whole page."""
    lines = [
        "# Settings, as published and here",
        "",
        "Written by `python tools/settings_page.py` from the presets; do not edit it. "
        f"“{SILENT}” is where the paper is silent.",
        "",
        "## RECALL",
        "",
        *paper_table(),
        "",
        "## Competitors",
        "",
        "`lwf` and `lwf_mc` are MiB's re-implementations, `cil` is SDR's. The weights of the terms "
        "of a loss are in the methods and, by split, in `configs/voc/`; "
        "`recallseg run … --dry-run` prints them.",
        "",
        *competitor_table(),
        "",
        "## Where the competitors' numbers are from",
        "",
        "Files are those of the public repositories that the presets' first lines name.",
        "",
    ]
    for preset in COMPETITORS:
        lines += source_list(preset)
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE
    target.write_text(page(), encoding="utf-8")
