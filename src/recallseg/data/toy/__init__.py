"""A world that is drawn from code: scenes with exact masks, site photos, a generator's pictures.

It has the classes of Pascal VOC, and needs neither files nor a download. `scenes` decides what is
where; `studio` turns drawings into pixels and masks; a `Style` is another look of the same things.
"""

from recallseg.data.toy.portraits import SUBJECTS, TWINS, draw_plate, draw_snapshot
from recallseg.data.toy.scenes import CONFUSABLE, draw_scene
from recallseg.data.toy.writing import (
    drawn_pictures,
    drawn_world,
    write_pictures,
    write_scenes,
    write_snapshots,
)

__all__ = [
    "CONFUSABLE",
    "SUBJECTS",
    "TWINS",
    "draw_plate",
    "draw_scene",
    "draw_snapshot",
    "drawn_pictures",
    "drawn_world",
    "write_pictures",
    "write_scenes",
    "write_snapshots",
]
