"""The life of a model: steps that come one call at a time, each with photos of its own.

It is the benchmark's runner on the same run folder. Only the data differ: a call knows the photos
of the step that it learns, and of all earlier steps no more than the folder says.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recallseg.engine.evaluation.comparing import compare, losses
from recallseg.engine.learn_call import LearnCall, prepare
from recallseg.engine.runner import run
from recallseg.errors import RecallsegError
from recallseg.files import remove_tree
from recallseg.progress import messages
from recallseg.runs.contacts import check_contacts
from recallseg.runs.giving_up import give_up_steps, settle
from recallseg.runs.records import ClassRecord, ResultRecord
from recallseg.runs.taught_folder import TaughtFolder

PLAIN: dict[str, Any] = {"highlight": False, "markup": False, "soft_wrap": True}
"""How sentences are printed: names in them are not markup."""


def learn(
    model: Path,
    data: Path,
    *,
    classes: Sequence[str] | None = None,
    source: str | None = None,
    val: Path | None = None,
    overrides: Sequence[str] = (),
    allow_forgetting: bool = False,
) -> ResultRecord:
    """Add the classes of a folder dataset to the model in a folder, or begin one there.

    `classes` are the new ones among those of the dataset, by default all. If the model knows all
    that are named, the step refines them with these photos. `val` is remembered for later calls.
    The model as it was stays usable until the step is complete, and the same call goes on where it
    was stopped.
    """
    with TaughtFolder(model).at_work():
        settle(TaughtFolder(model))
        return _learn(model, data, classes, source, val, overrides, allow_forgetting)


def _learn(
    model: Path,
    data: Path,
    classes: Sequence[str] | None,
    source: str | None,
    val: Path | None,
    overrides: Sequence[str],
    allow_forgetting: bool,
) -> ResultRecord:
    call = prepare(
        model,
        data,
        classes=classes,
        source=source,
        val=val,
        overrides=overrides,
        allow_forgetting=allow_forgetting,
    )
    folder, console = call.folder, messages()
    site = check_contacts(call.config, overrides, model) if folder.finished_steps() else None
    asked = [f"photos of the classes learned before are asked for at {site}"] if site else []
    for sentence in [*call.sentences, *asked]:
        console.print(sentence, **PLAIN)
    known, seconds = folder.classes, _seconds(folder)
    _set_settings(call)
    folder.begin_call(call.index)
    try:
        result = run(call.config, model, call.data)
    except RecallsegError:
        _undo(call, known)
        raise
    folder.write_call(
        call.index,
        {
            "data": str(data.resolve()),
            "classes": call.taught.names,
            "source": source,
            "val": None if val is None else str(val.resolve()),
            "overrides": list(overrides),
            "allow_forgetting": allow_forgetting,
            "photos": call.photos.signature(),
            "seconds": round(result["seconds"] - seconds, 1),
        },
    )
    if call.index > 0 and call.data.val is not None:
        comparison = compare(folder, call.data.val, call.index)
        if comparison is not None:
            folder.write_comparison(call.index, comparison)
            for sentence in losses(comparison):
                console.print(sentence, style="bold red", **PLAIN)
    folder.end_call()
    return result


def _seconds(folder: TaughtFolder) -> float:
    result = folder.result
    return result["seconds"] if result else 0.0


def _set_settings(call: LearnCall) -> None:
    """Put the call's settings in force; a training that others had begun cannot go on with them."""
    folder = call.folder
    if not TaughtFolder.is_one(folder.path):
        folder.claim(call.config)
        return
    before = folder.config
    folder.take_settings_back()
    if before != call.config:
        folder.forget_state()
    if folder.finished_steps():
        folder.set_settings_aside()
    folder.write_config(call.config)


def _undo(call: LearnCall, known: ClassRecord | None) -> None:
    """Leave the model as a failed call found it, unless a part of its training can go on."""
    folder = call.folder
    step = folder.step(call.index)
    if step.decoder.is_file() or any(folder.state.glob("*.pt")):
        return
    folder.take_settings_back()
    folder.forget_state()
    folder.end_call()
    remove_tree(step.path)
    if known is None:
        folder.forget_classes()
    else:
        folder.write_classes(known)


def rollback(model: Path, to: int) -> list[str]:
    """Forget every step after `to`; give the classes that are gone, and those refined by them."""
    folder = TaughtFolder.existing(model)
    with folder.at_work():
        record = folder.learned()
        if not 0 <= to < len(record["steps"]):
            last = len(record["steps"]) - 1
            raise RecallsegError(f"{model} has steps 0 to {last}; it cannot go back to step {to}.")
        give_up_steps(folder, after=to)
    gone = [name for names in record["steps"][to + 1 :] for name in names]
    refined = {int(index): names for index, names in record.get("refined", {}).items()}
    undone = [name for index in sorted(refined) if index > to for name in refined[index]]
    return [*gone, *(f"more photos of {name}" for name in undone if name not in gone)]
