"""Python as people expect it: photos in many shapes in, results that can be shown out."""

import shutil

import numpy as np
import pytest
from drawn import draw_pair, write_folder
from PIL import Image
from tiny import TINY_SETTINGS

from recallseg import Learner, ProgressReport
from recallseg.errors import RecallsegError
from recallseg.runs.folder import RunFolder

"""The settings of a tiny model as keywords, instead of as words."""


def pairs(label, count=6):
    drawn = [draw_pair([label], seed=number) for number in range(count)]
    return [photo for photo, _ in drawn], [mask for _, mask in drawn]


@pytest.fixture(scope="module")
def taught(tmp_path_factory):
    """A model that was taught by arrays and images only, and what was heard meanwhile."""
    model, heard = Learner.open(tmp_path_factory.mktemp("taught") / "model"), []
    photos, masks = pairs(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECALLSEG_CACHE", str(tmp_path_factory.mktemp("cache")))
        model.learn(
            [np.asarray(photo) for photo in photos],
            masks,
            names=["cat"],
            source="none",
            on_progress=heard.append,
            **TINY_SETTINGS,
        )
    return model, heard


def test_a_model_is_taught_by_arrays_and_tells_its_progress(taught):
    model, heard = taught
    assert model.class_names == ("background", "cat")
    assert RunFolder(model.path).config.views.crop == 33
    trained = [report for report in heard if report.phase == "step 0"]
    assert [(report.done, report.total) for report in trained] == [(1, 2), (2, 2)]
    assert trained[-1].text.startswith("loss")
    assert isinstance(heard[0], ProgressReport)


def test_a_listener_can_stop_the_work_and_the_same_call_goes_on(taught, tmp_path):
    shutil.copytree(taught[0].path, tmp_path / "model")
    model = Learner.open(tmp_path / "model")
    data = write_folder(tmp_path / "b", {f"p{i}": [1] for i in range(6)}, ["background", "cow"])

    def stop(report):
        if report.phase.startswith("step 1") and report.done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.learn(data, source="none", allow_forgetting=True, on_progress=stop)
    assert model.class_names == ("background", "cat")
    model.learn(data, source="none", allow_forgetting=True)
    assert model.class_names == ("background", "cat", "cow")
    assert model.rollback(to=0) == ["cow"]
    assert model.class_names == ("background", "cat")


def test_photos_come_in_many_shapes(taught, tmp_path):
    model = taught[0]
    photos, _ = pairs(1, count=3)
    for number, photo in enumerate(photos):
        photo.save(tmp_path / f"{number}.png")
    expected = [model.predict(photo).mask for photo in photos]
    for many in (
        photos,
        [np.asarray(photo) for photo in photos],
        np.stack([np.asarray(photo) for photo in photos]),
        tmp_path,
        str(tmp_path / "*.png"),
        [tmp_path / f"{number}.png" for number in range(3)],
    ):
        found = model.predict(many)
        assert isinstance(found, list)
        np.testing.assert_array_equal([each.mask for each in found], expected)
    np.testing.assert_array_equal(model.predict(str(tmp_path / "1.png")).mask, expected[1])
    assert [each.photo.size for each in model.predict_many(iter(photos))] == [(24, 20)] * 3


def test_results_are_saved_and_shown(learned, tmp_path, monkeypatch):
    photo, _ = draw_pair([1, 2, 3], size=(120, 80))
    found = Learner.open(learned / "plain").predict(photo)
    assert found.overlay().size == (120, 80)
    assert (np.asarray(found.overlay(0.0)) != np.asarray(found.overlay(1.0))).any()
    with Image.open(found.save(tmp_path / "a.png")) as mask:
        np.testing.assert_array_equal(np.asarray(mask), found.mask)
    with Image.open(found.save(tmp_path / "a.jpg")) as picture:
        assert picture.size == (120, 80)
    assert '"classes"' in found.save(tmp_path / "a.json").read_text()
    with pytest.raises(RecallsegError, match=r"ends in neither \.png"):
        found.save(tmp_path / "a.txt")
    shown = []
    monkeypatch.setattr(Image.Image, "show", lambda image: shown.append(image.size))
    found.show()
    assert shown == [(120, 80)]


def test_in_a_notebook_a_result_is_a_picture_with_a_legend(learned):
    found = Learner.open(learned / "plain").predict(draw_pair([1, 2, 3], size=(120, 80))[0])
    names = tuple(name.replace(found.scores[0].name, "<b>&") for name in found.class_names)
    score = found.scores[0].__class__("<b>&", max(1, found.scores[0].channel), 0.5, 0.9)
    html = type(found)(found.mask, names, (score,), found.photo)._repr_html_()
    assert 'src="data:image/jpeg;base64,' in html
    assert "&lt;b&gt;&amp; 50%" in html
    assert "<b>" not in html


def test_a_model_is_measured_on_lists_and_on_folders(taught, tmp_path):
    model = taught[0]
    photos, masks = pairs(1, count=4)
    scores = model.evaluate(photos, masks, names=["cat"])
    write_folder(tmp_path / "val", {f"p{i}": [1] for i in range(4)}, ["background", "cat"])
    assert scores["iou"] == model.evaluate(tmp_path / "val")["iou"]
    assert scores["pixels"] == 4 * 24 * 19
    (tmp_path / "val/val.txt").write_text("p0\n")
    assert model.evaluate(tmp_path / "val")["pixels"] == 24 * 19


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda m: m.learn([], [], names=[]), "Name the classes"),
        (lambda m: m.learn(*pairs(1)), "Name the classes"),
        (lambda m: m.learn(pairs(1)[0], [], names=["cow"]), "6 photos and 0 masks"),
        (lambda m: m.learn(["gone.jpg"], ["gone.png"], names=["cow"]), "gone.jpg is not a file"),
        (lambda m: m.learn([np.zeros((2, 2))], [0], names=["cow"]), "float64 of shape"),
        (lambda m: m.learn(*pairs(1), names=["cow"], views={"cropp": 9}), r"views\.cropp"),
        (lambda m: m.learn(*pairs(1), names=["cow"], view={"crop": 9}), r"  view: "),
        (lambda m: m.predict("nowhere.jpg"), "nowhere.jpg"),
        (lambda m: m.predict([np.zeros((2, 2))]), "float64 of shape"),
    ],
)
def test_what_cannot_be_used_is_told(taught, call, sentence):
    with pytest.raises(RecallsegError, match=sentence):
        call(taught[0])
