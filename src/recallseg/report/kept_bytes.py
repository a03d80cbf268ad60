"""What has to be stored after each step, from the sizes of real files (paper, Fig. memory)."""

from itertools import accumulate
from pathlib import Path

from recallseg.report.runs import Run

MB = 1e6


def kept_megabytes(run: Run) -> dict[str, list[float]]:
    """Megabytes after each step, by what is stored; empty if the run has no helpers.

    `standard` is the model alone; RECALL adds helper decoders and what its source keeps,
    such as a generator; `saving images` adds all training photos with their masks.
    """
    steps = range(len(run.steps))
    photos = run.classes.get("photo_bytes", [])
    folders = [run.folder.step(step) for step in steps]
    helpers = [sum(map(_size, folder.helpers())) for folder in folders]
    if not steps or len(photos) < len(steps) or not any(helpers):
        return {}
    encoder = _size(run.folder.encoder)
    model = [encoder + _size(folder.decoder) for folder in folders]
    with_helpers = [size + helper for size, helper in zip(model, accumulate(helpers), strict=True)]
    settings = run.config.replay.settings
    stored = settings.stored_bytes() if settings else 0
    curves = {
        "standard": model,
        f"RECALL ({settings.title if settings and not stored else 'Web'})": with_helpers,
        "saving images": [
            size + saved
            for size, saved in zip(model, accumulate(photos[: len(steps)]), strict=True)
        ],
    }
    if settings and stored:
        curves[f"RECALL ({settings.title})"] = [size + stored for size in with_helpers]
    return {label: [size / MB for size in sizes] for label, sizes in curves.items()}


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
