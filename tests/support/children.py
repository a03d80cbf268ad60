"""Commands in children of this process: they start at once, and can be killed or timed out."""

import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path

from recallseg.cli.main import main

TRACEBACK = 70
"""Exit code of a command that ended with an error that is no sentence."""


@dataclass(frozen=True)
class Outcome:
    """What a command printed, and how it ended: None if it had to be killed."""

    code: int | None
    out: str
    err: str


class Child:
    """A command, or other work, that runs in a fork, so that nothing has to be imported again."""

    def __init__(self, words, environment=(), work=main):
        self.files = [tempfile.TemporaryFile("w+") for _ in range(2)]  # noqa: SIM115
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
            self.pid = os.fork()
        if self.pid == 0:
            self._run([str(word) for word in words], dict(environment), work)
        self.code = "running"

    def _run(self, words, environment, work):
        code = TRACEBACK
        try:
            for number, file in enumerate(self.files, 1):
                os.dup2(file.fileno(), number)
            sys.stdout = os.fdopen(1, "w", encoding="utf-8", errors="backslashreplace")
            sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace")
            os.environ.update(environment)
            sys.argv = ["recallseg", *words]
            work()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def ended(self):
        """Whether it has come to its end."""
        if self.code == "running":
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = None if os.WIFSIGNALED(status) else os.waitstatus_to_exitcode(status)
        return self.code != "running"

    def kill(self):
        """End it at once, as a power cut would; false if it had ended already."""
        if self.ended():
            return False
        os.kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        self.code = None if os.WIFSIGNALED(status) else os.waitstatus_to_exitcode(status)
        return True

    def outcome(self, seconds=600):
        """What it said when it ended, or was killed after so many seconds."""
        end = time.monotonic() + seconds
        while not self.ended():
            if time.monotonic() > end:
                self.kill()
                break
            time.sleep(0.003)
        texts = []
        for file in self.files:
            file.seek(0)
            texts.append(file.read())
            file.close()
        return Outcome(self.code, *texts)


def recallseg(*words, seconds=600, **environment):
    """Run a command in a child to its end."""
    return Child(words, environment).outcome(seconds)


def contents(folder: Path, *left_out: str) -> dict[str, bytes]:
    """What the files of a folder hold, by name, without those that tell times."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in left_out
    }
