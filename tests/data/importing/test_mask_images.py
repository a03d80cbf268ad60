"""Mask images of all kinds: ids, palettes, colours, 0 and 255, and what JPEG makes of them."""

import json

import numpy as np
import pytest
from commands import recallseg
from foreign import save
from PIL import Image

from recallseg.data import open_dataset
from recallseg.data.importing.importer import import_dataset
from recallseg.data.importing.source_folder import ImportOptions
from recallseg.data.palette import palette_image, voc_palette
from recallseg.data.voc import CLASSES
from recallseg.errors import RecallsegError

COLOURS = {"road": (128, 64, 128), "tree": (0, 200, 0)}


@pytest.fixture
def mask():
    labels = np.zeros((24, 32), dtype=np.uint8)
    labels[:12, :16] = 1
    labels[12:, 16:] = 2
    return labels


def put(root, mask, photo="images/a.png", at="masks/a.png", **saving):
    save(Image.new("RGB", (32, 24), (9, 90, 9)), root / photo)
    image = mask if isinstance(mask, Image.Image) else Image.fromarray(mask)
    path = root / at
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path, **saving)
    return root


def coloured(mask):
    return np.array([(0, 0, 0), *COLOURS.values()], dtype=np.uint8)[mask]


def back(out, split="train"):
    dataset = open_dataset("folder", split, out)
    return dataset.classes, [dataset.read_mask(row) for row in range(len(dataset))]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("c.json", json.dumps(COLOURS)),
        ("c.yaml", "road: '#804080'\ntree: [0, 200, 0]\n"),
        ("c.txt", "# names\nroad 128 64 128\n0 200 0\ttree\n"),
        ("c.txt", "# label:color_rgb:parts:actions\nroad:128,64,128::\ntree:0,200,0::\n"),
    ],
)
def test_colours_are_named_by_a_file(name, text, mask, tmp_path):
    root = put(tmp_path / "in", coloured(mask))
    (tmp_path / name).write_text(text)
    done = recallseg("data", "import", root, tmp_path / "out", "--colours", tmp_path / name)
    assert done.returncode == 0, done.stderr
    classes, [found] = back(tmp_path / "out")
    assert classes == ("background", "road", "tree")
    np.testing.assert_array_equal(found, mask)


def test_a_colour_without_a_name_is_an_error_that_tells_it(mask, tmp_path):
    root = put(tmp_path / "in", coloured(mask))
    (tmp_path / "c.txt").write_text("road 128 64 128\n")
    options = ImportOptions(colours=tmp_path / "c.txt")
    with pytest.raises(RecallsegError, match=r"no class has: \(0, 200, 0\) in 192 px"):
        import_dataset(root, tmp_path / "out", options=options)
    with pytest.raises(RecallsegError, match="give --colours FILE for RGB masks, --class NAME"):
        import_dataset(root, tmp_path / "out")
    for text, sentence in [
        ("road 1 2\n", "line 1 is 'road 1 2'"),
        ("road: [1, 2, 999]\n", "levels are 0–255"),
        ("road 1 2 3\ntree 1 2 3\n", "one colour for road and tree"),
        ("", "names no colour"),
    ]:
        (tmp_path / "c.txt").write_text(text)
        with pytest.raises(RecallsegError, match=sentence):
            import_dataset(root, tmp_path / "out", options=options)


def test_ids_without_a_name_are_told(mask, tmp_path):
    root = put(tmp_path / "in", mask)
    (root / "classes.txt").write_text("one\n")
    with pytest.raises(RecallsegError, match="no class has: 2 in 192 px"):
        import_dataset(root, tmp_path / "out")
    (root / "masks/a.png").unlink()
    Image.fromarray(mask.astype(np.int32) * 40000).save(root / "masks/a.tif")
    with pytest.raises(RecallsegError, match="numbers from 0 to 80000"):
        import_dataset(root, tmp_path / "out")


@pytest.mark.parametrize("top", [255, 1])
@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_masks_of_one_class(top, mode, mask, tmp_path):
    image = Image.fromarray((mask > 0).astype(np.uint8) * top).convert(mode)
    root = put(tmp_path / "in", image, at="masks/a_mask.png")
    recallseg("data", "import", root, tmp_path / "out", "--class", "thing")
    classes, [found] = back(tmp_path / "out")
    assert classes == ("background", "thing")
    np.testing.assert_array_equal(found, mask > 0)


@pytest.mark.parametrize("kind", ["colours", "class"])
def test_jpg_masks_are_snapped_and_the_pixels_counted(kind, mask, tmp_path):
    pixels = coloured(mask) if kind == "colours" else (mask > 0).astype(np.uint8) * 255
    root = put(tmp_path / "in", pixels, at="masks/a.jpg", quality=80)
    with Image.open(root / "masks/a.jpg") as image:
        levels = np.array(image)
    (tmp_path / "c.json").write_text(json.dumps(COLOURS))
    option = ["--class", "thing"] if kind == "class" else ["--colours", tmp_path / "c.json"]
    done = recallseg("data", "import", root, tmp_path / "out", *option)
    _, [found] = back(tmp_path / "out")
    if kind == "class":
        wrong = int(((levels > 0) & (levels < 255)).sum())
        np.testing.assert_array_equal(found, mask > 0)
    else:
        palette = np.array([(0, 0, 0), *COLOURS.values()], dtype=int)
        distances = np.square(levels[:, :, None].astype(int) - palette).sum(-1)
        wrong = int((distances.min(axis=-1) > 0).sum())
        np.testing.assert_array_equal(found, distances.argmin(axis=-1))
    assert wrong > 0
    assert f"│ {wrong} " in done.stdout
    assert "mask pixel" in done.stdout


def test_ids_in_subfolders_of_splits(mask, tmp_path):
    root = put(tmp_path / "in", mask, "images/train/a.png", "masks/train/a.png")
    put(root, mask.T[:24].copy() * 0 + 3, "images/val/a.jpg", "masks/val/a.png")
    put(root, np.full((24, 32), 255, np.uint8), "images/val/b.jpg", "masks/val/b.png")
    save(Image.new("RGB", (32, 24)), root / "images/val/alone.png")
    save(Image.new("L", (32, 24)), root / "masks/val/stray.png")
    (root / "classes.txt").write_text("one\ntwo\nthree\nnever\n")
    wide = np.full((24, 32), 3, dtype=np.uint8)
    Image.fromarray(wide).save(root / "masks/val/a.png")
    done = recallseg("data", "import", root, tmp_path / "out", "--link")
    assert "1 in train, 2 in val" in done.stdout
    assert "as no photo shows them: never" in done.stdout
    assert "has no mask" in done.stdout
    assert "has no photo" in done.stdout
    classes, [train] = back(tmp_path / "out")
    assert classes == ("background", "one", "two", "three")
    np.testing.assert_array_equal(train, mask)
    _, val = back(tmp_path / "out", "val")
    assert [found.max() for found in val] == [3, 255]
    assert (tmp_path / "out/images/images-train-a.png").is_symlink()
    assert (tmp_path / "out/val.txt").read_text() == "images-val-a\nb\n"


@pytest.mark.parametrize("kind", ["palette", "colours"])
def test_voc_masks_have_vocs_names(kind, tmp_path):
    labels = np.zeros((24, 32), dtype=np.uint8)
    labels[:8], labels[8:16], labels[20:] = 8, 12, 255
    image = palette_image(labels)
    if kind == "colours":
        image = Image.fromarray(voc_palette()[labels])
    root = put(tmp_path / "in", image, "JPEGImages/a.jpg", "SegmentationClass/a.png")
    put(root, image, "JPEGImages/b.jpg", "SegmentationClass/b.png")
    lists = root / "ImageSets/Segmentation"
    lists.mkdir(parents=True)
    for name, stems in {"train": "a", "val": "b", "trainval": "a\nb"}.items():
        (lists / f"{name}.txt").write_text(f"{stems}\n")
    report = import_dataset(root, tmp_path / "out")
    assert (report.format, report.splits) == ("voc", {"train": 1, "val": 1})
    assert set(report.never_seen) == set(CLASSES[1:]) - {"cat", "dog"}
    classes, [found] = back(tmp_path / "out", "val")
    assert classes == ("background", "cat", "dog")
    table = np.zeros(256, dtype=np.uint8)
    table[[8, 12, 255]] = 1, 2, 255
    np.testing.assert_array_equal(found, table[labels])


def test_cityscapes_keeps_what_its_benchmark_counts(tmp_path):
    labels = np.zeros((24, 32), dtype=np.uint8)
    labels[:8], labels[8:12], labels[12:16], labels[16:20] = 7, 26, 4, 33
    for split in ("train", "val", "test"):
        stem = f"{split}/aachen/aachen_000000_000019"
        put(
            tmp_path / "in",
            labels,
            f"leftImg8bit/{stem}_leftImg8bit.png",
            f"gtFine/{stem}_gtFine_labelIds.png",
        )
        save(Image.fromarray(labels), tmp_path / f"in/gtFine/{stem}_gtFine_instanceIds.png")
    report = import_dataset(tmp_path / "in", tmp_path / "out")
    assert (report.format, report.splits) == ("cityscapes", {"train": 1, "val": 1})
    assert dict(report.skips.counts) == {("photo", "is of the test split, which has no labels"): 1}
    classes, [found] = back(tmp_path / "out", "val")
    assert classes == ("background", "road", "car", "bicycle")
    table = np.full(256, 255, dtype=np.uint8)
    table[[7, 26, 33]] = 1, 2, 3
    np.testing.assert_array_equal(found, table[labels])


@pytest.mark.parametrize("orientation", range(1, 9))
def test_labels_for_the_photo_as_it_lies_in_its_file_are_turned_with_it(orientation, tmp_path):
    """Half of the photo is white; wherever EXIF turns it, the class lies on the white."""
    pixels = np.zeros((24, 32, 3), dtype=np.uint8)
    pixels[:, :9] = 255
    exif = Image.Exif()
    exif[0x0112] = orientation
    save(Image.new("RGB", (1, 1)), tmp_path / "in/images/keep.png")
    Image.fromarray(pixels).save(tmp_path / "in/images/a.png", exif=exif)
    (tmp_path / "in/images/keep.png").unlink()
    polygon = [0, 0, 9, 0, 9, 24, 0, 24]
    content = {
        "images": [{"id": 1, "file_name": "a.png", "width": 32, "height": 24}],
        "annotations": [{"image_id": 1, "category_id": 1, "segmentation": [polygon]}],
        "categories": [{"id": 1, "name": "white"}],
    }
    (tmp_path / "in/a.json").write_text(json.dumps(content))
    import_dataset(tmp_path / "in", tmp_path / "out")
    photo, mask = open_dataset("folder", "train", tmp_path / "out").read(0)
    if orientation >= 5:  # the size tells that the labels lie as the photo does in its file
        np.testing.assert_array_equal(mask, np.array(photo)[:, :, 0] // 255)
    else:  # the size cannot tell, and labels are for what people see
        np.testing.assert_array_equal(mask[:, :9], 1)
