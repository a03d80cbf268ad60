"""The helper decoders D^H on the frozen encoder, which label replay images (paper, sec. 4)."""

from dataclasses import dataclass
from pathlib import Path

from recallseg.config import RunConfig
from recallseg.model import Decoder, Encoder
from recallseg.model.building import build_decoder
from recallseg.model.saving import load_weights
from recallseg.runs.folder import RunFolder
from recallseg.scenario import Step


@dataclass(frozen=True)
class Helper:
    """One helper decoder: the classes that its channels from 1 on stand for, and its file."""

    name: str
    classes: tuple[int, ...]
    path: Path


class Helpers:
    """Which helper decoders a run has: one per step, one per class, one that grows with all, or
    the model's own decoder as each step left it."""

    def __init__(self, config: RunConfig, folder: RunFolder) -> None:
        self.config, self.folder = config, folder
        self.shared = config.helper.scope == "shared"
        self._trained: dict[Path, Decoder] = {}

    def of(self, step: Step) -> list[Helper]:
        """The helpers that are trained at a step."""
        name, folder = f"helper {step.index}", self.folder.step(step.index)
        if self.config.helper.scope == "one_class":
            return [
                Helper(f"{name}, class {label}", (label,), folder.helper(label))
                for label in step.new_classes
            ]
        if self.config.helper.scope == "model":
            return [Helper(name, step.classes, folder.decoder)]
        classes = step.classes if self.shared else step.new_classes
        return [Helper(name, classes, folder.helper())]

    def who_knows(self, label: int, earlier: Step, last: Step) -> Helper:
        """The helper for a class of the step `earlier`, when `last` is the last one learned."""
        return next(h for h in self.of(last if self.shared else earlier) if label in h.classes)

    def fresh(self, helper: Helper, encoder: Encoder) -> Decoder:
        """A helper decoder before its training."""
        return build_decoder(self.config.model, encoder, 1 + len(helper.classes))

    def trained(self, helper: Helper, encoder: Encoder) -> Decoder:
        """A helper decoder that was trained before; it is read from its file once."""
        if helper.path not in self._trained:
            self._trained[helper.path] = self.fresh(helper, encoder)
            load_weights(helper.path, self._trained[helper.path])
        return self._trained[helper.path]
