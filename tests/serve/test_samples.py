import shutil

from drawn import write_folder

from recallseg.serve.samples import find_samples, own_photos


def test_samples_are_the_photos_that_a_model_was_measured_on_or_learned_from(tmp_path):
    photos = write_folder(tmp_path / "photos", {"tom": [1], "kim": [1]}, ["background", "cat"])
    (tmp_path / "model").mkdir()
    settings = tmp_path / "model/config.yaml"
    settings.write_text(f"data: {{name: folder, root: {photos}}}")
    samples = find_samples(own_photos(tmp_path / "model"))
    assert [sample.name for sample in samples] == ["kim", "tom"]
    assert samples[0].jpeg().startswith(b"\xff\xd8")
    val = write_folder(tmp_path / "val", {"leo": [1]}, ["background", "cat"])
    settings.write_text(f"data: {{name: folder, root: {photos}, val_root: {val}}}")
    assert own_photos(tmp_path / "model") == val / "images"
    shutil.rmtree(photos)
    shutil.rmtree(val)
    assert own_photos(tmp_path / "model") is None
    settings.write_text("data: {name: voc}")
    assert [sample.name for sample in find_samples(own_photos(tmp_path / "model"))] == [
        "a drawn boat",
        "a drawn bus",
    ]
