"""Your own method: one class, one line in METHODS, and it runs like all others.

    python examples/new_method.py FOLDER

"Anchored" is fine-tuning that pulls the old classes' weights back to where they were.
"""

import sys
from pathlib import Path

from torch import Tensor

from recallseg.config import load_preset
from recallseg.data.toy import write_scenes
from recallseg.engine.runner import run
from recallseg.methods import METHODS, Batch, Method, plain_loss
from recallseg.model import Segmenter

SETTINGS = [
    "scenario.spec=2-1",
    "views.crop=96",
    "optim.iterations_per_class=12",
    "increment.iterations_per_class=40",
    "bank.views=2",
]


class Anchored(Method):
    """Cross-entropy, and the squared way that old channels have moved since the last step."""

    title = "Anchored"
    defaults = {"anchor": 1.0}

    def loss(self, model: Segmenter, batch: Batch) -> Tensor:
        pairs = zip(model.decoder.parameters(), self.previous.decoder.parameters(), strict=True)
        moved = sum(((new[: len(old)] - old) ** 2).sum() for new, old in pairs)
        return plain_loss(model, batch) + self.weights["anchor"] * moved


METHODS["anchored"] = Anchored


def main(folder: Path) -> None:
    write_scenes(folder / "scenes", {"train": 36, "val": 12}, classes=["bus", "cat", "sheep"])
    data = ["data.name=folder", f"data.root={folder / 'scenes'}"]
    for method in ("ft", "anchored"):
        config = load_preset("toy", [*SETTINGS, *data, f"method.name={method}"])
        print(method, run(config, folder / method)["steps"][-1]["miou"])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
