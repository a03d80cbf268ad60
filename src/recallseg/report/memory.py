"""What has to be kept after each step, from the sizes of real files (paper, Fig. memory)."""

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

from recallseg.data.kinds import found_path
from recallseg.report.runs import Run

MB = 1e6


def kept_megabytes(run: Run) -> dict[str, list[float]]:
    """By way of remembering: megabytes after each step; empty where the files do not tell.

    `standard` is the model alone; RECALL adds helper decoders and, with a generator, that;
    `saving images` adds all training photos with their masks.
    """
    steps = range(len(run.steps))
    photos: Sequence[int] = run.known.get("photo_bytes", ())
    helpers = [_size(run.path / f"step-{step}" / "helper.safetensors") for step in steps]
    if not steps or len(photos) < len(steps) or not any(helpers):
        return {}
    encoder = _size(run.path / "encoder.safetensors")
    model = [encoder + _size(run.path / f"step-{step}" / "decoder.safetensors") for step in steps]
    web = [size + helper for size, helper in zip(model, accumulate(helpers), strict=True)]
    curves = {
        "standard": model,
        "RECALL (Web)": web,
        "saving images": [
            size + saved
            for size, saved in zip(model, accumulate(photos[: len(steps)]), strict=True)
        ],
    }
    generator = run.config.replay.path if run.source == "GAN" else None
    if generator and (size := _size(found_path(generator))):
        curves["RECALL (GAN)"] = [each + size for each in web]
    return {label: [size / MB for size in sizes] for label, sizes in curves.items()}


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
