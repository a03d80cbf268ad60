import pytest
from tiny import three_classes

from recallseg.config import MethodConfig
from recallseg.engine.runner import run
from recallseg.errors import RecallsegError
from recallseg.experiments.increments import bench_increments
from recallseg.runs.folder import RunFolder


def test_later_steps_are_timed_beside_the_bare_decoder_and_change_nothing(tmp_path):
    config = three_classes(tmp_path / "data", method__name="recall", bank__views=2)
    numbers = bench_increments(config, keep=tmp_path / "timed")
    result = run(config, tmp_path / "run")
    assert numbers["miou"] == result["steps"][-1]["miou"]
    assert numbers["later_steps"] == len(result["steps"]) - 1
    assert numbers["iterations"] == 2 * config.increment.iterations_per_class
    assert numbers["stolen_by_the_host"] is None or 0 <= numbers["stolen_by_the_host"] <= 1
    seconds = numbers["seconds"]
    parts = {"encoding", "steps", "helpers", "labels", "measuring", "rest"}
    assert seconds.keys() == {*parts, "all"}
    assert sum(seconds[part] for part in parts) - seconds["all"] < 0.5
    assert min(seconds["steps"], seconds["measuring"]) > 0
    ratios = numbers["over_bare_decoder"]
    assert 0.0 < ratios["an iteration"] < ratios["an increment"]
    assert RunFolder(tmp_path / "timed").result["steps"] == result["steps"]
    joint = config.model_copy(update={"method": MethodConfig(name="joint")})
    with pytest.raises(RecallsegError, match="'joint' learns in one step"):
        bench_increments(joint)
    with pytest.raises(RecallsegError, match="is there already"):
        bench_increments(config, keep=tmp_path / "timed")
