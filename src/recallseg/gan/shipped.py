"""Generators that come with the package, by name: each with its classifier and its recipe."""

from pathlib import Path

from recallseg.data.kinds import found_path

FOLDER = Path(__file__).parent / "generators"
SHIPPED = {path.stem: path for path in sorted(FOLDER.glob("*.json"))}


def generator_file(path: Path) -> Path:
    """A generator that ships by its name, or a file or folder, also in the folder of datasets."""
    return _shipped(path, ".safetensors")


def classifier_file(path: Path) -> Path:
    """The classifier of a generator that ships, or a file."""
    return _shipped(path, ".classifier.safetensors")


def _shipped(path: Path, ending: str) -> Path:
    if str(path) in SHIPPED:
        return SHIPPED[str(path)].with_suffix(ending)
    return found_path(path)
