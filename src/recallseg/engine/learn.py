"""The life of a model: steps that come one call at a time, each with photos of its own.

It is the benchmark's runner on the same run folder. Only the data differ: a call knows the photos
of the step that it learns, and of all earlier steps no more than the folder says.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recallseg.config import SOURCES, DataConfig, RunConfig, load_preset, source_class, validate
from recallseg.config.sources import NO_SOURCE
from recallseg.data import SegmentationDataset, open_dataset
from recallseg.data.opening import seen_in_evaluation, seen_in_training
from recallseg.data.verify import verify
from recallseg.engine.runner import run
from recallseg.engine.session.data import RunData
from recallseg.errors import RecallsegError
from recallseg.labels import VOID, check_class_count
from recallseg.runs.folder import RunFolder
from recallseg.runs.records import ClassRecord, ResultRecord
from recallseg.scenario import PresenceTable, Scenario, channels_of, compute_presence

HANDFUL = 5
"""A class needs that many photos at least."""


def learn(
    model: Path,
    data: Path,
    *,
    classes: Sequence[str] | None = None,
    source: str | None = None,
    val: Path | None = None,
    overrides: Sequence[str] = (),
) -> ResultRecord:
    """Add the classes of a folder dataset to the model in a folder, or begin one there.

    `classes` are the new ones among those of the dataset, by default all. The model as it was
    stays usable until the step is complete, and the same call goes on where it was stopped.
    """
    folder = RunFolder(model)
    steps = record["steps"] if (record := folder.classes) else []
    photos = open_dataset("folder", "train", data)
    new = _new_classes(folder, steps, photos, classes)
    steps = steps if steps and steps[-1] == new else [*steps, new]
    check_class_count(sum(map(len, steps)), f"With these, {model}")
    config = _settings(folder, data, steps, source, overrides)
    world = _world(steps, photos, val, config.data)
    if folder.path.is_dir():
        folder.write_config(config)
    return run(config, model, world)


def rollback(model: Path, to: int) -> list[str]:
    """Forget every step after `to`; give the classes that are gone."""
    folder = RunFolder.existing(model)
    record = folder.learned()
    if not 0 <= to < len(record["steps"]):
        last = len(record["steps"]) - 1
        raise RecallsegError(f"{model} has steps 0 to {last}; it cannot go back to step {to}.")
    gone = [name for names in record["steps"][to + 1 :] for name in names]
    kept = record["steps"][: to + 1]
    folder.write_classes(_shortened(record, kept))
    for index in reversed(range(to + 1, len(record["steps"]))):
        shutil.rmtree(folder.step(index).path, ignore_errors=True)
    folder.forget_state()
    if memory := folder.source_memory:
        folder.write_source_memory({name: memory[name] for name in memory if name not in gone})
    if result := folder.result:
        folder.write_result({**result, "steps": result["steps"][: to + 1]})
    settings = folder.config
    scenario = settings.scenario.model_copy(update={"spec": _spec(kept)})
    folder.write_config(settings.model_copy(update={"scenario": scenario}))
    return gone


def _new_classes(
    folder: RunFolder,
    steps: list[list[str]],
    photos: SegmentationDataset,
    requested: Sequence[str] | None,
) -> list[str]:
    """The classes that this step adds, in the order of the dataset."""
    offered = photos.classes[1:]
    wanted = offered if requested is None else requested
    if strangers := [name for name in wanted if name not in offered]:
        raise RecallsegError(
            f"{photos.root} has no class {', '.join(map(repr, strangers))}; "
            f"it has {', '.join(offered)}."
        )
    new = [name for name in offered if name in wanted]
    if steps and not _is_complete(folder, len(steps) - 1, steps[-1]):
        if new != steps[-1]:
            back = f"`recallseg rollback {folder.path} --to {len(steps) - 2}`"
            raise RecallsegError(
                f"{folder.path} has not finished learning {', '.join(steps[-1])}: run that "
                f"`recallseg learn` again, or {back if len(steps) > 1 else 'remove the folder'}."
            )
        return new
    learned_names = {name for names in steps for name in names}
    if again := [name for name in new if name in learned_names]:
        raise RecallsegError(
            f"{folder.path} knows {', '.join(again)} already; name the new classes with --classes."
        )
    return new


def _is_complete(folder: RunFolder, index: int, classes: list[str]) -> bool:
    step, scope = folder.step(index), folder.config.helper.scope
    helpers = {"one_class": len(classes), "model": 0}.get(scope, 1)
    return step.decoder.is_file() and len(step.helpers()) >= helpers


def _settings(
    folder: RunFolder,
    data: Path,
    steps: list[list[str]],
    source: str | None,
    overrides: Sequence[str],
) -> RunConfig:
    """The model's own settings with what this call changes; its encoder cannot change any more."""
    begun = RunFolder.is_one(folder.path)
    config = folder.config_with(overrides) if begun else load_preset("learn", overrides)
    for part in ("model", "views", "seed") if begun else ():
        if getattr(folder.config, part) != getattr(config, part):
            raise RecallsegError(f"'{part}' cannot change once a model has been begun.")
    values = config.model_dump(mode="json")
    values["scenario"]["spec"] = _spec(steps)
    values["data"]["root"] = str(data.resolve())
    for name, value in _source(source).items():
        section = values["replay"].get(name)
        values["replay"][name] = section | value if isinstance(section, dict) else value
    return validate(values, str(folder.path))


def source_words() -> list[str]:
    """How a source is named in one word, such as `web` and `gan:PATH`."""
    return [NO_SOURCE, *(f"{name}:PATH" if _has_path(name) else name for name in SOURCES)]


def _source(word: str | None) -> dict[str, Any]:
    if word is None:
        return {}
    name, _, path = word.partition(":")
    if name == NO_SOURCE and not path:
        return {"source": name}
    if name not in SOURCES or bool(path) != _has_path(name):
        raise RecallsegError(f"'{word}' is not a source; write one of {', '.join(source_words())}.")
    return {"source": name} | ({name: {"path": str(Path(path).resolve())}} if path else {})


def _has_path(name: str) -> bool:
    return "path" in source_class(name).model_fields


def _world(
    steps: list[list[str]], photos: SegmentationDataset, val: Path | None, data: DataConfig
) -> RunData:
    """The photos of the last step, in the model's own numbering of classes."""
    verify(photos)
    presence = compute_presence(photos)
    names = ("background", *(name for step in steps for name in step))
    for name in steps[-1]:
        count = len(presence.stems_with(photos.classes.index(name)))
        if count < HANDFUL:
            raise RecallsegError(
                f"'{name}' is seen in {count} of the {len(photos)} photos in {photos.root}; "
                f"at least {HANDFUL} are needed."
            )
    table = PresenceTable.of(
        ((stem, _renumbered(row, photos, names, steps[-1])) for stem, row in _rows(presence)),
        len(names),
    )
    scenario = Scenario(_spec(steps), names, table, past=len(steps) - 1)
    names_in_masks = ("background", *("" for step in steps[:-1] for _ in step), *steps[-1])
    measured = None
    if val is not None:
        opened = open_dataset("folder", "train", val)
        verify(opened)
        channels_of(names, opened.classes, val)  # refuses photos that lack a class of the model
        measured = seen_in_evaluation(opened.renamed(names, other=VOID), data)
    return RunData(
        scenario, seen_in_training(photos.renamed(names_in_masks, other=0), data), measured
    )


def _rows(presence: PresenceTable) -> list[tuple[str, list[int]]]:
    return [
        (stem, holds.nonzero()[0].tolist())
        for stem, holds in zip(presence.stems, presence.holds, strict=True)
    ]


def _renumbered(
    labels: Sequence[int], photos: SegmentationDataset, names: Sequence[str], new: Sequence[str]
) -> list[int]:
    """A photo's labels as the model numbers them; classes that are not learned now are left out."""
    shown_names = [photos.classes[label] for label in labels]
    return [names.index(name) for name in shown_names if name in new]


def _spec(steps: Sequence[Sequence[str]]) -> str:
    return "-".join(str(len(names)) for names in steps)


def _shortened(record: ClassRecord, steps: list[list[str]]) -> ClassRecord:
    count = len(steps)
    return {
        **record,
        "steps": steps,
        "channels": record["channels"][: 1 + sum(map(len, steps))],
        "photos": record.get("photos", [])[:count],
        "photo_bytes": record.get("photo_bytes", [])[:count],
    }
