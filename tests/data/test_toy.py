"""The drawn world: the same on every machine, every class in it, masks that are exact."""

import hashlib
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from recallseg.cli.main import app
from recallseg.config import RunConfig
from recallseg.data import kind_of, open_dataset
from recallseg.data.check import check_dataset
from recallseg.data.toy import scenes, writing
from recallseg.data.toy.canvas import Canvas
from recallseg.data.toy.dice import Dice
from recallseg.data.toy.kit import Thing, direction
from recallseg.data.toy.portraits import SUBJECTS, TWINS, draw_plate, draw_snapshot
from recallseg.data.toy.scenes import CONFUSABLE, PLACES, THINGS, draw_scene
from recallseg.data.toy.studio import Picture, Spot, Style
from recallseg.data.toy.writing import drawn_world, write_pictures, write_scenes
from recallseg.data.voc import CLASSES
from recallseg.errors import RecallsegError
from recallseg.gan.training.images import ClassFolder
from recallseg.labels import VOID
from recallseg.scenario.presence import compute_presence

MANY = 160
PLAIN = Style(key=9, paints=((200, 60, 50),), relief=0, grain=0, shadow=0)
BRICK = Thing("brick", 1.0, lambda pen, dice: pen.box(0, 0, 1, 1, (200, 40, 30)), grain=0)


@pytest.fixture(scope="module")
def drawn():
    return [draw_scene(0, number) for number in range(MANY)]


def digest(*arrays) -> str:
    joined = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)
    return hashlib.sha256(joined).hexdigest()[:16]


@pytest.mark.parametrize(
    ("drawing", "expected"),
    [
        (lambda: draw_scene(0, 0), "2a020608d9b333c3"),
        (lambda: draw_scene(0, 12), "c895856b8da02899"),
        (lambda: draw_scene(3, 47, split=1), "43787ab2db815bd3"),
        (lambda: [draw_snapshot(0, 5, ("cow", "train"), (160, 120))], "a16404cba298c805"),
        (lambda: [draw_plate(0, "tabby", 2)], "1bb4315e1864b058"),
    ],
)
def test_a_drawing_is_the_same_byte_for_byte_on_every_machine(drawing, expected):
    assert digest(*drawing()) == expected


def test_other_seeds_splits_and_numbers_are_other_scenes():
    seen = [digest(*draw_scene(*key)) for key in ((0, 4), (1, 4), (0, 24))]
    assert len({*seen, digest(*draw_scene(0, 4, split=1))}) == 4


def test_a_larger_scene_is_the_same_scene():
    small, large = (draw_scene(0, 21, size)[1] for size in ((144, 112), (288, 224)))
    assert set(np.unique(small)) == set(np.unique(large))
    shares = [np.mean(mask == 14) if 14 in mask else np.mean(mask == 0) for mask in (small, large)]
    assert shares[0] == pytest.approx(shares[1], abs=0.03)


def test_every_class_is_seen_often_and_large_enough_to_learn(drawn):
    seen, areas, classes_in = Counter(), {}, []
    for _, mask in drawn:
        counts = np.bincount(mask.ravel(), minlength=256)
        labels = np.flatnonzero(counts[1:21]) + 1
        classes_in.append(len(labels))
        seen.update(labels.tolist())
        for label in labels:
            areas.setdefault(int(label), []).append(counts[label] / mask.size)
    assert min(seen[label] for label in range(1, 21)) >= 0.05 * MANY
    assert max(seen.values()) <= 0.35 * MANY
    assert all(0.04 < np.mean(areas[label]) < 0.25 for label in range(1, 21))
    assert np.mean(np.concatenate(list(areas.values())) > 0.03) > 0.9
    assert np.median(classes_in) == 2


def test_classes_are_seen_together_across_steps(drawn):
    together = Counter()
    for _, mask in drawn:
        labels = [label for label in np.unique(mask) if 0 < label < VOID]
        together.update(combinations([CLASSES[label] for label in labels], 2))
    for pair in (
        ("horse", "person"),
        ("chair", "diningtable"),
        ("sofa", "tvmonitor"),
        ("cow", "sheep"),
        ("person", "train"),
        ("cat", "pottedplant"),
    ):
        assert together[pair] >= 2, pair


def test_confusable_classes_live_in_the_same_places():
    for one, other in CONFUSABLE:
        assert any({one, other} <= place.inhabitants.keys() for place in PLACES), (one, other)


def test_void_is_a_line_around_things(drawn):
    for photo, mask in drawn[:60]:
        assert photo.shape == (*mask.shape, 3)
        void = np.pad(mask == VOID, 1)
        blocks = np.lib.stride_tricks.sliding_window_view(void, (3, 3)).all(axis=(2, 3))
        assert not blocks.any()
        things = np.pad((mask > 0) & (mask < VOID), 1)
        beside = things[:-2, 1:-1] | things[2:, 1:-1] | things[1:-1, :-2] | things[1:-1, 2:]
        assert np.mean(beside[mask == VOID]) > 0.9
        assert 0 < np.mean(mask == VOID) < 0.09


def test_a_mask_is_where_the_colour_is():
    picture = Picture(Image.new("RGB", (80, 60), (20, 90, 200)), PLAIN, Dice(2))
    picture.add(BRICK, Spot(40, 50, 30, floats=True), 7, Dice(1))
    photo, mask = picture.photo().astype(int), picture.mask()
    inside, outside = photo[mask == 7], photo[mask == 0]
    assert abs(int((mask == 7).sum()) - 900) <= 60
    assert abs(int((mask == VOID).sum()) - 120) <= 8
    assert (inside[:, 0] > 160).all()
    assert (inside[:, 2] < 60).all()
    touched = (np.abs(outside - (20, 90, 200)) > 4).any(axis=1)
    assert touched.sum() <= 4, "only corners of the void line"


def test_the_nearer_thing_takes_the_pixels_and_clutter_gives_them_back():
    picture = Picture(Image.new("RGB", (80, 60)), PLAIN, Dice(2))
    picture.add(BRICK, Spot(30, 50, 30, floats=True), 7, Dice(1))
    picture.add(BRICK, Spot(45, 50, 30, floats=True), 3, Dice(1))
    mask = picture.mask()
    assert (mask[30, 20], mask[30, 40], mask[30, 55]) == (7, 3, 3)
    assert mask[30, 29] == VOID
    picture.add(BRICK, Spot(60, 50, 30, floats=True), 0, Dice(1))
    mask = picture.mask()
    assert (mask[30, 40], mask[30, 55]) == (3, 0)


def inside(corners, x: float, y: float) -> bool:
    """Whether a line to the right of a point crosses the outline an odd number of times."""
    odd = False
    for (x0, y0), (x1, y1) in zip(corners, corners[1:] + corners[:1], strict=True):
        if (y0 > y) != (y1 > y) and x < x0 + (y - y0) * (x1 - x0) / (y1 - y0):
            odd = not odd
    return odd


def test_a_polygon_is_the_pixels_whose_centre_is_inside():
    dice = Dice(8)
    for count in (3, 4, 5, 9):
        corners = [(dice.below(40) - 8, dice.below(32) - 6) for _ in range(count)]
        canvas = Canvas(24, 20)
        canvas.polygon(corners, (1, 2, 3, 255))
        filled = np.asarray(canvas.image())[..., 3] == 255
        expected = [[inside(corners, x + 0.5, y + 0.5) for x in range(24)] for y in range(20)]
        assert np.mean(filled != np.array(expected)) < 0.01
    canvas = Canvas(6, 5)
    canvas.polygon([(1, 1), (5, 1), (5, 3), (1, 3)], (9, 8, 7, 255))
    canvas.box(-2, 3, 3, 9, (9, 8, 7, 255))
    assert np.argwhere(np.asarray(canvas.image())[..., 0] == 9).tolist() == [
        *([row, column] for row in (1, 2) for column in range(1, 5)),
        *([row, column] for row in (3, 4) for column in range(3)),
    ]


def test_directions_are_those_of_the_circle():
    for turn in np.linspace(-1, 1, 41):
        expected = np.cos(2 * np.pi * turn), np.sin(2 * np.pi * turn)
        assert direction(float(turn)) == pytest.approx(expected, abs=1e-3)


def test_dice_are_fair():
    dice = Dice(5)
    rolls = Counter(dice.below(6) for _ in range(6000))
    assert all(850 < rolls[face] < 1150 for face in range(6))
    drawn = Counter(dice.weighted({"a": 3, "b": 1, "c": 0}) for _ in range(4000))
    assert drawn["a"] == pytest.approx(3000, abs=120)
    assert "c" not in drawn
    assert sorted(dice.shuffled(range(9))) == list(range(9))


@pytest.fixture
def small_world(monkeypatch):
    monkeypatch.setattr(writing, "COUNTS", {"train": 10, "val": 3})


def test_the_dataset_needs_no_files_and_is_drawn_once(small_world, monkeypatch):
    name = RunConfig.model_validate({"data": {"name": "toy"}}).data.name
    train, val = open_dataset(name, "train"), open_dataset(name, "val")
    assert (len(train), len(val)) == (10, 3)
    assert train.classes == CLASSES == kind_of("toy").fixed_classes
    photo, mask = train.read(3)
    expected = draw_scene(0, 3)
    assert np.array_equal(np.asarray(photo), expected[0])
    assert np.array_equal(mask, expected[1])
    assert np.array_equal(val.read(0)[1], draw_scene(0, 0, split=1)[1])
    monkeypatch.setattr(writing, "draw_scene", None)
    assert open_dataset(name, "train").pairs == train.pairs


def test_presence_comes_from_the_masks(small_world):
    train = open_dataset("toy", "train")
    table = compute_presence(train)
    for row, stem in enumerate(table.stems):
        assert stem == train.pairs[row].stem
        seen = [label for label in np.unique(train.read(row)[1]) if label < VOID]
        assert np.flatnonzero(table.holds[row]).tolist() == seen


def test_a_start_that_breaks_leaves_nothing_that_is_trusted(small_world, monkeypatch):
    def breaks(seed, number, *rest):
        if number == 7:
            raise KeyboardInterrupt
        return draw_scene(seed, number, *rest)

    monkeypatch.setattr(writing, "draw_scene", breaks)
    with pytest.raises(KeyboardInterrupt):
        drawn_world()
    monkeypatch.setattr(writing, "draw_scene", draw_scene)
    assert len(open_dataset("toy", "train")) == 10


def test_two_starts_at_once_end_with_one_world(small_world, monkeypatch):
    def other_process_first(*key):
        monkeypatch.setattr(writing, "draw_scene", draw_scene)
        drawn_world()
        return draw_scene(*key)

    monkeypatch.setattr(writing, "draw_scene", other_process_first)
    assert len(list((drawn_world() / "images").iterdir())) == 13


def test_chosen_classes_are_all_that_a_written_dataset_has(tmp_path):
    write_scenes(tmp_path / "new", {"train": 6}, classes=("train", "sheep"))
    assert (tmp_path / "new/classes.txt").read_text().split() == ["background", "sheep", "train"]
    dataset = open_dataset("folder", "train", tmp_path / "new")
    assert [pair.stem for pair in dataset.pairs][:3] == [
        "train-00016",
        "train-00018",
        "train-00036",
    ]
    labels = {int(label) for row in range(6) for label in np.unique(dataset.read(row)[1])}
    assert labels == {0, 1, 2, VOID}
    with pytest.raises(RecallsegError, match="exists already"):
        write_scenes(tmp_path / "new", {"train": 1})
    with pytest.raises(RecallsegError, match="Unknown class 'zebra'"):
        write_scenes(tmp_path / "other", {"train": 1}, classes=("zebra",))


def test_a_generator_has_twins_of_our_classes_under_other_names(tmp_path):
    assert list(TWINS) == list(CLASSES[1:])
    assert len(SUBJECTS) == 40
    assert not set(SUBJECTS) & set(CLASSES)
    for ours, theirs in TWINS.items():
        assert SUBJECTS[theirs] is THINGS[ours]
    assert write_pictures(tmp_path / "pictures", 2, side=32) == 80
    opened = ClassFolder.open(tmp_path / "pictures")
    assert opened.names == tuple(SUBJECTS)
    assert opened.read(32).shape == (80, 3, 32, 32)


def test_every_thing_stays_in_its_box():
    for thing in (*THINGS.values(), *SUBJECTS.values()):
        backdrop = Image.new("RGB", (200, 120))
        picture = Picture(backdrop, PLAIN, Dice(2))
        picture.add(thing, Spot(100, 90, 60, floats=True), 1, Dice(3))
        rows, columns = np.nonzero(picture.mask() == 1)
        assert rows.min() >= 22, thing.name
        assert 84 <= rows.max() <= 96, thing.name
        assert abs(columns.min() + columns.max() - 200) < 14, thing.name


def test_commands_write_a_sheet_and_datasets(tmp_path):
    def run(*words):
        result = CliRunner().invoke(app, ["toy", *map(str, words)])
        assert result.exit_code == 0, result.output
        return result.stdout

    run("sheet", tmp_path / "sheet.png", "--rows", 1, "--zoom", 1)
    with Image.open(tmp_path / "sheet.png") as sheet:
        assert sheet.size == (1188, 352)
    told = run("write", tmp_path / "data", "--count", 20, "--split", "train,val")
    assert told.strip().endswith("20 in train, 20 in val")
    assert check_dataset(tmp_path / "data").defects == ()
    told = run("pictures", tmp_path / "few", "--per-class", 1, "--classes", "tabby,oak")
    assert told.strip().endswith("2 pictures")


def test_a_scene_of_every_main_class_holds_it():
    for number, name in enumerate(scenes.MAINS):
        assert CLASSES.index(name) in draw_scene(0, number)[1], name
