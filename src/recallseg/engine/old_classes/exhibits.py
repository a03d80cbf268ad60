"""A few replay images of each class with their pseudo-labels, for people to look at."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recallseg.data.decoding import read_mask, read_photo
from recallseg.data.pictures import write_pictures

KEPT, REJECTED = 6, 3
"""How many images of each class are shown."""
LONGER_SIDE = 160


@dataclass(frozen=True)
class Exhibit:
    """A replay image, its pseudo-label, and what the manifest says of it."""

    photo: Path
    label: Path
    about: dict[str, Any]


def choose(exhibits: list[Exhibit]) -> list[Exhibit]:
    """The first ones that were kept, and the first that were not."""
    kept = [exhibit for exhibit in exhibits if exhibit.about["rejected"] is None]
    rejected = [exhibit for exhibit in exhibits if exhibit.about["rejected"] is not None]
    return kept[:KEPT] + rejected[:REJECTED]


def write_gallery(path: Path, exhibits: list[Exhibit]) -> None:
    """A zip file with `index.json`, and a photo and a mask for each of its entries."""
    with write_pictures(path, LONGER_SIDE) as pictures:
        index = []
        for number, exhibit in enumerate(exhibits):
            name = f"{number:05}"
            pictures.add_photo(name, read_photo(exhibit.photo))
            pictures.add_mask(name, read_mask(exhibit.label))
            index.append({"name": name, **exhibit.about})
        pictures.add_text("index.json", json.dumps(index, ensure_ascii=False, indent=1))
