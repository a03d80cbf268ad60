"""Every test gets its own cache, and real photos where `RECALLSEG_DATA` or ../shared has them."""

import os
from pathlib import Path

import pytest

# Tiny tensors on many threads only wait for each other.
os.environ["OMP_NUM_THREADS"] = "1"

_SHARED = Path(__file__).parents[2] / "shared"
if "RECALLSEG_DATA" not in os.environ and _SHARED.is_dir():
    os.environ["RECALLSEG_DATA"] = str(_SHARED)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("RECALLSEG_CACHE", str(tmp_path_factory.mktemp("cache")))


def _real(name: str) -> Path:
    path = Path(os.environ.get("RECALLSEG_DATA", "")) / name
    if "RECALLSEG_DATA" not in os.environ or not path.exists():
        pytest.skip(f"needs {name} in the folder that RECALLSEG_DATA names")
    return path


@pytest.fixture
def voc_mini() -> Path:
    return _real("voc-mini")


@pytest.fixture
def voc_presence() -> Path:
    return _real("voc-presence.csv")


@pytest.fixture(scope="session")
def learned(tmp_path_factory):
    """The folders of two finished runs that share step 0, and of the photos they learned from."""
    from tiny import tiny_config

    from recallseg.engine.runner import run

    folder = tmp_path_factory.mktemp("learned")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECALLSEG_CACHE", str(folder / "cache"))
        for name, changes in {"plain": {}, "other": {"method__train_encoder": True}}.items():
            run(tiny_config(folder / "voc", **changes), folder / name)
    return folder
