import pytest
from safetensors.numpy import load_file
from tiny import three_classes, tiny_config

from recallseg.engine.runner import run
from recallseg.errors import RecallsegError
from recallseg.experiments.forgetting import bench_forgetting
from recallseg.paper import TRIPLE
from recallseg.runs.folder import RunFolder


def means(row):
    return {kind: row[kind] for kind in TRIPLE}


def test_channels_that_are_put_back_bring_back_what_the_new_class_leaves_them(tmp_path):
    run(tiny_config(tmp_path / "voc", increment__iterations_per_class=20), tmp_path / "run")
    kept = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    numbers = bench_forgetting(tmp_path / "run", None, None)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == kept
    folder, rows = RunFolder(tmp_path / "run"), numbers["put_back"]
    assert means(rows["nothing"]) == means(folder.scores(2)["miou"])
    assert means(numbers["before"]) == means(folder.scores(1)["miou"])
    assert list(rows) == [
        "nothing",
        "channels of old classes",
        "channels of old classes and background",
    ]
    before, back = (
        row["old_pixels"]
        for row in (numbers["before"], rows["channels of old classes and background"])
    )
    # The classifier alone learned, so that its old channels see what they saw before.
    assert sum(back.values()) == pytest.approx(100, abs=1e-3)
    assert all(back[name] <= before[name] + 1e-9 for name in before if name != "a new class")
    assert rows["nothing"]["old_pixels"] != back


def test_how_far_channels_moved_is_in_percent_of_their_length(tmp_path):
    run(tiny_config(tmp_path / "voc", increment__iterations_per_class=2), tmp_path / "run")
    moved = bench_forgetting(tmp_path / "run", 1, photos=2)["moved"]
    old, new = (load_file(tmp_path / f"run/step-{step}/decoder.safetensors") for step in (0, 1))
    names = [name for name in old if name.endswith("weight")]
    square = sum(((new[name][3] - old[name][3]) ** 2).sum() for name in names)
    length = sum((old[name][3] ** 2).sum() for name in names)
    assert moved["bird"] == pytest.approx(100 * (square / length) ** 0.5, abs=0.01)


def test_everything_that_learned_can_be_put_back(tmp_path):
    shape = {"model__neck": 8, "model__neck_stride": 16, "model__output_stride": 32}
    run(three_classes(tmp_path / "data", model__tail="decoder", **shape), tmp_path / "run")
    numbers = bench_forgetting(tmp_path / "run", 1, photos=2)
    assert numbers["photos"] == 2
    assert [*numbers["put_back"]][3:] == [
        "tail",
        "neck",
        "all that the classifier sees",
        "all that was there",
    ]


def test_an_encoder_that_learned_on_is_put_back_too(tmp_path):
    config = tiny_config(tmp_path / "voc", method__train_encoder=True)
    run(config, tmp_path / "run")
    numbers = bench_forgetting(tmp_path / "run", 2, photos=2)
    before, back = numbers["before"]["old_pixels"], numbers["put_back"]["all that was there"]
    assert "encoder" in numbers["put_back"]
    assert all(
        back["old_pixels"][name] <= before[name] + 1e-9 for name in before if name != "a new class"
    )


def test_after_step_0_nothing_was_forgotten(tmp_path):
    run(tiny_config(tmp_path / "voc"), tmp_path / "run")
    with pytest.raises(RecallsegError, match="no later step"):
        bench_forgetting(tmp_path / "run", 0, None)
    with pytest.raises(RecallsegError, match="has no step 9; it has 0, 1, 2"):
        bench_forgetting(tmp_path / "run", 9, None)
