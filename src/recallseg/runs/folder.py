"""The run folder, which is the learner: everything a later step or a later day needs.

    config.yaml  classes.json  encoder.safetensors  metrics.jsonl  result.json  checksums.json
    step-k/{proof.json, decoder.safetensors, helper.safetensors, metrics.json, predictions.zip}
    step-k/{call.json, comparison.json} (where `recallseg learn` taught the step)
    mapping.json  replay/{manifest.jsonl, gallery.zip}  README.md  state/ (only while unfinished)

It holds no photo of any step, and no features of one, except where a method stores photos. Nobody
else spells these names.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from recallseg.checksums import check, forget_absent, seal
from recallseg.config import RunConfig, dump_config, load_config
from recallseg.errors import RecallsegError
from recallseg.files import remove_tree, write_json, write_text
from recallseg.runs.card import model_card
from recallseg.runs.older import as_written_today
from recallseg.runs.records import (
    ClassRecord,
    MappingRecord,
    ProofRecord,
    ReplayRecord,
    ResultRecord,
    StepRecord,
    check_classes,
    read_lines,
    read_record,
)
from recallseg.runs.settings import LISTS, differences
from recallseg.runs.step_folder import StepFolder
from recallseg.runs.work_folder import WorkFolder

FORMAT = 2
"""Counts up when what a run folder holds changes its meaning; it is in `classes.json`. Folders of
format 1 did not say so; there, features lay elsewhere in a photo."""


class RunFolder(WorkFolder):
    """Reading and writing one run, every file in one move."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.settings = path / "config.yaml"
        self.encoder = path / "encoder.safetensors"
        self.journal = path / "metrics.jsonl"
        """A line for every phase, and some for every training."""
        self.manifest = path / "replay" / "manifest.jsonl"
        """A line for every replay image."""
        self.gallery = path / "replay" / "gallery.zip"
        """A few replay images with their pseudo-labels."""
        self.state = path / "state"
        """What only an unfinished run needs."""
        self.result_file = path / "result.json"
        self.card = path / "README.md"
        """What a person who receives the model should know of it."""
        self._classes, self._memory = path / "classes.json", path / "mapping.json"

    def claim(self, config: RunConfig, lists: str | None = None) -> None:
        """Make the folder this run's own, or find that it is already, while `at_work`.

        `lists` is a hash of the photos of all steps, where lists named them.
        """
        if self.settings.is_file():
            differing = differences(config, self.config)
            if lists and self.classes and self.classes.get("lists", lists) != lists:
                differing = [*differing, f"what {LISTS} hold"]
            if differing:
                raise RecallsegError(
                    f"{self.path} holds another run; it differs in {', '.join(differing)}. "
                    "Choose another folder with --out, or remove this one."
                )
        elif not self.is_untouched():
            raise RecallsegError(f"{self.path} is not empty and holds no run; name a new folder.")
        self.check_format()
        seal(self.path)
        self.write_config(config)

    def check_format(self) -> None:
        """Refuse weights that mean something else here than where they were trained."""
        about = self.classes
        if about is not None and (found := about.get("format", 1)) != FORMAT:
            raise RecallsegError(
                f"{self.path} was made by another version of recallseg (format {found}, this one "
                f"has {FORMAT}), with which masks would lie beside the objects; train it again in "
                "a new folder, or use that version."
            )

    @classmethod
    def existing(cls, path: Path) -> Self:
        """A folder that holds a run; any other is an error."""
        if not cls.is_one(path):
            raise RecallsegError(f"{path} is not a run folder: it has no config.yaml.")
        return cls(path)

    @classmethod
    def is_one(cls, path: Path) -> bool:
        """Whether a folder holds a run."""
        return cls(path).settings.is_file()

    @classmethod
    def inside(cls, path: Path) -> list[Path]:
        """The run folders that lie in a folder."""
        return sorted(each for each in path.iterdir() if cls.is_one(each))

    @property
    def config(self) -> RunConfig:
        """The configuration the run was made with."""
        return self.config_with(())

    def config_with(self, overrides: Sequence[str]) -> RunConfig:
        """The configuration with `key=value` changes."""
        return load_config(check(self.settings), overrides, translate=as_written_today)

    def write_config(self, config: RunConfig) -> None:
        """Replace the configuration."""
        write_text(self.settings, dump_config(config))

    def step(self, index: int) -> StepFolder:
        """What is there of a step."""
        return StepFolder(self.path / f"step-{index}")

    def steps(self) -> Iterator[tuple[int, StepFolder]]:
        """The steps that have a folder, in order."""
        found = [path.name.removeprefix("step-") for path in self.path.glob("step-*")]
        for index in sorted(int(number) for number in found if number.isdecimal()):
            yield index, self.step(index)

    def finished_steps(self) -> list[int]:
        """The steps whose decoder is complete, in order; those that were given up do not count."""
        record = self.classes
        count = len(record["steps"]) if record else 0
        return [index for index, step in self.steps() if step.decoder.is_file() and index < count]

    def check_last_step(self) -> None:
        """Refuse a folder whose last step lost its decoder: no other may pass for it."""
        last = max(self.finished_steps(), default=-1)
        for index, step in self.steps():
            if index > last:
                step.check_not_lost()

    @property
    def classes(self) -> ClassRecord | None:
        """What the channels mean; None before the first step."""
        record: ClassRecord | None = read_record(self._classes, ClassRecord)
        if record is not None:
            check_classes(record, self._classes)
        return record

    def write_classes(self, record: ClassRecord) -> None:
        """Replace what the channels mean."""
        write_json(self._classes, record)

    def learned(self) -> ClassRecord:
        """What the channels mean; an error where there is no model yet."""
        record = self.classes
        if record is None:
            raise RecallsegError(f"{self.path} holds no model yet: it has no classes.json.")
        return record

    def class_names(self, step: int) -> list[str]:
        """What the channels of the model after a step mean, background first."""
        record = self.learned()
        count = 1 + sum(len(names) for names in record["steps"][: step + 1])
        return record["channels"][:count]

    def proof(self, step: int) -> ProofRecord | None:
        """What the weights after a step belong to; None in folders that did not say it yet."""
        record: ProofRecord | None = read_record(self.step(step).proof, ProofRecord)
        return record

    def write_proof(self, step: int, record: ProofRecord) -> None:
        """Keep what the weights after a step belong to, before they are there."""
        write_json(self.step(step).proof, record)

    def scores(self, step: int) -> StepRecord | None:
        """The scores after a step, if it was measured."""
        record: StepRecord | None = read_record(self.step(step).metrics, StepRecord)
        return record

    def write_scores(self, step: int, record: StepRecord) -> None:
        """Keep the scores after a step."""
        write_json(self.step(step).metrics, record)

    @property
    def result(self) -> ResultRecord | None:
        """The result of a run that came to its end."""
        record: ResultRecord | None = read_record(self.result_file, ResultRecord)
        return record

    def write_result(self, record: ResultRecord) -> None:
        """Keep the result with a model card, and drop what only an unfinished run needs."""
        write_json(self.result_file, record)
        self.write_card()
        self.forget_state()

    def write_card(self) -> None:
        """Describe the model for people, from what the folder records of it."""
        classes = self.learned()
        scores = [self.scores(step) for step in range(len(classes["steps"]))]
        measured = [record for record in scores if record is not None]
        name = self.path.resolve().name
        text = model_card(name, self.config, classes, measured, self.replay_images())
        write_text(self.card, text)

    def forget_state(self) -> None:
        """Drop what only an unfinished run needs."""
        remove_tree(self.state)
        forget_absent(self.path)

    @property
    def source_memory(self) -> Mapping[str, Any]:
        """What the replay source learned of each class; empty where it learns nothing."""
        return read_record(self._memory, dict[str, Any]) or {}

    def write_source_memory(self, memory: Mapping[str, Any]) -> None:
        """Keep what the replay source learned."""
        write_json(self._memory, memory)

    @property
    def mapping(self) -> MappingRecord:
        """What a generator calls each class; empty where the source is none."""
        if self.config.replay.source != "gan":
            return {}
        record: MappingRecord = read_record(self._memory, MappingRecord) or {}
        return record

    def replay_images(self) -> Iterator[ReplayRecord]:
        """What is known of every replay image; a last line that was cut off is left out."""
        yield from read_lines(self.manifest, ReplayRecord)

    def write_replay_images(self, entries: list[dict[str, Any]]) -> None:
        """Keep what is known of every replay image, without its pixels."""
        lines = (json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
        write_text(self.manifest, "".join(lines))
