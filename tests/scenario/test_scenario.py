import numpy as np
import pytest
from drawn import whole_voc

from recallseg.data import open_dataset
from recallseg.data.voc import CLASSES
from recallseg.errors import RecallsegError
from recallseg.files import cache_root
from recallseg.scenario import PresenceTable, Scenario, compute_presence, parse_spec, read_presence
from recallseg.scenario.build import open_scenario

COUNTS = {
    ("19-1", "disjoint"): [10034, 548],
    ("19-1", "overlapped"): [10410, 548],
    ("15-5", "disjoint"): [8437, 2145],
    ("15-5", "overlapped"): [9568, 2145],
    ("15-1", "disjoint"): [8437, 378, 299, 420, 500, 548],
    ("15-1", "overlapped"): [9568, 487, 299, 491, 500, 548],
    ("10-10", "disjoint"): [3706, 6876],
    ("10-10", "overlapped"): [6139, 6876],
    ("10-5", "disjoint"): [3706, 4731, 2145],
    ("10-5", "overlapped"): [6139, 5542, 2145],
    ("10-1", "disjoint"): [3706, 188, 868, 227, 201, 3247, 378, 299, 420, 500, 548],
    ("10-1", "overlapped"): [6139, 528, 1177, 444, 482, 3898, 487, 299, 491, 500, 548],
}

NAMES = ("background", "ant", "bee", "cat", "dog")
ROWS = {"a": [1], "b": [1, 2], "c": [2], "ad": [1, 4], "cd": [3, 4], "c3": [3], "bg": []}
TINY = PresenceTable.of([(stem, [0, *labels]) for stem, labels in ROWS.items()], len(NAMES))


def images(spec, **choices):
    return [list(step.images) for step in Scenario(spec, NAMES, TINY, **choices)]


@pytest.mark.parametrize(("spec", "setup"), COUNTS)
def test_the_fields_image_counts(spec, setup, voc_presence):
    scenario = open_scenario("voc", spec, setup=setup, presence=voc_presence)
    assert [len(step.images) for step in scenario] == COUNTS[spec, setup]


def test_who_is_in_which_step():
    assert images("2-1") == [["a", "b", "c"], ["c3"], ["ad", "cd"]]
    assert images("2-1", setup="sequential") == images("2-1")
    assert images("2-1", setup="overlapped") == [
        ["a", "b", "c", "ad"],
        ["cd", "c3"],
        ["ad", "cd"],
    ]


def test_as_written_disjoint_gives_each_photo_to_the_first_step_that_can_use_it():
    rows = {"a": [1], "ad": [1, 4], "cd": [3, 4], "d": [4]}
    table = PresenceTable.of([(s, [0, *labels]) for s, labels in rows.items()], len(NAMES))
    scenario = Scenario("2-1", NAMES, table, rule="as-written")
    assert [step.images for step in scenario] == [("a", "ad"), ("cd",), ("d",)]


def test_as_written_overlapped_starts_with_photos_of_old_classes_only():
    assert images("2-1", setup="overlapped", rule="as-written") == [
        ["a", "b", "c"],
        ["cd", "c3"],
        ["ad", "cd"],
    ]


def test_a_scenario_is_a_sequence_of_steps():
    scenario = Scenario("2-1", NAMES, TINY)
    assert len(scenario) == 3
    assert [step.index for step in scenario] == [0, 1, 2]
    assert scenario[-1].new_classes == (4,)
    assert scenario[-1].old_classes == (1, 2, 3)
    assert scenario[1:] == (scenario[1], scenario[2])
    assert [step.channels for step in scenario] == [3, 4, 5]
    assert scenario.names([1, 4]) == ["ant", "dog"]


def test_labels_of_other_steps_are_background_in_training_and_unseen_ones_void_in_evaluation():
    step = Scenario("2-1", NAMES, TINY)[1]
    mask = np.array([[0, 1, 2], [3, 4, 255]], dtype=np.uint8)
    assert step.label_table[mask].tolist() == [[0, 0, 0], [3, 0, 255]]
    assert step.evaluation_table[mask].tolist() == [[0, 1, 2], [3, 255, 255]]


def test_sequential_steps_keep_the_labels_of_old_classes():
    step = Scenario("2-1", NAMES, TINY, setup="sequential")[1]
    assert step.label_table[[0, 1, 2, 3, 4, 255]].tolist() == [0, 1, 2, 3, 0, 255]


def test_channels_follow_the_class_order():
    scenario = Scenario("2-1", NAMES, TINY, order=[3, 1, 4, 2])
    assert [scenario.names(step.new_classes) for step in scenario] == [
        ["cat", "ant"],
        ["dog"],
        ["bee"],
    ]
    assert scenario[2].evaluation_table[[0, 1, 2, 3, 4]].tolist() == [0, 2, 4, 1, 3]
    assert scenario[1].label_table[[0, 1, 2, 3, 4]].tolist() == [0, 0, 0, 0, 3]


@pytest.mark.parametrize("order", [[1, 2, 3], [1, 2, 3, 3], [0, 1, 2, 3], [2, 3, 4, 5]])
def test_a_class_order_must_be_complete(order):
    with pytest.raises(RecallsegError, match="exactly once"):
        Scenario("2-1", NAMES, TINY, order=order)


@pytest.mark.parametrize(
    ("spec", "classes", "sizes"),
    [
        ("19-1", 20, (19, 1)),
        ("15-1", 20, (15, 1, 1, 1, 1, 1)),
        ("10-2", 20, (10, 2, 2, 2, 2, 2)),
        ("17-9", 20, (17, 3)),
        ("100-50", 150, (100, 50)),
        ("100-5", 150, (100, *(5,) * 10)),
        ("50-50", 150, (50, 50, 50)),
    ],
)
def test_specs(spec, classes, sizes):
    assert parse_spec(spec, classes) == sizes


@pytest.mark.parametrize("spec", ["25-1", "20-1", "0-1", "15-0", "15", "a-b", "-1-1", "15-1-1", ""])
def test_specs_that_do_not_fit_list_what_does(spec):
    with pytest.raises(RecallsegError, match="19-1, 15-5, 15-1, 10-10"):
        parse_spec(spec, 20)


def test_a_short_last_step_is_known():
    assert Scenario("3-9", NAMES, TINY).last_step_is_short
    assert not Scenario("2-1", NAMES, TINY).last_step_is_short
    assert not Scenario("2-2", NAMES, TINY).last_step_is_short


def test_presence_is_read_from_masks_once_and_again_when_one_changes(tmp_path):
    root = whole_voc(tmp_path / "voc")
    dataset = open_dataset("voc", "train", root)
    table = compute_presence(dataset)
    assert np.flatnonzero(table.holds[6]).tolist() == [0, 7, 8]
    cached = list((cache_root() / "presence").glob("*/*.csv"))
    assert len(cached) == 1
    assert read_presence(cached[0], "train_aug", 21).stems == table.stems

    (root / "SegmentationClassAug/t07.png").write_bytes(
        (root / "SegmentationClassAug/t01.png").read_bytes()
    )
    assert np.flatnonzero(compute_presence(dataset).holds[6]).tolist() == [0, 1, 2]


def test_a_label_outside_the_classes_stops_before_training(tmp_path):
    from PIL import Image

    root = whole_voc(tmp_path / "voc")
    Image.fromarray(np.full((20, 24), 37, dtype=np.uint8)).save(
        root / "SegmentationClassAug/t05.png"
    )
    with pytest.raises(RecallsegError, match="'t05' holds the label 37"):
        compute_presence(open_dataset("voc", "train", root))


def test_a_step_without_photos_is_refused():
    table = PresenceTable.of([("a", [1])], 3)
    with pytest.raises(RecallsegError, match=r"Step 1 \(bee\) has no training photos"):
        Scenario("1-1", NAMES[:3], table)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("id,classes\na,1\n", "first line must be"),
        ("split,id,classes\nval,a,1\n", "no rows of the split 'train_aug'"),
        ("split,id,classes\ntrain_aug,a,x\n", "not a presence table"),
        ("split,id,classes\ntrain_aug,a,21\n", "holds the label 21"),
    ],
)
def test_bad_presence_tables_are_sentences(tmp_path, text, sentence):
    path = tmp_path / "presence.csv"
    path.write_text(text)
    with pytest.raises(RecallsegError, match=sentence):
        read_presence(path, "train_aug", 21)


def test_every_named_class_order_is_by_name(voc_presence):
    names = [*reversed(CLASSES[1:])]
    scenario = open_scenario("voc", "19-1", order=names, presence=voc_presence)
    assert scenario.names(scenario[1].new_classes) == ["aeroplane"]
    with pytest.raises(RecallsegError, match="Unknown classes in the order: zebra"):
        open_scenario("voc", "19-1", order=["zebra"], presence=voc_presence)


def test_unknown_setup_and_rule_list_the_known_ones():
    with pytest.raises(RecallsegError, match="Known: disjoint, overlapped, sequential"):
        Scenario("2-1", NAMES, TINY, setup="mixed")
    with pytest.raises(RecallsegError, match="Known: standard, as-written"):
        Scenario("2-1", NAMES, TINY, rule="other")
