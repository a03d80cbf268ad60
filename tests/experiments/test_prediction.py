from tiny import tiny_config

from recallseg.engine.runner import run
from recallseg.experiments.prediction import bench_prediction


def test_bench_predicts_the_validation_photos_both_ways(tmp_path):
    run(tiny_config(tmp_path / "voc", method__name="joint"), tmp_path / "run")
    numbers = bench_prediction(tmp_path / "run", photos=7)
    assert numbers["photos"] == 7
    assert numbers["speed"] > 0
