import pytest
import torch
from tiny import tiny_config

from recallseg.config import load_preset, validate
from recallseg.experiments.bank import bench_bank
from recallseg.experiments.plan import bank_bytes, plan
from recallseg.files import cache_root
from recallseg.model.bank import bytes_on_disk
from recallseg.model.building import build_model


def paper(**scenario):
    words = [f"scenario.{key}={value}" for key, value in scenario.items()]
    return load_preset("paper", ["data.name=voc", *words])


def test_the_papers_numbers(voc_presence):
    found = plan(paper(spec="15-1"), voc_presence)
    assert list(found) == [
        "encoder_parameters",
        "decoder_parameters",
        "helper_parameters",
        "steps",
        "settings",
    ]
    assert found["encoder_parameters"] == 42_500_160
    assert found["decoder_parameters"] == 1_548_372
    assert found["helper_parameters"][1:] == [147_464] * 5
    assert found["steps"][0] == {"images": 8437, "iterations": 15_000}
    assert found["steps"][5] == {"images": 548, "iterations": 1_000}


def test_the_overlapped_setup_trains_longer(voc_presence):
    found = plan(paper(spec="15-5", setup="overlapped"), voc_presence)
    assert [step["iterations"] for step in found["steps"]] == [22_500, 7_500]


def test_joint_training_is_as_long_in_every_setup(voc_presence):
    values = paper(spec="15-5", setup="overlapped").model_dump() | {"method": {"name": "joint"}}
    [step] = plan(validate(values, "the test"), voc_presence)["steps"]
    assert step == {"images": 10_582, "iterations": 20_000}


def test_the_bank_takes_what_the_plan_says(tmp_path):
    from recallseg.engine.runner import run

    config = tiny_config(tmp_path / "voc", views__crop=129, bank__views=4, model__neck=32)
    photos = sum(step["images"] for step in plan(config)["steps"][1:])
    run(config, tmp_path / "run")
    (bank,) = (path.parent for path in (cache_root() / "bank").glob("*/features.f16"))
    assert bytes_on_disk(bank) == pytest.approx(bank_bytes(config, photos), abs=photos * 8192)


def test_bench_compares_both_paths(tmp_path):
    found = bench_bank(tiny_config(tmp_path / "voc"))
    bank, plain = found["modes"]["bank"], found["modes"]["plain"]
    assert bank["iterations"] == plain["iterations"] == 16
    assert bank["encoding_s"] > 0
    assert plain["encoding_s"] == 0
    assert bank["disk_mb"] <= bank["budget_mb"]
    assert found["speed_up"] > 1
    assert not list(cache_root().glob("recallseg-bench-*"))


@pytest.mark.slow
def test_the_papers_model_trains(tmp_path):
    """Two iterations of ResNet-101 at stride 8 on the paper's 321-pixel crops."""
    from recallseg.engine.runner import run

    preset = paper(spec="1-1")
    values = tiny_config(tmp_path / "voc", method__name="joint").model_dump()
    values |= {"model": preset.model.model_dump() | {"weights": "none"}}
    values |= {"views": preset.views.model_dump()}
    once = preset.optim.model_dump() | {"iterations_per_class": 0.1}
    config = validate(values | {"optim": once}, "the test")
    torch.manual_seed(0)
    model = build_model(config.model, 21)
    assert sum(p.numel() for p in model.decoder.parameters()) == 1_548_372
    result = run(config, tmp_path / "run")
    lines = (tmp_path / "run/metrics.jsonl").read_text().splitlines()
    assert sum('"loss"' in line for line in lines) == 2
    assert result["steps"][0]["miou"]["all"] is not None
