"""Run folders from before every source had a section of its own."""

import pytest
import yaml

from recallseg.config import dump_config, load_config, validate
from recallseg.engine.session.facts import row_record
from recallseg.errors import RecallsegError
from recallseg.methods import METHODS, build_method
from recallseg.runs.folder import RunFolder
from recallseg.runs.older import row_of

FLAT = {
    "path": None,
    "collection": None,
    "site": "openverse",
    "base_url": None,
    "interval": 1.0,
    "allow_hosts": [],
    "match": "both",
    "queries": {},
    "classifier": "efficientnet_lite0",
    "map_by": "area",
    "map_apart": False,
    "map_photos": None,
    "truncation": 1.0,
    "side": None,
    "images_per_class": 500,
    "ratio": 1.0,
    "labels": "helpers",
    "label_on": "views",
    "inpaint": False,
    "present": True,
    "min_area": 0.0,
    "max_area": 1.0,
    "min_confidence": 0.0,
}
"""`replay` as version 0.1 wrote it."""


def older(folder, **replay):
    folder.mkdir()
    (folder / "config.yaml").write_text(yaml.safe_dump({"replay": FLAT | replay}))
    return RunFolder(folder)


def test_the_chosen_sources_settings_are_kept(tmp_path):
    folder = older(tmp_path / "a", source="folder", path="photos", collection="mine", ratio=3.0)
    replay = folder.config.replay
    assert (str(replay.settings.path), replay.settings.collection) == ("photos", "mine")
    assert replay.ratio == 3

    web = older(tmp_path / "b", source="web", site="flickr", interval=0.5, min_area=0.1)
    assert web.config.replay.settings.site == "flickr"
    assert web.config.replay.settings.interval == 0.5
    assert web.config.replay.filters.min_area == 0.1

    gan = older(tmp_path / "c", source="gan", path="g.safetensors", map_apart=True, side=128)
    assert gan.config.replay.settings.map_apart
    assert gan.config.replay.settings.side == 128
    assert older(tmp_path / "d", source="none").config.replay.settings is None


def test_they_can_be_changed_in_todays_words(tmp_path):
    folder = older(tmp_path / "a", source="web", site="flickr")
    changed = folder.config_with(["replay.web.site=commons", "replay.source=web"])
    assert changed.replay.settings.site == "commons"
    with pytest.raises(RecallsegError, match=r"site: no such setting"):
        folder.config_with(["replay.site=commons"])


def test_todays_configurations_are_read_as_they_are(tmp_path):
    values = {"replay": {"source": "web", "web": {"site": "commons"}, "filters": {"min_area": 0.2}}}
    config = validate(values, "the test")
    (tmp_path / "config.yaml").write_text(dump_config(config))
    assert RunFolder(tmp_path).config == config == load_config(tmp_path / "config.yaml")


@pytest.mark.parametrize(
    ("replay", "sentence"),
    [
        ({"web": {"site": "myspace"}}, r"web\.site: input should be"),
        ({"source": "gan", "gan": {"map_apart": "perhaps"}}, r"gan\.map_apart: .* boolean"),
        ({"gan": {"sides": 3}}, r"gan\.sides: no such setting"),
        ({"tv": {}}, "tv: no such setting"),
        ({"source": "tv"}, "Known: none, folder, web, gan"),
    ],
)
def test_what_is_wrong_with_a_sources_section_is_said(replay, sentence):
    with pytest.raises(RecallsegError, match=sentence):
        validate({"replay": replay}, "the test")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("source", ["none", "folder"])
@pytest.mark.parametrize("labels", ["helpers", "previous"])
def test_runs_that_do_not_say_their_row_stand_where_they_would_today(method, source, labels):
    replay = {"source": source, "labels": labels, "folder": {"title": "Web"}}
    config = validate({"method": {"name": method}, "replay": replay}, "the test")
    assert row_of(config) == row_record(config, build_method(config.method))
