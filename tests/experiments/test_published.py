"""The shipped files for VOC are trained with the numbers that were published."""

import importlib.util
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from recallseg.cli.main import app
from recallseg.config.loading import load_preset, preset_names

ROOT = Path(__file__).parents[2]
MIB = (
    "sgd, Nesterov momentum 0.9, rate {} → 0 (power 0.9), weight decay 0.0001 on all parameters, "
    "batch {}, 30 epochs"
)
PAPER = (
    "sgd, momentum 0.9, rate {} → {} (power 0.9), weight decay 0.0001 on weights, batch 4, "
    "1000 iterations per class"
)
STRETCHED = "crop 512, stretched parts, of area 0.5 to 2, mirrored by chance; a fresh one"
WINDOWS = "crop 321, windows, photos scaled by 0.5 to 1.5, mirrored by chance; a fresh one"

PUBLISHED = {
    "mib": (16, "deeplab_v3", STRETCHED, MIB.format("0.01", 24), MIB.format("0.001", 24), 10_560),
    "lwf": (16, "deeplab_v3", STRETCHED, MIB.format("0.01", 24), MIB.format("0.001", 24), 10_560),
    "lwf_mc": (
        16,
        "deeplab_v3",
        STRETCHED,
        MIB.format("0.01", 24),
        MIB.format("0.001", 24),
        10_560,
    ),
    "sdr": (16, "deeplab_v3", STRETCHED, MIB.format("0.001", 8), MIB.format("0.0001", 8), 31_650),
    "cil": (16, "deeplab_v3", STRETCHED, MIB.format("0.001", 8), MIB.format("0.0001", 8), 31_650),
    "ilt": (
        8,
        "deeplab_v2",
        WINDOWS,
        PAPER.format("0.0001", "1e-06"),
        PAPER.format("5e-05", "1e-06"),
        15_000,
    ),
    "recall-gan": (
        8,
        "deeplab_v2",
        WINDOWS,
        PAPER.format("0.0005", "5e-06") + " (1500 overlapped)",
        PAPER.format("0.0005", "5e-06") + " (1500 overlapped)",
        15_000,
    ),
}


def dry_run(name, presence, *words):
    file = str(ROOT / f"configs/voc/{name}.yaml")
    result = CliRunner().invoke(
        app, ["run", file, "--dry-run", "--presence", str(presence), *words], catch_exceptions=False
    )
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_dry_run_says_the_published_numbers(name, voc_presence):
    stride, decoder, views, first, later, iterations = PUBLISHED[name]
    found = json.loads(dry_run(name, voc_presence, "--json"))
    said = found["settings"]
    learns = "frozen after step 0" if name == "recall-gan" else "goes on learning"
    assert said["encoder"].startswith(
        f"resnet101.tv_in1k at stride {stride}, weights imagenet, {learns}, BatchNorm "
    )
    assert said["encoder"].endswith("stays" if stride == 8 else ("moves", "with momentum 0.0003"))
    assert said["decoder"] == decoder
    assert said["views"].startswith(views)
    assert (said["step 0"], said["later steps"]) == (first, later)
    assert found["steps"][0] == {"images": 8437, "iterations": iterations}


def test_the_plan_is_printed_for_people(voc_presence):
    text = dry_run("recall-gan", voc_presence)
    assert "decoder: deeplab_v2" in text
    assert "inpainting: on photos, void too" in text
    assert (
        "replay: 500 images per class from gan, all kept; r_old/r_new 1; labelled on photos" in text
    )
    helpers = PAPER.format("0.0002", "2e-06")
    assert f"helper decoders: {helpers}\n" in text
    assert "feature bank" not in text


def page_tool():
    spec = importlib.util.spec_from_file_location("tool", ROOT / "tools/settings_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_settings_is_what_its_tool_writes():
    written = (ROOT / "docs/settings.md").read_text()
    assert written == page_tool().page(), "run `python tools/settings_page.py`"


def test_the_page_has_every_setting_of_the_preset():
    tool = page_tool()
    values = tool.settings_of(load_preset("paper"))
    listed = {tool.full_name(key, values) for row in tool.ROWS for key in row.keys}
    assert set(tool.source_comments("paper")) <= listed


def test_a_setting_that_differs_from_the_paper_needs_a_reason(monkeypatch):
    tool = page_tool()
    monkeypatch.setattr(tool, "ROWS", (tool.Row("crop", ("views.crop",), 513, "321"),))
    with pytest.raises(ValueError, match="say why"):
        list(tool.paper_table())


@pytest.mark.parametrize("name", ["mib", "sdr", "ilt", "paper"])
def test_every_number_of_a_preset_has_its_source(name):
    comments = page_tool().source_comments(name)
    assert {key for key, comment in comments.items() if not comment} <= {
        "method.name",
        "helper.optim.name",
    }


def test_every_competitor_has_a_preset_whose_encoder_learns():
    for name in page_tool().COMPETITORS:
        assert name in preset_names()
        config = load_preset(name)
        assert config.method.name == name
        assert config.method.train_encoder
