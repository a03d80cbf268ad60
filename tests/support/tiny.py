"""A run so small that it ends in seconds."""

from pathlib import Path

from drawn import write_voc

from recallseg.config import RunConfig, validate

STEPS = {
    "train_aug": {
        **{f"a{i}": [1] for i in range(4)},
        **{f"b{i}": [2, 1] for i in range(4)},
        **{f"c{label}{i}": [label] for label in range(3, 21) for i in range(2)},
    },
    "val": {**{f"v{label}": [label] for label in range(1, 21)}, "w": [1, 2]},
}

OPTIM = {"name": "sgd", "lr": 0.02, "end_lr": 0.001, "batch": 4, "iterations_per_class": 2}
TINY = [
    "model.encoder=mobilenetv2_035",
    "model.weights=none",
    "model.neck=null",
    "model.neck_stride=8",
    "views.crop=33",
    "views.scale=[0.8,1.2]",
    "views.label_stride=1",
    "bank.views=2",
    "replay.images_per_class=3",
    "replay.filters.present=false",
    *(f"optim.{key}={value}" for key, value in OPTIM.items()),
    *("optim.encoder_lr_factor=1.0", "optim.encoder_delay=0", "optim.warmup=0", "optim.ema=0"),
    *(f"{part}.weight_decay=0.0001" for part in ("optim", "increment", "helper.optim")),
    *(f"increment.{key}={value}" for key, value in OPTIM.items()),
    *(f"helper.optim.{key}={value}" for key, value in OPTIM.items()),
]
"""`tiny_config` as words for `recallseg learn`."""


def tiny_config(root: Path, **changes) -> RunConfig:
    """Step 0 with 18 classes, then two more one by one, on drawn blocks."""
    if not root.exists():
        write_voc(root, STEPS)
    optim = {"lr": 0.02, "end_lr": 0.001, "batch": 4, "iterations_per_class": 2}
    values = {
        "data": {"name": "voc", "root": str(root)},
        "scenario": {"spec": "18-1"},
        "model": {"encoder": "mobilenetv2_035", "weights": "none"},
        "views": {"crop": 33, "scale": [0.8, 1.2]},
        "method": {"name": "ft"},
        "optim": optim,
        "increment": optim | {"iterations_per_class": 8},
        "bank": {"views": 2},
    }
    return validate(changed(values, changes), "the test")


def changed(values: dict, changes: dict) -> dict:
    """Nested settings with changes such as method__name="ft"."""
    for path, value in changes.items():
        section = values
        *parents, last = path.split("__")
        for parent in parents:
            section = section.setdefault(parent, {})
        section[last] = value
    return values
