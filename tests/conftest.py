"""Every test gets its own cache, and real photos where `RECALLSEG_DATA` or ../shared has them."""

import os
import shutil
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


@pytest.fixture
def browser():
    """Headless Chromium of the system; playwright's own would have to be downloaded."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("needs a chromium on the path")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        opened.close()
