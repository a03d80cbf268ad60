"""Going back to an earlier step of a model, in one move."""

from recallseg.checksums import forget_absent
from recallseg.errors import RecallsegError
from recallseg.files import remove_tree
from recallseg.runs.folder import RunFolder
from recallseg.runs.records import ClassRecord, ResultRecord
from recallseg.runs.taught_folder import TaughtFolder


def give_up_steps(folder: TaughtFolder, after: int) -> None:
    """Forget all steps after one: `classes.json` says what the model knows, and is written first.

    What else is there of them does not count from then on, and is tidied up.
    """
    folder.write_classes(_shortened(folder.learned(), after + 1))
    _tidy(folder)


def settle(folder: RunFolder) -> None:
    """Finish what a kill left of giving up steps, before others take their place."""
    record = folder.classes
    if record and any(index >= len(record["steps"]) for index, _ in folder.steps()):
        _tidy(TaughtFolder(folder.path))


def _tidy(folder: TaughtFolder) -> None:
    """Bring everything in line with the classes; the weights go last, as they tell of it."""
    folder.take_settings_back()
    folder.end_call()
    record, settings = folder.learned(), folder.config
    spec = "-".join(str(len(names)) for names in record["steps"])
    folder.forget_state()
    if memory := folder.source_memory:
        names = record["channels"]
        folder.write_source_memory({name: memory[name] for name in memory if name in names})
    scenario = settings.scenario.model_copy(update={"spec": spec})
    folder.write_config(settings.model_copy(update={"scenario": scenario}))
    try:
        if result := folder.result:
            folder.write_result(_shortened_result(folder, result, spec))
    except RecallsegError:
        remove_tree(folder.result_file)
    for index, step in reversed(list(folder.steps())):
        if index >= len(record["steps"]):
            remove_tree(step.path)
    forget_absent(folder.path)


def _shortened_result(folder: TaughtFolder, result: ResultRecord, spec: str) -> ResultRecord:
    """A result without given-up steps; their time goes where calls say how long they took."""
    calls = folder.calls()
    times = [call["seconds"] for call in calls if call]
    count = len(folder.learned()["steps"])
    return {
        **result,
        "scenario": spec,
        "steps": [step for step in result["steps"] if step["step"] < count],
        "seconds": round(sum(times), 1) if len(times) == len(calls) else result["seconds"],
    }


def _shortened(record: ClassRecord, count: int) -> ClassRecord:
    """What a model knew after its first `count` steps."""
    steps = record["steps"][:count]
    short: ClassRecord = {
        **record,
        "steps": steps,
        "channels": record["channels"][: 1 + sum(map(len, steps))],
        "photos": record.get("photos", [])[:count],
        "photo_bytes": record.get("photo_bytes", [])[:count],
    }
    refined = {k: names for k, names in record.get("refined", {}).items() if int(k) < count}
    short.pop("refined", None)
    if refined:
        short["refined"] = refined
    return short
