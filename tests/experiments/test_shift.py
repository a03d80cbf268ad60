"""Photos that move, and masks that follow."""

from tiny import tiny_config

from recallseg.engine.runner import run
from recallseg.experiments.shift import bench_shift


def test_every_shift_says_how_far_masks_moved_and_how_well_they_agree(tmp_path):
    run(tiny_config(tmp_path / "voc", method__name="joint"), tmp_path / "run")
    numbers = bench_shift(tmp_path / "run", photos=2, placements=2, every=15)
    assert (numbers["photos"], numbers["placements"]) == (2, 2)
    assert [each["shift"] for each in numbers["shifts"]] == [1, 16, 31]
    for each in numbers["shifts"]:
        assert 0 <= each["iou"] <= each["pixels"] <= 100
        assert abs(each["moved"] - each["shift"]) <= 8
