"""The smallest life of a model: three folders of photos, replay photos, and commands on them."""

import json
import shutil
from pathlib import Path

from children import contents, recallseg
from drawn import draw_pair, write_folder
from tiny import TINY

FAST = [
    *TINY,
    "optim.iterations_per_class=1",
    "increment.iterations_per_class=2",
    "helper.optim.iterations_per_class=1",
    "bank.keep=true",
    "checkpoint_seconds=0",
]
TIMED = ("metrics.jsonl", "result.json", "checksums.json", "call.json")
"""Files of a run folder that tell how long something took, or of such files."""


class TinyLife:
    """Photos of cat and dog, of cow, and of hen, and what was learned of them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        names = {"a": ["cat", "dog"], "b": ["cow"], "c": ["hen"]}
        for folder, classes in names.items():
            members = {f"{folder}{i}": [1 + i % len(classes)] for i in range(5 * len(classes))}
            write_folder(root / folder, members, classes)
        for number, name in enumerate(("cat", "dog", "cow", "hen"), 1):
            (root / "replay" / name).mkdir(parents=True)
            for seed in range(3):
                photo, _ = draw_pair([number], seed=50 + seed)
                photo.save(root / "replay" / name / f"{seed}.png")
        every = {f"v{label}": [label] for label in range(1, 5)}
        write_folder(root / "val", every, ["cat", "dog", "cow", "hen"])

    def learn_words(self, folder: str, model: Path) -> list[str]:
        """The command that teaches a model the classes of a folder."""
        words = ["learn", model, self.root / folder, *FAST]
        source = "none" if folder == "a" else f"folder:{self.root / 'replay'}"
        return [str(word) for word in [*words, "--source", source]]

    def learn(self, folder: str, model: Path) -> None:
        """Teach a model, which must not fail."""
        ended = recallseg(*self.learn_words(folder, model), RECALLSEG_CACHE=str(self.cache))
        assert ended.code == 0, ended.err

    @property
    def cache(self) -> Path:
        """The cache of this life."""
        return self.root / "cache"

    def model(self) -> Path:
        """A model that learned cat and dog, then cow, and was measured."""
        model = self.root / "model"
        if not model.exists():
            self.learn("a", model)
            words = self.learn_words("b", model)
            shutil.copytree(self.root / "val", self.root / "val-b")
            (self.root / "val-b/classes.txt").write_text("cat\ndog\ncow\n")
            for stem in ("v4",):
                (self.root / f"val-b/images/{stem}.png").unlink()
                (self.root / f"val-b/masks/{stem}.png").unlink()
            words += ["--val", str(self.root / "val-b")]
            ended = recallseg(*words, RECALLSEG_CACHE=str(self.cache))
            assert ended.code == 0, ended.err
        return model

    def run_config(self) -> Path:
        """A benchmark of the same kind, as a file for `recallseg run`."""
        path = self.root / "run.yaml"
        if not path.exists():
            from tiny import three_classes

            from recallseg.config import dump_config

            optim = {"lr": 0.02, "end_lr": 0.001, "batch": 4, "iterations_per_class": 2}
            changes = {"optim": optim, "increment": optim, "helper__optim": optim}
            config = three_classes(
                self.root / "three", checkpoint_seconds=0, replay__images_per_class=3, **changes
            )
            path.write_text(dump_config(config))
        return path


def answer(folder: Path) -> dict:
    """All that a run folder holds and that does not tell the time."""
    files = contents(folder, *TIMED, ".lease")
    result = json.loads((folder / "result.json").read_text())
    timeless = {k: v for k, v in result.items() if k not in ("seconds", "peak_memory_mb")}
    return files | {"result.json": timeless}
