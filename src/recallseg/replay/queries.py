"""The search query of a class, and whether a photo's tags and description contain it."""

import functools
import re
from collections.abc import Iterable, Mapping
from typing import Literal

MatchRule = Literal["both", "any"]
"""`both`: tags and description hold the query, as in the paper; `any`: one of them does."""

QUERIES: Mapping[str, str] = {
    "aeroplane": "airplane",
    "diningtable": "dining table",
    "pottedplant": "potted plant",
    "tvmonitor": "monitor",
}
"""Classes whose usual name is not the dataset's; all others keep theirs."""

_PLURALS: Mapping[str, str] = {
    "child": "children",
    "man": "men",
    "person": "people",
    "shelf": "shelves",
    "woman": "women",
}


def query_of(class_name: str, overrides: Mapping[str, str] | None = None) -> str:
    """The words to search for a class: an override, the table's, or the name itself.

    Of names with synonyms, such as ADE20K's "building, edifice", the first is taken.
    """
    if overrides and class_name in overrides:
        return overrides[class_name]
    if class_name in QUERIES:
        return QUERIES[class_name]
    first = re.split(r"[;,]", class_name)[0]
    return " ".join(first.replace("_", " ").split())


def holds(text: str, query: str) -> bool:
    """Whether `text` contains the query as whole words, in the singular or the plural.

    Case does not count, nor do blanks, hyphens and underscores between the query's words, since
    photo sites turn the tag "potted plant" into "pottedplant".
    """
    return _pattern(query.casefold()).search(text.casefold()) is not None


def matches(tags: Iterable[str], description: str, query: str, match: MatchRule = "both") -> bool:
    """The paper's filter: "tag and description happen to both contain the class name"."""
    in_tags = any(holds(tag, query) for tag in tags)
    in_description = holds(description, query)
    return in_tags and in_description if match == "both" else in_tags or in_description


@functools.cache
def _pattern(query: str) -> re.Pattern[str]:
    *first, last = query.split() or [""]
    forms = [last, f"{last}s", f"{last}es"]
    if last.endswith("y"):
        forms.append(f"{last[:-1]}ies")
    if last in _PLURALS:
        forms.append(_PLURALS[last])
    endings = "|".join(re.escape(form) for form in forms)
    words = [*(re.escape(word) for word in first), f"(?:{endings})"]
    body = r"[\s_-]*".join(words)
    return re.compile(rf"(?<![^\W_]){body}(?![^\W_])") if last else re.compile(r"(?!)")
