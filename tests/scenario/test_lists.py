"""Lists of photos per step, as peers ship them."""

from pathlib import Path

import numpy as np
import pytest
from drawn import write_voc
from tiny import STEPS

from recallseg.data import open_dataset
from recallseg.data.kinds import FIT
from recallseg.errors import RecallsegError
from recallseg.files import write_text
from recallseg.scenario import PresenceTable, Scenario
from recallseg.scenario.build import open_scenario
from recallseg.scenario.lists import lists_key, read_lists

STEMS = ("2007_000032", "2007_000039", "2008_000008", "2008_000015")


def save(path, values):
    path.parent.mkdir(exist_ok=True)
    np.save(path, np.array(values))


@pytest.mark.parametrize(
    "line",
    [
        "2007_000039",
        "2007_000039.jpg",
        "JPEGImages/2007_000039.jpg",
        "/JPEGImages/2007_000039.jpg /SegmentationClassAug/2007_000039.png",
        "JPEGImages\\2007_000039.jpg\tSegmentationClassAug\\2007_000039.png",
        "1",
    ],
)
def test_a_line_is_a_photo_however_peers_write_it(tmp_path, line):
    write_text(tmp_path / "step_0.txt", f"{line}\r\n\r\n")
    assert read_lists(tmp_path, 1, STEMS) == [{"2007_000039"}]


@pytest.mark.parametrize(
    "values",
    [
        [3, 0],
        np.array([3, 0], dtype=np.uint16),
        ["2008_000015", "2007_000032.jpg"],
        np.array([b"2008_000015", b"2007_000032"]),
    ],
)
def test_an_array_is_indices_or_names(tmp_path, values):
    save(tmp_path / "train-0.npy", values)
    save(tmp_path / "train-1.npy", [1])
    found = read_lists(tmp_path, 2, STEMS)
    assert found == [{"2007_000032", "2008_000015"}, {"2007_000039"}]


def test_numbers_are_names_where_photos_are_called_so(tmp_path):
    write_text(tmp_path / "0.txt", "000001\n000002\n")
    assert read_lists(tmp_path, 1, ("000002", "000003", "000001")) == [{"000001", "000002"}]
    write_text(tmp_path / "0.txt", "1\n2\n")
    assert read_lists(tmp_path, 1, ("000002", "000003", "000001")) == [{"000003", "000001"}]
    assert read_lists(tmp_path, 1, ("2", "3", "1")) == [{"2", "1"}]


def test_names_may_have_spaces_and_points(tmp_path):
    write_text(tmp_path / "0.txt", "my mug.jpg\nv1.2\n")
    assert read_lists(tmp_path, 1, ("my mug", "v1.2", "my")) == [{"my mug", "v1.2"}]


def test_lists_of_other_splits_may_lie_beside_those_of_training(tmp_path):
    save(tmp_path / "train-0.npy", [0])
    save(tmp_path / "val-0.npy", [1])
    save(tmp_path / "test_on_val-0.npy", [2])
    write_text(tmp_path / "README.txt", "hello")
    assert read_lists(tmp_path, 1, STEMS) == [{"2007_000032"}]


def test_a_step_number_is_the_whole_number_at_the_end(tmp_path):
    for step in range(11):
        save(tmp_path / f"train-{step}.npy", [step])
    stems = [f"p{number}" for number in range(11)]
    assert read_lists(tmp_path, 11, stems) == [{stem} for stem in stems]


WRONG = [
    ({"train-1.npy": [0]}, r"has no list of step 0; expected .* steps 0 to 1, .* train-0\.npy"),
    ({"train-0.npy": [0]}, "has no list of step 1"),
    ({"a-0.npy": [0], "b0.npy": [1], "1.npy": [0]}, r"several lists of step 0: a-0\.npy, b0\.npy"),
    (
        {"0.npy": [0], "1.npy": [1], "2.npy": [2]},
        r"has 2\.npy, but .* steps are 0 to 1",
    ),
    ({"0.npy": [0], "1.npy": [4]}, "has the index 4; the training split's 4 photos are 0 to 3"),
    ({"0.npy": [-1], "1.npy": [1]}, "has the index -1"),
    ({"0.npy": [2, 1, 2], "1.npy": [1]}, "has '2008_000008' 2 times"),
    ({"0.npy": np.array([], int), "1.npy": [1]}, r"0\.npy is empty"),
    ({"0.txt": "\n \n", "1.npy": [1]}, r"0\.txt is empty"),
    (
        {"0.txt": "2007_000032\n2007_000099.jpg", "1.npy": [1]},
        "'2007_000099.jpg', which is",
    ),
    ({"0.txt": "2007_000032\n1", "1.npy": [1]}, "names '1', which is no photo"),
    ({"0.txt": "0 1\n", "1.npy": [1]}, "names '0 1', which is no photo"),
    ({"0.npy": [0.0], "1.npy": [1]}, r"no row of whole numbers or names, .* \(1,\) .* float64"),
    ({"0.npy": [[0]], "1.npy": [1]}, r"shape \(1, 1\)"),
    ({"0.npy": [True], "1.npy": [1]}, "type bool"),
    ({"0.npy": np.array([{}]), "1.npy": [1]}, r"0\.npy cannot be read: .*pickle"),
]


@pytest.mark.parametrize(("files", "sentence"), WRONG)
def test_what_is_wrong_with_lists_is_one_sentence(tmp_path, files, sentence):
    for name, values in files.items():
        if isinstance(values, str):
            write_text(tmp_path / name, values)
        else:
            save(tmp_path / name, values)
    with pytest.raises(RecallsegError, match=sentence) as caught:
        read_lists(tmp_path, 2, STEMS)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"not an array", b"PK\x03\x04 broken"])
def test_files_that_cannot_be_read_are_sentences(tmp_path, content):
    (tmp_path / "train-0.npy").write_bytes(content)
    with pytest.raises(RecallsegError, match=r"train-0\.npy cannot be read: "):
        read_lists(tmp_path, 1, STEMS)
    with pytest.raises(RecallsegError, match="is no folder of lists"):
        read_lists(tmp_path / "gone", 1, STEMS)


def test_text_that_is_not_utf_8_is_refused(tmp_path):
    (tmp_path / "train-0.txt").write_bytes("café".encode("latin-1"))
    with pytest.raises(RecallsegError, match=r"train-0\.txt cannot be read"):
        read_lists(tmp_path, 1, STEMS)


NAMES = ("background", "ant", "bee", "cat")
TABLE = PresenceTable.of([("a", [0, 1]), ("b", [0, 2, 1]), ("c", [3, 1]), ("d", [0])], len(NAMES))


def test_a_scenario_takes_its_photos_from_the_lists_and_masks_as_its_setup_says():
    lists = [{"c", "a"}, {"b", "d"}, {"c"}]
    for setup in ("disjoint", "overlapped", "sequential"):
        scenario = Scenario("1-1", NAMES, TABLE, setup=setup, lists=lists)
        assert [step.images for step in scenario] == [("a", "c"), ("b", "d"), ("c",)]
        assert [scenario.photos_without_new_classes(step) for step in scenario] == [0, 1, 0]
        by_rule = Scenario("1-1", NAMES, TABLE, setup=setup, rule="as-written", past=3)
        for step, ruled in zip(scenario, by_rule, strict=True):
            assert (step.label_table == ruled.label_table).all()
    assert scenario[1].label_table[:4].tolist() == [0, 1, 2, 0]
    assert scenario.merged()[0].images == ("a", "b", "c", "d")


def test_a_list_that_shows_nothing_of_its_step_is_refused():
    with pytest.raises(RecallsegError, match="None of the 2 photos in the list of step 1 shows"):
        Scenario("1-1", NAMES, TABLE, lists=[{"a"}, {"a", "d"}, {"c"}])


def test_the_hash_is_of_what_lists_hold(tmp_path):
    for folder, name in (("one", "train-{}.npy"), ("two", "list{}.npy")):
        for step in range(2):
            save(tmp_path / folder / name.format(step), [step, 2])
    assert lists_key(tmp_path / "one") == lists_key(tmp_path / "two")
    save(tmp_path / "two/list1.npy", [1, 3])
    assert lists_key(tmp_path / "one") != lists_key(tmp_path / "two")
    one = Scenario("1-2", NAMES, TABLE, lists=[["a", "b"], ["b"]])
    same = Scenario("1-2", NAMES, TABLE, lists=[["b", "a"], ["b"]])
    other = Scenario("1-2", NAMES, TABLE, lists=[["a"], ["b"]])
    assert one.lists_key == same.lists_key != other.lists_key
    assert Scenario("1-1", NAMES, TABLE, past=3).lists_key is None


def test_indices_count_the_photos_of_the_list_on_disk(tmp_path):
    """VOC's order is that of train_aug.txt, not of names."""
    steps = {"train_aug": {"z": [1, 2], "a": [20], "m": [1]}, "val": {"v": [1]}}
    root = write_voc(tmp_path / "voc", steps)
    save(tmp_path / "lists/train-0.npy", [0, 2])
    save(tmp_path / "lists/train-1.npy", [1])
    scenario = open_scenario("voc", "19-1", lists=tmp_path / "lists", root=root)
    assert [step.images for step in scenario] == [("z", "m"), ("a",)]


def test_photos_that_are_held_out_leave_the_lists(tmp_path):
    """`tune` photos are part of the split that indices count, and are not learned from."""
    root = write_voc(tmp_path / "voc", STEPS)
    whole = open_dataset("voc", "train", root)
    fit = {pair.stem for pair in open_dataset("voc", FIT, root).pairs}
    stems = [pair.stem for pair in whole.pairs]
    shows_last = [row for row, stem in enumerate(stems) if stem.startswith("c20")]
    save(
        tmp_path / "lists/train-0.npy", [row for row in range(len(stems)) if row not in shows_last]
    )
    save(tmp_path / "lists/train-1.npy", shows_last)
    scenario = open_scenario("voc", "19-1", lists=tmp_path / "lists", root=root, split=FIT)
    assert 0 < len(fit) < len(stems)
    assert {stem for step in scenario for stem in step.images} == fit
    assert set(scenario[1].images) == {stems[row] for row in shows_last} & fit


def test_lists_are_found_in_the_folder_of_datasets(tmp_path, monkeypatch):
    save(tmp_path / "lists/train-0.npy", [0])
    monkeypatch.setenv("RECALLSEG_DATA", str(tmp_path))
    assert read_lists(Path("lists"), 1, STEMS) == [{"2007_000032"}]
