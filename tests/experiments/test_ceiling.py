import pytest
from tiny import tiny_config

from recallseg.engine.runner import run
from recallseg.errors import RecallsegError
from recallseg.experiments.ceiling import bench_ceiling


@pytest.fixture
def run_folder(tmp_path):
    run(tiny_config(tmp_path / "voc", scenario__spec="19-1"), tmp_path / "run")
    return tmp_path / "run"


def test_a_decoder_of_all_classes_learns_on_the_encoder_of_step_0(run_folder):
    kept = {path: path.read_bytes() for path in run_folder.rglob("*") if path.is_file()}
    numbers = bench_ceiling(run_folder, ["model.decoder=deeplab_v3"], iterations=3)
    assert len(numbers["iou"]) == 21
    assert numbers["miou"]["new"] is not None
    assert numbers["bytes_per_view"] == 2 * 112 * 3 * 3
    assert {path: path.read_bytes() for path in run_folder.rglob("*") if path.is_file()} == kept


def test_the_encoder_is_the_runs(run_folder):
    with pytest.raises(RecallsegError, match=r"only model\.decoder, .* can differ"):
        bench_ceiling(run_folder, ["model.output_stride=8"], iterations=1)
