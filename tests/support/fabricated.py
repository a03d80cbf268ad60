"""Run folders as the engine leaves them, without the hours of training."""

import numpy as np
from drawn import write_voc
from tiny import changed

from recallseg.config import dump_config, validate
from recallseg.data import open_dataset
from recallseg.data.pictures import write_pictures
from recallseg.engine.old_classes.exhibits import Exhibit, write_gallery
from recallseg.engine.session.facts import row_record
from recallseg.files import write_json, write_text
from recallseg.methods import build_method
from recallseg.runs.folder import RunFolder

SIZE = (64, 48)
VAL = {
    **{f"v{label:02}": [label] for label in range(1, 21)},
    **{f"w{label:02}": [label, label % 20 + 1] for label in range(1, 21)},
}


def world(root):
    """A dataset in VOC's layout, of drawn blocks."""
    if not root.exists():
        train = {f"t{label:02}": [label] for label in range(1, 21)}
        write_voc(root, {"train_aug": train, "val": VAL}, size=SIZE)
    return root


def fabricate(folder, root, *, quality=0.9, steps=None, finished=True, pictures=True, **changes):
    """A run of 18-1 whose models see `quality` of what they know; FT forgets all but the newest.

    Changes are settings such as method__name="ft". `steps` is how many were measured.
    """
    values = {"data": {"name": "voc", "root": str(root)}, "scenario": {"spec": "18-1"}}
    config = validate(changed(values, changes), "the test")
    write_text(folder / "config.yaml", dump_config(config))
    dataset = open_dataset("voc", "val", root)
    names = list(dataset.classes)
    joint = config.method.name == "joint"
    added = [names[1:]] if joint else [names[1:19], names[19:20], names[20:21]]
    known = {
        "dataset": "voc",
        "channels": names,
        "steps": added,
        "initial": 18,
        "photos": [10] * len(added),
        "photo_bytes": [10**6] * len(added),
        "row": row_record(config, build_method(config.method)),
    }
    write_json(folder / "classes.json", known)
    measured = []
    for index in range(len(added) if steps is None else steps):
        channels = 1 + sum(len(each) for each in added[: index + 1])
        forgets = config.method.name == "ft" and index > 0
        measured.append(_metrics(index, added[index], names[:channels], quality, forgets))
        write_json(folder / f"step-{index}" / "metrics.json", measured[-1])
        if pictures:
            _predict(RunFolder(folder).step(index).predictions, dataset, channels, forgets)
    if finished and len(measured) == len(added):
        write_json(folder / "result.json", _result(config, measured))
    return folder


def add_replay(folder, photo, mask, about=()):
    """A manifest and a gallery of one image that was kept and one that was not."""
    entries = [
        {"class_name": "bird", "title": "a bird", "credit": "Ann", "licence": "CC BY 4.0"}
        | {"page": "https://example.org/1", "rejected": None, "label": "0", **dict(about)},
        {"class_name": "bird", "title": "", "credit": "", "licence": "", "page": "javascript:x"}
        | {"rejected": "class not seen", "label": "1"},
    ]
    RunFolder(folder).write_replay_images(entries)
    write_gallery(RunFolder(folder).gallery, [Exhibit(photo, mask, entry) for entry in entries])


def _metrics(index, new, names, quality, forgets):
    values = dict.fromkeys(names, 100 * quality)
    if forgets:
        values = {name: 100 * quality * (name in (*new, "background")) for name in names}
    old = [values[name] for name in names[1:19]]
    later = [values[name] for name in names[19:]]
    means = {
        "old": float(np.mean(old)),
        "new": float(np.mean(later)) if later else None,
        "all": float(np.mean(list(values.values()))),
        "foreground": float(np.mean(old + later)),
        "old_with_background": float(np.mean([values["background"], *old])),
    }
    return {
        "step": index,
        "classes": list(new),
        "miou": means,
        "iou": values,
        "pixel_accuracy": dict.fromkeys(names, 50.0),
        "pixels": 1000,
    }


def _predict(path, dataset, channels, forgets):
    with write_pictures(path) as pictures:
        for row, pair in enumerate(dataset.pairs):
            mask = dataset.read(row)[1]
            known = np.where((mask < channels), mask, 0)
            seen = np.where(known == channels - 1, known, 0) if forgets else known
            pictures.add_mask(pair.stem, seen.astype(np.uint8))


def _result(config, steps):
    return {
        "method": config.method.name,
        "dataset": "voc",
        "scenario": "18-1",
        "setup": "disjoint",
        "seed": config.seed,
        "keeps_photos": config.method.name == "store_replay",
        "steps": steps,
        "versions": {"python": "3.11.0"},
        "seconds": 61.0,
        "peak_memory_mb": 512.0,
    }
