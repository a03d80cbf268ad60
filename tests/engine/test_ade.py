"""The supplement's ADE20K setting, 150 classes in a few steps, with the shipped configurations."""

import json
from pathlib import Path

import pytest
import torch
from drawn import draw_pair
from photo_site import KEY, PhotoSite, photos_of
from safetensors.torch import save_file

from recallseg.config import load_config
from recallseg.data.ade import CLASSES
from recallseg.data.shrink import save_mask
from recallseg.engine.runner import run
from recallseg.gan.biggan import BigGAN
from recallseg.gan.biggan_config import BigGANConfig

CONFIGS = Path(__file__).parents[2] / "configs" / "ade"
SMALL = [
    "model.encoder=test_efficientnet",
    "model.output_stride=16",
    "model.weights=none",
    "views.crop=33",
    "optim.iterations_per_class=0.1",
    "increment.iterations_per_class=1",
    "helper.optim.iterations_per_class=0.1",
    "replay.images_per_class=1",
    "replay.gan.classifier=efficientnet_lite0",
    "replay.filters.present=false",
    "bank.views=1",
]


@pytest.fixture
def ade(tmp_path):
    """A drawn dataset in ADE20K's layout, with every class in it."""
    root = tmp_path / "ade"
    for split in ("training", "validation"):
        for folder in ("images", "annotations"):
            (root / folder / split).mkdir(parents=True)
        for label in range(1, len(CLASSES)):
            photo, mask = draw_pair([label], seed=label + len(split))
            photo.save(root / "images" / split / f"{label:03}.jpg")
            save_mask(root / "annotations" / split / f"{label:03}.png", mask)
    return root


def learn(name, sizes, ade, tmp_path, *settings):
    """Run a shipped configuration, made small, and check that all 150 classes were learned."""
    config = load_config(CONFIGS / f"{name}.yaml", [*SMALL, f"data.root={ade}", *settings])
    result = run(config, tmp_path / name)
    assert [len(step["classes"]) for step in result["steps"]] == sizes
    last = result["steps"][-1]
    assert list(last["iou"]) == list(CLASSES)
    assert last["iou"]["other"] is last["pixel_accuracy"]["other"] is None
    assert last["miou"]["all"] == last["miou"]["foreground"] is not None
    assert last["miou_boundary"]["all"] == last["miou_boundary"]["foreground"]
    manifest = (tmp_path / name / "replay" / "manifest.jsonl").read_text().splitlines()
    return [json.loads(line) for line in manifest]


def test_stuff_is_searched_for_like_any_other_class(ade, tmp_path, monkeypatch):
    monkeypatch.setenv("FLICKR_API_KEY", KEY)
    photos = [p for n, name in enumerate(CLASSES[1:]) for p in photos_of(name, 1, 10 * n)]
    with PhotoSite(photos) as site:
        found = learn(
            "recall-web",
            [100, 50],
            ade,
            tmp_path,
            "scenario.spec=100-50",
            f"replay.web.base_url={site.base}/services/rest/",
            f"replay.web.allow_hosts=[{site.host}]",
            "replay.web.interval=0",
        )
    assert [entry["class_name"] for entry in found] == list(CLASSES[1:101])


def test_stuff_is_mapped_and_generated_like_any_other_class(ade, tmp_path):
    torch.manual_seed(0)
    generator = BigGAN(BigGANConfig.at(64, channel_width=8))
    save_file(generator.state_dict(), tmp_path / "gan.safetensors")
    settings = ["scenario.spec=100-50", f"replay.gan.path={tmp_path}/gan.safetensors"]
    found = learn("recall-gan", [100, 50], ade, tmp_path, *settings)
    mapping = json.loads((tmp_path / "recall-gan" / "mapping.json").read_text())
    assert mapping.keys() == set(CLASSES[1:])
    assert all(entry["query"] == mapping[entry["class_name"]][0][1] for entry in found)
