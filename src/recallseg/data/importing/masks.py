"""Folders of photos and of mask images: class ids, RGB colours, or 0 and 255.

`images/` and `masks/` may have subfolders for splits. What the values stand for is said by
`--colours`, by `--class`, or by a `labelmap.txt` or `classes.txt` in the dataset.
"""

from recallseg.data.folder import read_classes
from recallseg.data.importing.colours import read_colours
from recallseg.data.importing.formats import ImportFormat
from recallseg.data.importing.mask_files import BinaryMask, MaskImage, ValueNames, mask_size
from recallseg.data.importing.mask_pairs import SplitLists, find_pairs, has_pairs
from recallseg.data.importing.scenes import Findings, Scene, Skips, is_special
from recallseg.data.importing.source_folder import SourceFolder
from recallseg.errors import RecallsegError
from recallseg.labels import VOID


def read(source: SourceFolder) -> Findings:
    """All photos that have a mask."""
    skips = Skips()
    pairs = find_pairs(source, skips)
    if not pairs:
        raise RecallsegError(
            f"{source.root} holds no photos with masks; put photos in images/ and masks of the "
            "same names in masks/."
        )
    lists = SplitLists(source, source.root)
    one_class = source.options.class_name
    names = ValueNames() if one_class else named_values(source)
    scenes = [
        Scene(
            photo,
            BinaryMask(mask, one_class) if one_class else MaskImage(mask, names),
            lists.find(photo),
            mask_size(mask),
        )
        for photo, mask in pairs
    ]
    every = [one_class] if one_class else [*names.numbers.values(), *names.colours.values()]
    classes = [name for name in dict.fromkeys(every) if not is_special(name)]
    return Findings(classes, scenes, skips)


def named_values(source: SourceFolder) -> ValueNames:
    """What the values of masks stand for, by a file of colours or of class names."""
    labelmap = source.root / "labelmap.txt"
    if source.options.colours or labelmap.is_file():
        colours = read_colours(source.options.colours or labelmap)
        named = {colour: name for name, colour in colours.items()}
        named.setdefault((0, 0, 0), "background")
        return ValueNames(colours=named)
    if (source.root / "classes.txt").is_file():
        return ValueNames(numbers=dict(enumerate(read_classes(source.root))) | {VOID: "void"})
    raise RecallsegError(
        f"Nothing says what the masks in {source.root} mean: give --colours FILE for RGB masks, "
        "--class NAME for masks of 0 and 255, or write the class names in the order of their ids "
        "into classes.txt."
    )


FORMAT = ImportFormat(title="photos and mask images", recognise=has_pairs, read=read)
