"""Queries and the words of photos."""

import pytest

from recallseg.data.voc import CLASSES
from recallseg.replay.queries import holds, matches, query_of


def test_vocs_classes_are_searched_by_the_words_that_people_use():
    changed = {name: query_of(name) for name in CLASSES if query_of(name) != name}
    assert changed == {
        "aeroplane": "airplane",
        "diningtable": "dining table",
        "pottedplant": "potted plant",
        "tvmonitor": "monitor",
    }


def test_other_names_are_taken_as_they_are_and_overrides_win():
    assert query_of("chest of drawers") == "chest of drawers"
    assert query_of("building, edifice") == "building"
    assert query_of("traffic_light;traffic signal") == "traffic light"
    assert query_of("tvmonitor", {"tvmonitor": "tv screen"}) == "tv screen"
    assert query_of("zebra", {"tvmonitor": "tv screen"}) == "zebra"


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("My Dog.", "dog", True),
        ("two dogs", "dog", True),
        ("the dog's bone", "dog", True),
        ("hotdog", "dog", False),
        ("dogma", "dog", False),
        ("cat_and_dog", "dog", True),
        ("buses in London", "bus", True),
        ("business", "bus", False),
        ("many people", "person", True),
        ("puppies", "puppy", True),
        ("pottedplant", "potted plant", True),
        ("Potted-Plants", "potted plant", True),
        ("potted, a plant", "potted plant", False),
        ("AIRPLANE2", "airplane", False),
        ("a c++ book", "c++", True),
        ("Ünïcödes", "ünïcöde", True),
        ("anything", "", False),
    ],
)
def test_holds(text, query, expected):
    assert holds(text, query) is expected


def test_the_filter_wants_both_or_any():
    tag, text = ("sky", "Cat"), "A cat sleeps"
    assert matches(tag, text, "cat")
    assert not matches(tag, "It sleeps", "cat")
    assert not matches(("sky",), text, "cat")
    assert matches(tag, "It sleeps", "cat", "any")
    assert matches(("sky",), text, "cat", "any")
    assert not matches(("sky",), "It sleeps", "cat", "any")


def test_two_tags_do_not_make_a_word_pair():
    assert not matches(("potted", "plant"), "a potted plant", "potted plant")
