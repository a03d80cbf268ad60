"""`recallseg gan train`, from the folder of images to the recipe."""

import json
import platform
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from recallseg.allocator import keep_large_blocks
from recallseg.errors import RecallsegError
from recallseg.files import content_key, write_json
from recallseg.gan.generator import load_generator
from recallseg.gan.named_tensors import save_named
from recallseg.gan.sheet import write_sample_sheet
from recallseg.gan.training.classifier_head import trained_classifier
from recallseg.gan.training.images import ClassFolder, Draws
from recallseg.gan.training.loop import train
from recallseg.gan.training.players import Players
from recallseg.gan.training.quality import quality
from recallseg.gan.training.settings import GanSettings, Outputs
from recallseg.leases import alone, lease_beside
from recallseg.reporter import Reporter
from recallseg.version import __version__

HALF = 6e4
"""A little less than the largest number in half precision."""


def train_generator(data: Path, out: Path, settings: GanSettings) -> dict[str, Any]:
    """Train a generator and a classifier on the images of `data`; gives the recipe.

    A tenth of the images is held out to measure both. The generator is saved, and measured, in half
    precision. An interrupted training continues when called again, and ends with the same weights
    on the same device. A finished one continues when called with more iterations.
    """
    folder, outputs = ClassFolder.open(data), Outputs.at(out)
    with alone(lease_beside(out), f"{out} is being trained by"):
        return _train_generator(folder, outputs, settings)


def _train_generator(
    folder: ClassFolder, outputs: Outputs, settings: GanSettings
) -> dict[str, Any]:
    key = content_key(settings.identity(), folder.signature())
    if (done := _finished(outputs, key)) and done["iterations"] == settings.iterations:
        load_generator(outputs.generator)  # a damaged one is no end
        Reporter().say(f"{outputs.generator} is already finished; there is nothing to do")
        return done
    keep_large_blocks()
    reporter = Reporter(outputs.journal)
    pixels, labels, held_out = folder.read(settings.resolution), folder.labels, folder.held_out
    if not held_out.any():
        raise RecallsegError(
            f"Every class of {folder.root} has one image only; give some of them two or more, so "
            "that one can be held out to measure the generator with."
        )
    draws = Draws(pixels[~held_out], labels[~held_out], settings.mirror)
    players = Players.new(settings, len(folder.names))
    start = players.resume(outputs.checkpoint, key)
    device = settings.torch_device()
    classifier, accuracy = trained_classifier(outputs.classifier, folder, device, reporter)

    def look(iteration: int) -> None:
        write_sample_sheet(outputs.sheet, players.result(settings, whole=False), folder.names)
        reporter.say(f"iteration {iteration}: samples in {outputs.sheet}")

    def keep(iteration: int) -> None:
        players.save(outputs.checkpoint, key, iteration)

    train(players, draws, settings, reporter, start, look=look, keep=keep)
    weights = players.result(settings).state_dict()
    small = {key: w.half() if w.abs().max() < HALF else w for key, w in weights.items()}
    save_named(outputs.generator, small, folder.names)
    generator = load_generator(outputs.generator).to(device)
    write_sample_sheet(outputs.sheet, generator, folder.names)
    recipe = {
        "key": key,
        "settings": asdict(settings),
        "iterations": settings.iterations,
        "device": str(device),
        "data": _about(folder),
        "classifier": {"accuracy": accuracy},
        "quality": quality(
            generator,
            classifier,
            (pixels[held_out], labels[held_out]),
            draws.pixels,
            folder.names,
            reporter,
        ),
        "versions": _versions(),
    }
    write_json(outputs.recipe, recipe)
    return recipe


def _finished(outputs: Outputs, key: str) -> dict[str, Any] | None:
    """The recipe of the same training, if it is finished already."""
    if not outputs.generator.exists():
        return None
    try:
        recipe: dict[str, Any] = json.loads(outputs.recipe.read_text(encoding="utf-8"))
        if recipe["key"] == key:
            return recipe
    except FileNotFoundError:
        if outputs.checkpoint.exists():
            return None
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise RecallsegError(
        f"{outputs.generator} exists already, from other settings or images; delete it, or give "
        "another output."
    )


def _about(folder: ClassFolder) -> dict[str, Any]:
    counts = map(len, folder.files)
    return {
        "folder": folder.root.name,
        "images": len(folder.paths),
        "held_out": int(folder.held_out.sum()),
        "classes": dict(zip(folder.names, counts, strict=True)),
    }


def _versions() -> dict[str, str]:
    packages = {name: version(name) for name in ("torch", "timm", "numpy", "pillow")}
    return {"recallseg": __version__, "python": platform.python_version(), **packages}
