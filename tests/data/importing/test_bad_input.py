"""Annotation files that are wrong or hostile: one sentence, and nothing is written."""

import json
from base64 import b64encode

import numpy as np
import pytest
from commands import recallseg
from PIL import Image

from recallseg.data.importing.importer import import_dataset
from recallseg.data.importing.source_folder import ImportOptions
from recallseg.errors import RecallsegError

SQUARE = [2, 2, 10, 2, 10, 8, 2, 8]


def photo(path, size=(20, 10)):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, (90, 90, 90)).save(path)


def coco(root, *annotations, **image):
    """A COCO dataset of one photo."""
    photo(root / "images/a.png")
    defaults = {"id": 1, "image_id": 1, "category_id": 1, "segmentation": [SQUARE]}
    content = {
        "images": [{"id": 1, "file_name": "a.png", "width": 20, "height": 10} | image],
        "annotations": [defaults | annotation for annotation in annotations or ({},)],
        "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
    }
    (root / "a.json").write_text(json.dumps(content))
    return root


def rle(counts, size=(10, 20)):
    return {"segmentation": {"counts": counts, "size": size}}


@pytest.mark.parametrize(
    ("annotation", "image", "sentence"),
    [
        ({}, {"width": 40}, r"labels of .*a\.png are for 40×10 px but it has 20×10 px"),
        ({}, {"file_name": "../../outside.png"}, "outside of .*--images"),
        ({}, {"file_name": "/etc/outside.png"}, "outside of .*--images"),
        ({}, {"file_name": 5}, r"not as expected at 'images\.0\.file_name'"),
        (rle([200, 1]), {}, "201 pixels stand for a mask of 20×10"),
        (rle([-5, 205]), {}, "must add up"),
        (rle("0~~~"), {}, "cannot stand in compressed run lengths"),
        (rle("h"), {}, "in the middle of a number"),
        (rle([4], (2, 2)), {}, "2×2 px belong to a photo of 20×10 px"),
        (rle([10**12], (10**6, 10**6)), {}, "belong to a photo of 20×10"),
        ({"segmentation": [[float("nan")] * 6]}, {}, "finite number"),
        ({"segmentation": [["x"] * 6]}, {}, "valid number"),
    ],
)
def test_coco_files_that_make_no_sense(annotation, image, sentence, tmp_path):
    photo(tmp_path / "outside.png")
    root = coco(tmp_path / "in/dataset", annotation, **image)
    with pytest.raises(RecallsegError, match=sentence):
        import_dataset(root, tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "outside.png"]


def test_what_cannot_be_drawn_is_counted_by_reason(tmp_path):
    root = coco(
        tmp_path / "in",
        {},
        {"id": 2, "category_id": 9},
        {"id": 3, "image_id": 7},
        {"id": 4, "segmentation": [[1, 1, 2, 2]], "bbox": [0, 0, 2, 2]},
        {"id": 5, "segmentation": [], "bbox": [0, 0, 2, 2]},
        {"id": 6, "segmentation": [[-9, -9, -3, -9, -3, -3]]},
    )
    content = json.loads((root / "a.json").read_text())
    content["images"].append({"id": 2, "file_name": "gone.png"})
    content["annotations"].append({"image_id": 2, "category_id": 2, "segmentation": [SQUARE]})
    (root / "a.json").write_text(json.dumps(content))
    done = recallseg("data", "import", root, tmp_path / "out")
    assert done.returncode == 0
    rows = [
        [cell.strip() for cell in line.strip("│").split("│")]
        for line in done.stdout.splitlines()
        if line.startswith("│")
    ]
    assert {(row[0], row[1], row[2]) for row in rows} == {
        ("1", "object", "its category is not in the file"),
        ("1", "object", "its photo is not in the file"),
        ("2", "object", "has no outline, only a box (--boxes fills it)"),
        ("1", "object", "covers no pixel of the photo"),
        ("1", "object", "its photo is missing"),
        ("1", "photo", "there is no such file"),
    }
    assert (tmp_path / "out/classes.txt").read_text() == "background\ncat\n"


def test_photos_elsewhere_are_found_with_images(tmp_path):
    root = coco(tmp_path / "labels", file_name="..\\photos\\b.png")
    photo(tmp_path / "photos/b.png")
    with pytest.raises(RecallsegError, match="--images"):
        import_dataset(root, tmp_path / "out")
    options = ImportOptions(images=tmp_path / "photos")
    import_dataset(root / "a.json", tmp_path / "out", options=options)
    assert (tmp_path / "out/images/b.png").is_file()


def test_nothing_usable_and_nothing_known(tmp_path):
    root = coco(tmp_path / "in", file_name="gone.png")
    with pytest.raises(
        RecallsegError, match=r"No photo of .* can be used \(photo there is no such"
    ):
        import_dataset(root, tmp_path / "out")
    (tmp_path / "empty").mkdir()
    with pytest.raises(RecallsegError, match=r"no format that can be imported: coco \(COCO JSON\)"):
        import_dataset(tmp_path / "empty", tmp_path / "out")
    with pytest.raises(RecallsegError, match="does not exist"):
        import_dataset(tmp_path / "gone", tmp_path / "out")
    with pytest.raises(RecallsegError, match=r"Unknown format 'svg'\. Known: coco, yolo"):
        import_dataset(root, tmp_path / "out", format="svg")
    with pytest.raises(RecallsegError, match="exists already"):
        import_dataset(root, tmp_path / "empty")
    (tmp_path / "cvat.zip").write_bytes(b"PK")
    with pytest.raises(RecallsegError, match="is an archive; unpack it"):
        import_dataset(tmp_path / "cvat.zip", tmp_path / "out")
    (root / "a.json").write_text("{")
    with pytest.raises(RecallsegError, match=r"a\.json is not JSON"):
        import_dataset(root, tmp_path / "out")


LAUGHS = """<?xml version="1.0"?>
<!DOCTYPE annotations [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<annotations><version>1.1</version><meta/>
<image id="0" name="&b;" width="1" height="1"/></annotations>
"""
OUTSIDE = LAUGHS.replace('"ha"', 'SYSTEM "file:///etc/hostname"').replace("&b;", "&a;")


@pytest.mark.parametrize("text", [LAUGHS, OUTSIDE])
def test_xml_with_entities_is_refused(text, tmp_path):
    (tmp_path / "annotations.xml").write_text(text)
    with pytest.raises(RecallsegError, match="has a DOCTYPE"):
        import_dataset(tmp_path, tmp_path / "out")


def cvat(root, shapes):
    photo(root / "images/a.png")
    (root / "annotations.xml").write_text(
        "<annotations><version>1.1</version><meta><job/></meta>"
        f'<image id="0" name="a.png" width="20" height="10">{shapes}</image></annotations>'
    )
    return root


@pytest.mark.parametrize(
    ("shape", "sentence"),
    [
        ('<polygon label="cat" points="1,2;x,4;5,6"/>', "not as expected at 'points.2'"),
        ('<polygon points="1,2;3,4;5,6"/>', "not as expected at 'label'"),
        ('<mask label="cat" rle="1, 2" left="0" top="0" width="9" height="9"/>', "add up to its"),
        ('<mask label="cat" rle="9" left="0" top="0" width="-3" height="-3"/>', "'width'"),
        ('<box label="../cat" xtl="0" ytl="0" xbr="5" ybr="5"/>', "begin with a letter"),
    ],
)
def test_cvat_files_that_make_no_sense(shape, sentence, tmp_path):
    root = cvat(tmp_path / "in", shape)
    with pytest.raises(RecallsegError, match=sentence):
        import_dataset(root, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_cvat_orders_turns_and_counts(tmp_path):
    """The ellipse is over the box by its z_order; the box is turned by a right angle."""
    root = cvat(
        tmp_path / "in",
        '<ellipse label="dog" cx="6" cy="5" rx="2" ry="2" z_order="1"/>'
        '<box label="cat" xtl="2" ytl="4" xbr="10" ybr="6" rotation="90.0" z_order="0"/>'
        '<polyline label="cat" points="1,2;3,4"/><points label="cat" points="1,2"/>',
    )
    report = import_dataset(root, tmp_path / "out")
    with Image.open(tmp_path / "out/masks/a.png") as image:
        mask = np.array(image)
    expected = np.zeros((10, 20), dtype=np.uint8)
    expected[1:9, 5:7] = 1
    expected[3:7, 5:7] = expected[4:6, 4:8] = 2
    dog = (tmp_path / "out/classes.txt").read_text().split().index("dog")
    np.testing.assert_array_equal(mask, np.array([0, 3 - dog, dog], dtype=np.uint8)[expected])
    assert set(report.skips.counts.values()) == {1}
    assert len(report.skips.counts) == 2


def yolo(root, lines, yaml="train: images\nnames: [cat, dog]\n"):
    photo(root / "images/a.png")
    (root / "labels").mkdir()
    (root / "labels/a.txt").write_text(lines)
    (root / "data.yaml").write_text(yaml)
    return root


@pytest.mark.parametrize(
    ("lines", "yaml", "sentence"),
    [
        ("0 0.1 0.1 0.5 x 0.5 0.5", None, "a.txt, line 1 is not a class number and pairs"),
        ("0 0.1 0.1 0.5 0.1 0.5 0.5 0.3", None, "pairs of coordinates"),
        ("\n7 0.1 0.1 0.5 0.1 0.5 0.5", None, "line 2 has the class 7; data.yaml names 0 to 1"),
        ("0 1 1 50 1 50 50", None, "outside of 0–1"),
        ("0 0 0 1 0 nan 1", None, "outside of 0–1"),
        ("", "train: ../../photos\nnames: [cat]\n", "names '../../photos', which is not in"),
        ("", "train: images\nnames: 5\n", "not as expected at 'names"),
        ("", "train: images\nnames: !!python/object/apply:os.system ['x']\n", "is not YAML"),
        ("", f"a: &a {['x'] * 9}\nb: &b [*a, *a]\nnames: [*b]\ntrain: x\n", "has an alias"),
    ],
)
def test_yolo_files_that_make_no_sense(lines, yaml, sentence, tmp_path):
    photo(tmp_path / "photos/a.png")
    root = yolo(tmp_path / "in/deep", lines, *([yaml] if yaml else []))
    with pytest.raises(RecallsegError, match=sentence):
        import_dataset(root, tmp_path / "out", format="yolo")
    assert not (tmp_path / "out").exists()


def test_labelme_masks_are_pngs(tmp_path):
    photo(tmp_path / "in/a.png")
    shape = {"label": "cat", "shape_type": "mask", "points": [[0, 0], [1, 1]], "mask": "AAAA"}
    content = {"shapes": [shape], "imagePath": "a.png", "imageWidth": 20, "imageHeight": 10}
    (tmp_path / "in/a.json").write_text(json.dumps(content))
    with pytest.raises(RecallsegError, match="not a PNG in base64"):
        import_dataset(tmp_path / "in", tmp_path / "out")


def test_two_formats_in_one_folder_must_be_chosen_from(tmp_path):
    root = yolo(coco(tmp_path / "in"), "0 0.1 0.2 0.5 0.2 0.5 0.8 0.1 0.8")
    with pytest.raises(RecallsegError, match="looks like coco and like yolo; choose with --format"):
        import_dataset(root, tmp_path / "out")
    assert import_dataset(root, tmp_path / "out", format="yolo").format == "yolo"


def test_a_photo_that_is_too_large_is_refused_by_its_header(tmp_path, monkeypatch):
    monkeypatch.setattr("recallseg.data.importing.photo_files.MOST_PIXELS", 100)
    with pytest.raises(RecallsegError, match="20×10 px; at most"):
        import_dataset(coco(tmp_path / "in"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rle": [0, 0, 0, 4]}, "end too early"),
        ({"rle": [0] * 9}, "0 packed values do not make 20×10 px"),
        ({"rle": [300]}, "is broken"),
        ({"width": 5}, "without the size of its photo"),
    ],
)
def test_brush_masks_that_make_no_sense(change, sentence, tmp_path):
    photo(tmp_path / "in/a.png")
    sizes = {} if "width" in change else {"original_width": 20, "original_height": 10}
    result = {"type": "brushlabels", "value": {"brushlabels": ["cat"]} | change} | sizes
    task = {"data": {"image": "a.png"}, "annotations": [{"result": [result]}]}
    (tmp_path / "in/tasks.json").write_text(json.dumps([task]))
    with pytest.raises(RecallsegError, match=sentence):
        import_dataset(tmp_path / "in", tmp_path / "out")


def test_labelme_files_may_hold_their_photo(tmp_path):
    photo(tmp_path / "photo.png")
    data = b64encode((tmp_path / "photo.png").read_bytes()).decode()
    shape = {"label": "cat", "shape_type": "rectangle", "points": [[2, 2], [10, 8]]}
    content = {"shapes": [shape], "imagePath": "..\\elsewhere\\b.jpg", "imageData": data}
    (tmp_path / "in").mkdir()
    (tmp_path / "in/b.json").write_text(json.dumps(content))
    import_dataset(tmp_path / "in", tmp_path / "out", link=True)
    assert (tmp_path / "out/images/b.png").read_bytes() == (tmp_path / "photo.png").read_bytes()
    for broken, sentence in {"?": "not in base64", "AAAA": "there is no such file"}.items():
        (tmp_path / "in/b.json").write_text(json.dumps(content | {"imageData": broken}))
        with pytest.raises(RecallsegError, match=sentence):
            import_dataset(tmp_path / "in", tmp_path / "new")
