"""The commands that would make a run once more."""

import shlex

from recallseg.report.runs import Run
from recallseg.runs.records import CallRecord
from recallseg.runs.taught_folder import TaughtFolder


def commands(run: Run) -> list[str]:
    """One `recallseg run`, or a `recallseg learn` for each step that was taught by one."""
    folder = TaughtFolder(run.path)
    calls = [call for call in folder.calls() if call is not None]
    if not calls:
        return [shlex.join(["recallseg", "run", str(folder.settings)])]
    return [_learn(str(run.path), call) for call in calls]


def _learn(model: str, call: CallRecord) -> str:
    words = ["recallseg", "learn", model, call["data"], *call["overrides"]]
    words += ["--classes", ",".join(call["classes"])]
    for option in ("source", "val"):
        if value := call[option]:
            words += [f"--{option}", value]
    if call["allow_forgetting"]:
        words.append("--allow-forgetting")
    return shlex.join(words)
