"""The helper decoders D^H on the frozen encoder, which label replay images (paper, sec. 4)."""

from dataclasses import dataclass
from pathlib import Path

from recallseg.config import RunConfig
from recallseg.model import Decoder, Encoder
from recallseg.model.building import build_decoder
from recallseg.model.saving import has_part, load_weights
from recallseg.model.tail import Tail
from recallseg.runs.folder import RunFolder
from recallseg.scenario import Step


@dataclass(frozen=True)
class Helper:
    """One helper decoder: the classes that its channels from 1 on stand for, and its file."""

    name: str
    classes: tuple[int, ...]
    path: Path
    model: Path
    """The decoder of the model after the same step."""


class Helpers:
    """Which helper decoders a run has: one per step, one per class, one that grows with all, or
    the model's own decoder as each step left it."""

    def __init__(self, config: RunConfig, folder: RunFolder) -> None:
        self.config, self.folder = config, folder
        self.shared = config.helper.scope == "shared"
        self.tail_is_apart = config.helper.tail == "model" and config.helper.scope != "model"
        self._trained: dict[Path, Decoder] = {}

    def of(self, step: Step) -> list[Helper]:
        """The helpers that are trained at a step."""
        name, folder = f"helper {step.index}", self.folder.step(step.index)
        if self.config.helper.scope == "one_class":
            return [
                Helper(f"{name}, class {label}", (label,), folder.helper(label), folder.decoder)
                for label in step.new_classes
            ]
        if self.config.helper.scope == "model":
            return [Helper(name, step.classes, folder.decoder, folder.decoder)]
        classes = step.classes if self.shared else step.new_classes
        return [Helper(name, classes, folder.helper(), folder.decoder)]

    def who_knows(self, label: int, earlier: Step, last: Step) -> Helper:
        """The helper for a class of the step `earlier`, when `last` is the last one learned."""
        return next(h for h in self.of(last if self.shared else earlier) if label in h.classes)

    def fresh(self, classes: int, encoder: Encoder, tail: Tail | None = None) -> Decoder:
        """A helper decoder before its training, with the tail of the model if that is given."""
        decoder = build_decoder(self.config.model, encoder, 1 + classes)
        if decoder.tail and tail:
            decoder.tail.load_state_dict(tail.state_dict())
        if self.tail_is_apart:
            decoder.set_tail_apart()
        return decoder

    def trained(self, helper: Helper, encoder: Encoder) -> Decoder:
        """A helper decoder that was trained before; it is read from its file once."""
        if helper.path not in self._trained:
            decoder = build_decoder(self.config.model, encoder, 1 + len(helper.classes))
            if decoder.tail and not has_part(helper.path, "tail."):
                load_weights(helper.model, decoder.tail, "tail.")
                decoder.set_tail_apart()
            load_weights(helper.path, decoder)
            self._trained[helper.path] = decoder
        return self._trained[helper.path]
