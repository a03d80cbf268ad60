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
    for path, value in changes.items():
        place = values
        *parents, last = path.split("__")
        for parent in parents:
            place = place.setdefault(parent, {})
        place[last] = value
    return validate(values, "the test")
