"""The generator that comes with the package."""

import json
from pathlib import Path

import pytest
import torch

from recallseg.data.toy import SUBJECTS, TWINS
from recallseg.gan.generator import load_generator, sample
from recallseg.gan.named_tensors import class_names
from recallseg.gan.own_classifier import build_classifier
from recallseg.gan.shipped import SHIPPED, classifier_file, generator_file
from recallseg.gan.training.quality import Judge
from recallseg.replay.gan_source import GanSettings

TOY = Path("toy")


def test_it_knows_the_drawn_worlds_subjects_and_is_small():
    assert [*SHIPPED] == ["toy"]
    assert class_names(generator_file(TOY)) == tuple(SUBJECTS)
    assert class_names(classifier_file(TOY)) == tuple(SUBJECTS)
    assert set(TWINS.values()) < set(SUBJECTS)
    assert generator_file(TOY).stat().st_size < 5_000_000
    assert generator_file(Path("/own.safetensors")) == Path("/own.safetensors")


def test_its_recipe_is_told_without_paths_and_its_quality_is_measured():
    text = SHIPPED["toy"].read_text()
    recipe = json.loads(text)
    assert '"/' not in text
    assert recipe["quality"]["recognised"] > 0.85
    assert recipe["quality"]["recognised_by_class"].keys() == set(SUBJECTS)
    assert recipe["quality"]["fid"] > recipe["quality"]["fid_of_real"]


@pytest.mark.parametrize("subject", ["banana", "sorrel", "monarch"])
def test_what_it_makes_is_recognised(subject):
    judge = Judge(build_classifier("toy"))
    number = [*SUBJECTS].index(subject)
    images = torch.stack([*sample(load_generator(generator_file(TOY)), number, 6, seed=3)])
    assert judge.right(judge.features(images), number) > 0.8


def test_a_configuration_names_it():
    source = GanSettings(path=TOY, classifier="toy").open()
    assert source.name == "gan"
    assert source.names == tuple(SUBJECTS)
