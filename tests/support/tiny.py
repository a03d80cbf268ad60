"""A run so small that it ends in seconds."""

from pathlib import Path

from drawn import draw_pair, write_folder, write_voc
from omegaconf import OmegaConf

from recallseg.config import RunConfig, dump_config, validate
from recallseg.data.shrink import save_mask

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
    "model.encoder=test_efficientnet",
    "model.weights=none",
    "model.neck=null",
    "model.tail=null",
    "model.neck_stride=8",
    "views.crop=33",
    "views.scale=[0.8,1.2]",
    "views.label_stride=1",
    *("bank.views=2", "bank.replay_views=null", "bank.seed=null"),
    "helper.scope=step",
    "replay.images_per_class=3",
    "replay.filters.present=false",
    *(f"optim.{key}={value}" for key, value in OPTIM.items()),
    *("optim.encoder_lr_factor=1.0", "optim.encoder_delay=0", "optim.warmup=0", "optim.ema=0"),
    *(f"{part}.weight_decay=0.0001" for part in ("optim", "increment", "helper.optim")),
    *(f"increment.{key}={value}" for key, value in OPTIM.items()),
    *(f"helper.optim.{key}={value}" for key, value in OPTIM.items()),
]
"""`tiny_config` as words for `recallseg learn`."""
TINY_SETTINGS = OmegaConf.to_container(OmegaConf.from_dotlist(TINY))
"""The same as keywords for `Learner.learn`."""


def tiny_config(root: Path, **changes) -> RunConfig:
    """Step 0 with 18 classes, then two more one by one, on drawn blocks."""
    if not root.exists():
        write_voc(root, STEPS)
    optim = {"lr": 0.02, "end_lr": 0.001, "batch": 4, "iterations_per_class": 1}
    values = {
        "data": {"name": "voc", "root": str(root)},
        "scenario": {"spec": "18-1"},
        "model": {"encoder": "test_efficientnet", "weights": "none"},
        "views": {"crop": 33, "scale": [0.8, 1.2]},
        "method": {"name": "ft"},
        "optim": optim,
        "increment": optim | {"iterations_per_class": 8},
        "bank": {"views": 2},
    }
    return validate(changed(values, changes), "the test")


def small_table(root: Path, **changes) -> Path:
    """A table of four tiny runs, FT and MiB with two seeds, as a file."""
    (root / "configs").mkdir()
    for method in ("ft", "mib"):
        config = tiny_config(root / "voc", method__name=method, **changes)
        (root / f"configs/{method}.yaml").write_text(dump_config(config))
    words = "configs: configs\nrows: {FT: ft, MiB: mib}\nscenarios: [19-1]\nseeds: [0, 1]\n"
    (root / "small.yaml").write_text(words)
    return root / "small.yaml"


def changed(values: dict, changes: dict) -> dict:
    """Nested settings with changes such as method__name="ft"."""
    for path, value in changes.items():
        section = values
        *parents, last = path.split("__")
        for parent in parents:
            section = section.setdefault(parent, {})
        section[last] = value
    return values


def three_classes(root: Path, val_size: tuple[int, int] = (24, 20), **changes) -> RunConfig:
    """RECALL with helpers, `1-1` on three classes of 12 photos and 12 replay photos each.

    The views of 12 photos take 53,784 bytes: 2 × (2 × 64 × 3 × 3 + 33 × 33) each.
    """
    names = ["background", "cat", "dog", "cow"]
    if not root.exists():
        members = {f"{name}{i:02}": [label] for label, name in _classes(names) for i in range(12)}
        write_folder(root, members, names)
        (root / "val.txt").write_text("")
        for label, name in _classes(names):
            (root / "replay" / name).mkdir(parents=True)
            for number in range(12):
                photo, _ = draw_pair([label], size=(30, 26), seed=100 + number)
                photo.save(root / "replay" / name / f"{number}.png")
                if number < 3:
                    _add_val(root, f"val-{name}{number}", label, val_size)
    optim = {"lr": 0.02, "end_lr": 0.001, "batch": 4, "iterations_per_class": 6}
    settings = {
        "data": {"name": "folder", "root": str(root)},
        "scenario__spec": "1-1",
        "method__name": "recall",
        "replay__source": "folder",
        "replay__folder__path": str(root / "replay"),
        "replay__images_per_class": 12,
        "replay__filters__present": False,
        "helper__optim": optim,
        "optim": optim,
        "increment": optim,
    }
    return tiny_config(root, **settings | changes)


def _classes(names: list[str]) -> list[tuple[int, str]]:
    return list(enumerate(names))[1:]


def _add_val(root: Path, stem: str, label: int, size: tuple[int, int]) -> None:
    photo, mask = draw_pair([label], size=size, seed=label)
    photo.save(root / "images" / f"{stem}.png")
    save_mask(root / "masks" / f"{stem}.png", mask)
    with (root / "val.txt").open("a") as lines:
        lines.write(f"{stem}\n")
