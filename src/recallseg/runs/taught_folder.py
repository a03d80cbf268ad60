"""A run folder that `recallseg learn` teaches step by step: its calls, and what each brought."""

from collections.abc import Sequence
from pathlib import Path

from recallseg.checksums import check
from recallseg.config import RunConfig, load_config
from recallseg.files import readable_disk_errors, write_json, write_text
from recallseg.runs.folder import RunFolder
from recallseg.runs.older import as_written_today
from recallseg.runs.records import CallRecord, ComparisonRecord, read_record


class TaughtFolder(RunFolder):
    """The folder of a model whose steps come one call at a time."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._settings_before = self.state / "config.before.yaml"
        self._begun = path / ".begun"

    @property
    def begun_step(self) -> int | None:
        """The step whose call of `recallseg learn` has something left to do."""
        text = self._begun.read_text(encoding="utf-8") if self._begun.is_file() else ""
        return int(text) if text.isdigit() else None

    def begin_call(self, step: int) -> None:
        """Remember that a call has something to do for a step."""
        with readable_disk_errors(self._begun):
            self._begun.write_text(str(step), encoding="utf-8")

    def end_call(self) -> None:
        """Remember that the last call left nothing to do."""
        self._begun.unlink(missing_ok=True)

    def config_before(self, overrides: Sequence[str]) -> RunConfig:
        """The configuration without what an unfinished step changed, with `key=value` changes."""
        before = self._settings_before if self._settings_before.is_file() else self.settings
        return load_config(check(before), overrides, translate=as_written_today)

    def set_settings_aside(self) -> None:
        """Remember the settings as they were before an unfinished step."""
        if self.settings.is_file() and not self._settings_before.is_file():
            write_text(self._settings_before, self.settings.read_text(encoding="utf-8"))

    def take_settings_back(self) -> None:
        """Undo what an unfinished step changed in the settings."""
        if self._settings_before.is_file():
            write_text(self.settings, self._settings_before.read_text(encoding="utf-8"))
            self._settings_before.unlink()

    def comparison(self, step: int) -> ComparisonRecord | None:
        """The scores before and after a step on the same pixels, if both were measured."""
        record: ComparisonRecord | None = read_record(self.step(step).comparison, ComparisonRecord)
        return record

    def write_comparison(self, step: int, record: ComparisonRecord) -> None:
        """Keep the scores before and after a step."""
        write_json(self.step(step).comparison, record)

    def calls(self) -> list[CallRecord | None]:
        """How `recallseg learn` was called for each finished step; None where that is not known."""
        return [self.call(index) for index in self.finished_steps()]

    def call(self, step: int) -> CallRecord | None:
        """How `recallseg learn` was called for a step."""
        record: CallRecord | None = read_record(self.step(step).call, CallRecord)
        return record

    def write_call(self, step: int, record: CallRecord) -> None:
        """Keep how a step was taught."""
        write_json(self.step(step).call, record)

    def forget_classes(self) -> None:
        """Drop what the channels mean, where no step of a model came to its end."""
        self._classes.unlink(missing_ok=True)
