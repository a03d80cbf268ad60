"""RECALL where the network's last stages belong to the decoder."""

from itertools import pairwise

import pytest
import torch
from safetensors.torch import load_file
from tiny import three_classes
from trainers import interrupted, watched

from recallseg.engine.runner import run
from recallseg.files import cache_root
from recallseg.model.building import build_model
from recallseg.runs.folder import RunFolder


def tail_config(tmp_path, **changes):
    shape = {"model__neck": 8, "model__neck_stride": 16, "model__output_stride": 32}
    return three_classes(tmp_path / "data", model__tail="decoder", **shape | changes)


def test_every_step_learns_the_tail_on_features_of_one_encoder(tmp_path):
    seen, run_watched = watched()
    run_watched(tail_config(tmp_path), tmp_path / "run")
    assert all(batch.photos is None for batch in seen.values())
    folder = RunFolder(tmp_path / "run")
    decoders = [load_file(folder.step(index).decoder) for index in range(3)]
    tails = [key for key in decoders[0] if key.startswith("tail.") and key.endswith("weight")]
    assert tails
    for before, after in pairwise(decoders):
        assert any(not before[key].equal(after[key]) for key in tails)
    helper = load_file(folder.step(1).helper())
    assert set(tails) <= set(helper)


def test_the_first_stages_may_learn_in_step_0_and_no_later(tmp_path):
    seen, run_watched = watched()
    run_watched(tail_config(tmp_path, model__first_stages="step-0"), tmp_path / "run")
    with_photos = {name for name, batch in seen.items() if batch.photos is not None}
    assert with_photos == {"step 0"}
    run(tail_config(tmp_path), tmp_path / "fixed")
    learned, fixed = (RunFolder(tmp_path / name).encoder for name in ("run", "fixed"))
    weights, before = load_file(learned), load_file(fixed)
    assert any(not weights[key].equal(before[key]) for key in weights)


def test_a_helper_starts_with_the_tail_of_the_model(tmp_path):
    config = tail_config(tmp_path, helper__optim__lr=1e-30, helper__optim__end_lr=0)
    run(config, tmp_path / "run")
    folder = RunFolder(tmp_path / "run")
    model, helper = load_file(folder.step(1).decoder), load_file(folder.step(1).helper())
    tails = {key: value for key, value in model.items() if key.startswith("tail.")}
    torch.testing.assert_close({key: helper[key] for key in tails}, tails, atol=1e-20, rtol=0)
    assert len(helper["branches.0.weight"]) == 2


def test_joint_training_and_a_first_step_share_stored_features(tmp_path):
    """The encoder is the same whatever was learned, so no training photo is encoded twice."""
    run(tail_config(tmp_path, method__name="joint", replay__source="none"), tmp_path / "joint")
    encoded = {path: path.read_bytes() for path in cache_root().glob("bank/*/done.u8")}
    run(tail_config(tmp_path, method__name="ft", replay__source="none"), tmp_path / "ft")
    again = {path: path.read_bytes() for path in cache_root().glob("bank/*/done.u8")}
    assert encoded == again
    assert [marks.count(1) for marks in encoded.values()] == [36]


def test_an_interrupted_first_step_ends_with_the_same_weights(tmp_path, monkeypatch):
    config = tail_config(tmp_path, checkpoint_seconds=0)
    run(config, tmp_path / "peace")
    monkeypatch.setenv("RECALLSEG_CACHE", str(tmp_path / "other-cache"))
    with pytest.raises(KeyboardInterrupt):
        run(config, tmp_path / "again", trainer=interrupted("step 0", 3))
    run(config, tmp_path / "again")
    for index in range(3):
        one, other = (
            load_file(RunFolder(tmp_path / name).step(index).decoder) for name in ("peace", "again")
        )
        assert all(torch.equal(one[key], other[key]) for key in one)


@pytest.mark.parametrize("scope", ["step", "shared"])
def test_a_helper_may_keep_the_tail_of_its_model(scope, tmp_path):
    """Killed in the second step and taken up again, it labels with the tail of its own step."""
    config = tail_config(tmp_path, helper__tail="model", helper__scope=scope, checkpoint_seconds=0)
    run(config, tmp_path / "peace")
    folder = RunFolder(tmp_path / "peace")
    for index in range(2):
        assert not [key for key in load_file(folder.step(index).helper()) if "tail" in key]
    with pytest.raises(KeyboardInterrupt):
        run(config, tmp_path / "again", trainer=interrupted("step 2", 3))
    run(config, tmp_path / "again")
    ends = [load_file(RunFolder(tmp_path / name).step(2).decoder) for name in ("peace", "again")]
    torch.testing.assert_close(*ends, atol=0, rtol=0)


def test_a_tail_apart_counts_as_what_a_model_answers_by(tmp_path):
    config = tail_config(tmp_path)
    model = build_model(config.model, 3, "none")
    before = model.fingerprint()
    model.decoder.set_tail_apart()
    assert model.fingerprint() == before
    assert not any(name.startswith("tail.") for name in model.decoder.state_dict())
    model.double()
    assert next(model.decoder.tail.parameters()).dtype == torch.float64
    with torch.no_grad():
        next(model.decoder.tail.parameters()).add_(1)
    assert model.float().fingerprint() != before
