"""Labels for other tools: what is written comes back as the mask that was seen."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from foreign import assert_alike
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from PIL import Image
from pycocotools import mask as coco_masks
from pycocotools.coco import COCO

from recallseg.data import open_dataset
from recallseg.data.brush import packed_runs, unpacked_runs
from recallseg.data.importing.importer import import_dataset
from recallseg.data.importing.regions import Outlines
from recallseg.data.importing.source_folder import ImportOptions
from recallseg.errors import RecallsegError
from recallseg.files import write_json
from recallseg.predict.prediction import ClassScore, Prediction
from recallseg.predict.writers import FORMATS, FreeNames
from recallseg.predict.writers.outlines import parts_of, simplified

NAMES = ("background", "cat", "Ätna & Söhne")


def blobs(seed, shape=(60, 80)):
    """Three labels in smooth patches, with holes, islands and parts cut by the photo's edge."""
    noise = np.random.default_rng(seed).normal(size=(8, 9)).astype(np.float32)
    size = (shape[1], shape[0])
    smooth = np.array(Image.fromarray(noise).resize(size, Image.Resampling.BICUBIC))
    return np.digitize(smooth, [0.1, 0.7]).astype(np.uint8)


def seen(mask):
    scores = [
        ClassScore(NAMES[c], c, float((mask == c).mean()), 0.75) for c in np.unique(mask).tolist()
    ]
    return Prediction(mask, NAMES, tuple(sorted(scores, key=lambda score: -score.share)))


@pytest.fixture
def photos(tmp_path):
    """Paths of photos and what is seen in each."""
    found = {}
    for number, name in enumerate(["a.png", "b.jpg", "b.png", "plain.png"]):
        mask = np.zeros((60, 80), np.uint8) if name == "plain.png" else blobs(number)
        path = tmp_path / "photos" / name
        path.parent.mkdir(exist_ok=True)
        Image.fromarray(np.stack([mask * 90] * 3, axis=-1)).save(path)
        found[path] = mask
    return found


def write(name, photos, out, tolerance=0.4):
    model = SimpleNamespace(class_names=NAMES, step=3)
    writer = FORMATS[name](model, FreeNames(out, photos), tolerance)
    for path, mask in photos.items():
        with Image.open(path) as photo:
            writer.add(path, photo, seen(mask))
    writer.finish()
    if writer.value is not None:
        write_json(out / f"{name}.json", writer.value)


@pytest.mark.parametrize("tolerance", [0, 0.4])
@pytest.mark.parametrize("name", ["coco", "coco-polygons", "yolo", "labelme", "labelstudio"])
def test_what_is_written_is_imported_again(name, tolerance, photos, tmp_path):
    write(name, photos, tmp_path / "theirs", tolerance)
    elsewhere = name not in ("yolo", "labelme")
    options = ImportOptions(images=tmp_path / "photos" if elsewhere else None)
    report = import_dataset(tmp_path / "theirs", tmp_path / "ours", options=options)
    assert (report.format, report.background) == (name.split("-")[0], 1)
    ours = open_dataset("folder", "train", tmp_path / "ours").renamed(NAMES, other=9)
    by_content = {np.array(Image.open(path)).tobytes(): mask for path, mask in photos.items()}
    assert len(ours) == 4
    for row in range(4):
        photo, mask = ours.read(row)
        expected = by_content[np.array(photo).tobytes()]
        assert_alike(mask, expected)
        if tolerance == 0 or name in ("coco", "labelstudio"):
            np.testing.assert_array_equal(mask, expected)


@pytest.mark.filterwarnings("ignore:__array__ implementation")
def test_pycocotools_reads_both_kinds_of_coco(photos, tmp_path, capsys):
    for name in ("coco", "coco-polygons"):
        write(name, photos, tmp_path, tolerance=0)
        dataset = COCO(tmp_path / f"{name}.json")
        for number, mask in enumerate(photos.values(), start=1):
            painted = np.zeros_like(mask)
            for annotation in dataset.loadAnns(dataset.getAnnIds(imgIds=number)):
                painted[dataset.annToMask(annotation) > 0] = annotation["category_id"]
            assert_alike(painted, mask)
    assert "index created" in capsys.readouterr().out


def test_an_area_and_a_box_are_those_of_the_part(tmp_path, photos):
    write("coco-polygons", photos, tmp_path, tolerance=0)
    [photo, *_] = json.loads((tmp_path / "coco-polygons.json").read_text())["images"]
    dataset = json.loads((tmp_path / "coco-polygons.json").read_text())
    for annotation in dataset["annotations"]:
        rles = coco_masks.frPyObjects(annotation["segmentation"], 60, 80)
        assert annotation["bbox"] == pytest.approx(coco_masks.toBbox(rles)[0].tolist(), abs=1.5)
    assert (photo["width"], photo["height"]) == (80, 60)


@given(arrays(bool, array_shapes(min_dims=2, max_dims=2, max_side=12)))
@settings(deadline=None, max_examples=60)
def test_unsimplified_outlines_are_exact_for_any_mask(hits):
    filled = np.zeros(hits.shape, dtype=bool)
    for part in parts_of(hits, tolerance=0):
        inside = Outlines((part.joined(),)).pixels(*hits.shape)
        assert not (filled & inside).any()
        filled |= inside
    np.testing.assert_array_equal(filled, hits)


@given(st.integers(0, 10**6), st.floats(0, 5))
@settings(deadline=None, max_examples=12)
def test_no_corner_that_is_left_out_is_farther_away_than_allowed(seed, tolerance):
    for part in parts_of(blobs(seed) == 1, tolerance=0):
        ring = part.around
        short = simplified(ring, tolerance)
        closed = np.concatenate([short, short[:1]])
        start, line = closed[:-1], np.diff(closed, axis=0)
        to_start = ring[:, None] - start[None]
        along = ((to_start * line).sum(-1) / (line**2).sum(-1).clip(1e-12)).clip(0, 1)
        distances = np.linalg.norm(to_start - along[..., None] * line, axis=-1).min(axis=1)
        assert distances.max() <= tolerance + 1e-9
        assert len(short) <= len(ring)


def unpacked(data):
    """Label Studio's packed runs, read as its documentation tells: an independent decoder."""
    bits = "".join(f"{byte:08b}" for byte in data)
    place = 0

    def take(width):
        nonlocal place
        place += width
        return int(bits[place - width : place], 2)

    count, word = take(32), take(5) + 1
    widths = [take(4) + 1 for _ in range(4)]
    values: list[int] = []
    while len(values) < count:
        is_run = take(1)
        length = take(widths[take(2)]) + 1
        values += [take(word)] * length if is_run else [take(word) for _ in range(length)]
    return np.array(values, dtype=np.uint8)


@given(arrays(bool, array_shapes(min_dims=2, max_dims=2, max_side=20)))
@settings(deadline=None, max_examples=30)
def test_brush_masks_come_back(hits):
    pixels = unpacked(packed_runs(hits)).reshape(*hits.shape, 4)
    np.testing.assert_array_equal(pixels, np.repeat(hits[..., None] * 255, 4, axis=-1))
    np.testing.assert_array_equal(unpacked_runs(packed_runs(hits), *hits.shape), hits)


def test_runs_longer_than_one_item_are_cut():
    hits = np.zeros((300, 300), dtype=bool)
    hits[100:280] = True
    np.testing.assert_array_equal(unpacked(packed_runs(hits))[::4].reshape(300, 300) == 255, hits)


def test_tasks_name_their_photo_and_their_classes(photos, tmp_path):
    write("labelstudio", photos, tmp_path)
    first, *_, plain = json.loads((tmp_path / "labelstudio.json").read_text())
    path = next(iter(photos))
    assert first["data"]["image"] == f"/data/local-files/?d={path.as_posix()[1:]}"
    [prediction] = first["predictions"]
    assert {result["value"]["brushlabels"][0] for result in prediction["result"]} == set(NAMES[1:])
    assert prediction["result"][0]["original_width"] == 80
    assert plain["predictions"][0]["result"] == []


def test_photos_and_labels_made_by_hand_are_never_replaced(photos, tmp_path):
    folder = tmp_path / "photos"
    (folder / "a.json").write_text("made by hand")
    with pytest.raises(RecallsegError, match="made by hand"):
        write("labelme", photos, folder)
    assert (folder / "a.json").read_text() == "made by hand"
    (tmp_path / "out/images").mkdir(parents=True)
    (tmp_path / "out/images/a.png").write_bytes(b"somebody's")
    with pytest.raises(RecallsegError, match="another photo"):
        write("yolo", photos, tmp_path / "out")
    assert (tmp_path / "out/images/a.png").read_bytes() == b"somebody's"
    write("yolo", photos, tmp_path / "twice")
    write("yolo", photos, tmp_path / "twice")
    assert len(list((tmp_path / "twice/images").iterdir())) == 4
    own = {path: mask for path, mask in photos.items() if path.suffix == ".jpg"}
    write("labelme", own, folder)
    assert json.loads((folder / "b.json").read_text())["imagePath"] == "b.jpg"
    assert not (folder / "b.jpg").is_symlink()
