"""The part of a run folder that belongs to one step."""

from pathlib import Path

from recallseg.checksums import DamagedError


class StepFolder:
    """What a run folder holds of one step."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.decoder = path / "decoder.safetensors"
        """Comes last and makes a step whole."""
        self.encoder = path / "encoder.safetensors"
        """Only where the encoder went on learning; all steps share step 0's otherwise."""
        self.memory = path / "method.safetensors"
        """What a method remembers besides the model."""
        self.proof = path / "proof.json"
        """Which classes, settings and photos the step's weights belong to."""
        self.metrics = path / "metrics.json"
        self.comparison = path / "comparison.json"
        """The scores before and after the step, on the same pixels."""
        self.call = path / "call.json"
        """How `recallseg learn` was called for the step."""
        self.predictions = path / "predictions.zip"
        """What the model saw in every photo of the validation split."""
        self.samples = path / "samples"
        """Training photos, where a method stores some."""

    def check_not_lost(self) -> None:
        """That it lacks a decoder, but has what is written after it, is an error."""
        later = (self.metrics, self.comparison, self.call, self.predictions)
        if not self.decoder.is_file() and any(path.exists() for path in later):
            raise DamagedError(
                f"{self.decoder} is missing, though {self.path.name} had come to its end. Put back "
                "a copy of it, go back with `recallseg rollback`, or name another step."
            )

    def helper(self, label: int | None = None) -> Path:
        """The helper decoder of the step, or of one of its classes."""
        return self.path / f"helper{'' if label is None else f'-{label}'}.safetensors"

    def helpers(self) -> list[Path]:
        """The helper decoders that are there."""
        return sorted(path for path in self.path.glob("helper*.safetensors") if path.is_file())

    def stored_masks(self) -> list[Path]:
        """The masks of the training photos that a method stored."""
        return sorted(self.samples.glob("*.mask.png"))
