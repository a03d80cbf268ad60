"""Teach a model three classes, then a fourth without the photos of the first three.

    python examples/add_a_class.py

Scenes and replay photos are drawn by recallseg itself, so nothing is downloaded. With so little
training the model is poor, and replay photos are kept whether it sees their class in them or not;
what matters is that the old classes are still there.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from recallseg import Learner
from recallseg.data.toy import write_scenes, write_snapshots

FIRST, LATER = ["bus", "cat", "sheep"], ["cow"]
QUICK = {
    "views": {"crop": 96, "label_stride": 2},
    "optim": {"iterations_per_class": 12},
    "increment": {"iterations_per_class": 40},
    "helper": {"optim": {"iterations_per_class": 20}},
    "replay": {"images_per_class": 6, "filters": {"present": False}},
    "bank": {"views": 2},
}


def main(folder: Path) -> None:
    write_scenes(folder / "first", {"train": 30}, classes=FIRST)
    write_scenes(folder / "later", {"train": 12}, classes=LATER)
    write_snapshots(folder / "replay", 6, classes=FIRST)

    model = Learner.open(folder / "model")
    model.learn(folder / "first", **QUICK)
    shutil.rmtree(folder / "first")
    model.learn(folder / "later", source=f"folder:{folder / 'replay'}", **QUICK)

    print("knows", ", ".join(model.class_names[1:]))
    for step in model.info()["steps"]:
        print(f"step {step['step']}: {', '.join(step['classes'])}, from {step['photos']} photos")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as place:
            main(Path(place))
