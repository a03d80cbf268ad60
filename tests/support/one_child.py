"""Several commands in one child of this process, which costs less than a child for each."""

import pickle
import tempfile
import traceback
from pathlib import Path

import commands
from children import TRACEBACK, Child, Outcome


def outcomes(words_by_name, seconds, after=lambda name: None, **environment):
    """By name, how commands ended that ran one after another; `after` each the child calls that.

    They have so many seconds each. The one that does not end, and those behind it, have no code.
    """
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: Path(folder) / name for name in words_by_name}

        def run_all():
            for name, words in words_by_name.items():
                said = pickle.dumps(_said(words))
                paths[name].with_name("part").write_bytes(said)
                paths[name].with_name("part").replace(paths[name])
                after(name)

        whole = Child([], environment, run_all).outcome(seconds * len(paths))
        lost = Outcome(None if whole.code is None else TRACEBACK, "", whole.err)
        return {
            name: pickle.loads(path.read_bytes()) if path.exists() else lost
            for name, path in paths.items()
        }


def _said(words):
    try:
        told = commands.recallseg(*words)
    except Exception:
        return Outcome(TRACEBACK, "", traceback.format_exc())
    return Outcome(told.returncode, told.stdout, told.stderr)
