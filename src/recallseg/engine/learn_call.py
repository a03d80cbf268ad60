"""One call of `recallseg learn`, checked before anything is trained or written.

A step adds classes, or it refines some that the model knows with more photos of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from recallseg.config import RunConfig
from recallseg.data import SegmentationDataset, open_dataset
from recallseg.data.opening import seen_in_evaluation, seen_in_training, validation_split
from recallseg.data.verify import verify
from recallseg.engine.learn_settings import Taught, settings, spec_of
from recallseg.engine.session.data import RunData
from recallseg.errors import RecallsegError
from recallseg.labels import VOID, check_class_count
from recallseg.runs.taught_folder import TaughtFolder
from recallseg.scenario import PresenceTable, Scenario, channels_of, compute_presence

HANDFUL = 5
"""A class needs that many photos at least."""


@dataclass(frozen=True)
class LearnCall:
    """What a call of `learn` will do."""

    folder: TaughtFolder
    photos: SegmentationDataset
    taught: Taught
    config: RunConfig
    data: RunData
    sentences: tuple[str, ...]
    """What a person should know before it begins."""
    showing: dict[str, int]
    """How many photos show each class that is taught."""

    @property
    def index(self) -> int:
        """The number of the step."""
        return len(self.taught.steps) - 1

    @property
    def old_names(self) -> list[str]:
        """The classes that are to be replayed."""
        known = [name for step in self.taught.steps[:-1] for name in step]
        return [name for name in known if name not in self.taught.names]


def prepare(
    model: Path,
    data: Path,
    *,
    classes: Sequence[str] | None = None,
    source: str | None = None,
    val: Path | None = None,
    overrides: Sequence[str] = (),
    allow_forgetting: bool = False,
) -> LearnCall:
    """Check everything that a call of `learn` needs, and write nothing."""
    folder, photos = TaughtFolder(model), open_dataset("folder", "train", data)
    taught = what_is_taught(folder, photos, classes)
    check_class_count(sum(map(len, taught.steps)), f"With these, {model}")
    config, said = settings(folder, photos, taught, source, val, overrides)
    verify(photos)
    showing = _photos_showing(photos, taught.names)
    measured, unmeasured = _validation(taught, config, is_given=val is not None)
    train = seen_in_training(photos.renamed(taught.names_in_masks, other=0), config.data)
    scenario = _scenario(photos, taught)
    world = RunData(scenario, train, measured, must_replay=not allow_forgetting)
    call = LearnCall(folder, photos, taught, config, world, (*said, *unmeasured), showing)
    if not allow_forgetting:
        _check_replay(call)
    return call


def what_is_taught(
    folder: TaughtFolder, photos: SegmentationDataset, requested: Sequence[str] | None
) -> Taught:
    """Which classes the step adds, or which it refines, in the order of the dataset."""
    offered = photos.classes[1:]
    wanted = offered if requested is None else requested
    if strangers := [name for name in wanted if name not in offered]:
        raise RecallsegError(
            f"{photos.root} has no class {', '.join(map(repr, strangers))}; "
            f"it has {', '.join(offered)}."
        )
    names = [name for name in offered if name in wanted]
    before = Taught.recorded(folder.classes)
    if before.steps and not _is_complete(folder, before):
        if names != before.names:
            raise RecallsegError(_unfinished(folder, before))
        return before
    again = [name for name in names if name in before.known]
    if not again:
        return Taught((*before.steps, names), before.refined)
    if again != names or requested is None:
        raise RecallsegError(
            f"{folder.path} knows {', '.join(again)} already; name the new classes with "
            f"--classes, or those alone (--classes {','.join(again)}) to refine them with more "
            "photos."
        )
    _check_other_photos(folder, photos, names)
    return Taught((*before.steps, []), before.refined | {len(before.steps): names})


def _is_complete(folder: TaughtFolder, taught: Taught) -> bool:
    index = len(taught.steps) - 1
    step, scope = folder.step(index), folder.config.helper.scope
    helpers = {"one_class": len(taught.names), "model": 0}.get(scope, 1)
    has_helpers = index in taught.refined or len(step.helpers()) >= helpers
    return step.decoder.is_file() and has_helpers and folder.begun_step != index


def _unfinished(folder: TaughtFolder, taught: Taught) -> str:
    earlier = len(taught.steps) - 2
    back = f"`recallseg rollback {folder.path} --to {earlier}`"
    return (
        f"{folder.path} has not finished learning {', '.join(taught.names)}: run that "
        f"`recallseg learn` again, or {back if earlier >= 0 else 'remove the folder'}."
    )


def _check_other_photos(
    folder: TaughtFolder, photos: SegmentationDataset, names: list[str]
) -> None:
    """Refuse to refine classes with photos that taught them before: a call that came twice."""
    for index, call in zip(folder.finished_steps(), folder.calls(), strict=True):
        if call and call["photos"] == photos.signature() and set(names) <= set(call["classes"]):
            raise RecallsegError(
                f"{folder.path} learned {', '.join(names)} from these very photos at step {index}; "
                "give photos that it has not seen."
            )


def _photos_showing(photos: SegmentationDataset, names: Sequence[str]) -> dict[str, int]:
    """How many photos show each class; a class with too few of them is an error."""
    presence = compute_presence(photos)
    counts = {name: len(presence.stems_with(photos.classes.index(name))) for name in names}
    for name, count in counts.items():
        if count < HANDFUL:
            raise RecallsegError(
                f"'{name}' is seen in {count} of the {len(photos)} photos in {photos.root}; "
                f"at least {HANDFUL} are needed."
            )
    return counts


def _scenario(photos: SegmentationDataset, taught: Taught) -> Scenario:
    """The model's steps; photos are known of the last one, in the model's numbering of classes."""
    presence, channels = compute_presence(photos), taught.channels
    rows = zip(presence.stems, presence.holds, strict=True)
    shown = ((stem, [photos.classes[label] for label in row.nonzero()[0]]) for stem, row in rows)
    numbers = {name: channels.index(name) for name in taught.names}
    seen = ((stem, [numbers[name] for name in some if name in numbers]) for stem, some in shown)
    table = PresenceTable.of(seen, len(channels))
    refined = {
        index: [channels.index(name) for name in names] for index, names in taught.refined.items()
    }
    spec, past = spec_of(taught.steps), len(taught.steps) - 1
    return Scenario(spec, channels, table, past=past, refined=refined)


def _validation(
    taught: Taught, config: RunConfig, *, is_given: bool
) -> tuple[SegmentationDataset | None, list[str]]:
    """The photos to be measured on, and a sentence where those of an earlier call do not do."""
    root = config.data.val_root
    if root is None:
        return None, []
    try:
        opened = open_dataset("folder", validation_split(config.data, root), root)
        verify(opened)
        channels_of(taught.channels, opened.classes, root)
    except RecallsegError as error:
        if is_given:
            raise
        return None, [f"This step is not measured: {error} Give --val photos of all classes."]
    return seen_in_evaluation(opened.renamed(taught.channels, other=VOID), config.data), []


def _check_replay(call: LearnCall) -> None:
    """Refuse to forget old classes unasked, as far as that is known before images are fetched."""
    if not call.old_names:
        return
    if call.config.replay.settings is None:
        raise RecallsegError(
            f"With --source none nothing keeps {', '.join(call.old_names)} from being forgotten; "
            "name a source of their images, or allow that with --allow-forgetting."
        )
    missing = [name for name, count in replay_counts(call).items() if count == 0]
    if missing:
        raise RecallsegError(
            f"The replay photos hold none of {', '.join(missing)}, which would be forgotten; add "
            "a subfolder with photos of each, or allow that with --allow-forgetting."
        )


def replay_counts(call: LearnCall) -> dict[str, int | None]:
    """How many replay images there are of each old class; None where they are still to be made."""
    replay = call.config.replay
    if replay.source != "folder" or replay.settings is None:
        return dict.fromkeys(call.old_names)
    source, most = replay.settings.open(), replay.images_per_class
    return {
        name: len(source.collect(name, most, Path(), lambda _: None)) for name in call.old_names
    }
