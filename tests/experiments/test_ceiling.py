import pytest
from safetensors.torch import load_file
from tiny import three_classes, tiny_config

from recallseg.engine.runner import run
from recallseg.engine.training.loop import train
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
    assert numbers["bytes_per_view"] == 2 * 64 * 3 * 3
    assert {path: path.read_bytes() for path in run_folder.rglob("*") if path.is_file()} == kept


def test_the_encoder_is_the_runs(run_folder):
    with pytest.raises(RecallsegError, match=r"only model\.decoder, .* can differ"):
        bench_ceiling(run_folder, ["model.output_stride=8"], iterations=1)


def test_parts_of_the_decoder_may_stay_as_step_0_left_them(tmp_path, monkeypatch):
    trained = []

    def watched(session, training, model, *rest):
        train(session, training, model, *rest)
        trained.append(model.decoder)

    monkeypatch.setattr("recallseg.experiments.ceiling.train", watched)
    shape = {"model__neck": 8, "model__neck_stride": 16, "model__output_stride": 32}
    run(three_classes(tmp_path / "data", model__tail="decoder", **shape), tmp_path / "run")
    bench_ceiling(tmp_path / "run", [], 2, frozen=["tail"])
    left = load_file(tmp_path / "run/step-0/decoder.safetensors")
    ended = trained[0].state_dict()
    assert all(ended[name].equal(left[name]) for name in left if name.startswith("tail."))
    assert not ended["neck.weight"].equal(left["neck.weight"])


def test_a_part_that_is_not_there_cannot_be_frozen(run_folder):
    with pytest.raises(RecallsegError, match="no neck"):
        bench_ceiling(run_folder, [], 1, frozen=["neck"])
