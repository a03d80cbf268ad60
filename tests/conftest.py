"""Every test gets its own cache, and real photos where `RECALLSEG_DATA` or ../shared has them."""

import os
import shutil
import sys
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


@pytest.fixture(autouse=True)
def _layers_keep_to_one_core():
    """Once layers were split among cores, forks of this process hang; `Child` may split them."""
    yield
    if torch := sys.modules.get("torch"):
        assert torch.get_num_threads() == 1


@pytest.fixture(autouse=True, scope="session")
def _nobody_pulls_the_plug():
    """Without a power cut nothing depends on when bytes reach the disk, and waiting takes long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture(scope="session")
def drawn_voc(tmp_path_factory) -> Path:
    """Where `tiny_config` draws its photos for all tests that only read them."""
    return tmp_path_factory.mktemp("drawn") / "voc"


@pytest.fixture
def shared_cache(_own_cache, tmp_path_factory, drawn_voc, monkeypatch):
    """One cache for all tests that do not look into it: what they share is trained once."""
    monkeypatch.setenv("RECALLSEG_CACHE", str(drawn_voc.parent / "cache"))


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


@pytest.fixture(scope="module")
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


@pytest.fixture(scope="session")
def learned(tmp_path_factory):
    """The folders `plain` and `other` of two finished runs, and `voc`, what they learned from.

    The second went on training its encoder. So short a training makes a model that sees nothing
    but background; their decoders are replaced by random ones, which see a bit of everything on
    the features of a network that is large enough.
    """
    from tiny import tiny_config

    from recallseg.engine.runner import run

    folder = tmp_path_factory.mktemp("learned")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECALLSEG_CACHE", str(folder / "cache"))
        for name, learning in {"plain": False, "other": True}.items():
            config = tiny_config(
                folder / "voc",
                model__encoder="mobilenetv2_035",
                method__train_encoder=learning,
                optim__iterations_per_class=1,
                increment__iterations_per_class=2,
            )
            run(config, folder / name)
            _see_everything(folder / name)
    return folder


def _see_everything(path: Path) -> None:
    import torch

    from recallseg.engine.evaluation.rescore import rescore
    from recallseg.model.saving import save_weights
    from recallseg.predict.opening import open_steps
    from recallseg.runs.folder import RunFolder

    folder, measured = RunFolder(path), []
    for step, model in open_steps(folder).items():
        draw = torch.Generator().manual_seed(step)
        for parameter in model.decoder.parameters():
            parameter.data = torch.randn(parameter.shape, generator=draw)
        save_weights(folder.step(step).decoder, model.decoder)
        measured.append(rescore(path, step=step))
        folder.write_scores(step, measured[-1])
    folder.write_result(folder.result | {"steps": measured})
