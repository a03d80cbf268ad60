"""Pascal VOC's layout: palette or colour masks of VOC's classes or those of a `labelmap.txt`."""

from pathlib import Path

from recallseg.data.importing.formats import ImportFormat
from recallseg.data.importing.mask_files import MaskImage, ValueNames, mask_size
from recallseg.data.importing.mask_pairs import SplitLists
from recallseg.data.importing.masks import named_values
from recallseg.data.importing.scenes import Findings, Scene, Skips, is_special
from recallseg.data.importing.source_folder import SourceFolder
from recallseg.data.palette import voc_palette
from recallseg.data.voc import CLASSES, LISTS, mask_folder
from recallseg.errors import RecallsegError
from recallseg.labels import VOID

VOC_VOID = (224, 224, 192)
"""VOC's colour for what does not count."""


def _root(source: SourceFolder) -> Path | None:
    for root in (source.root, source.root / "VOC2012", source.root / "VOCdevkit" / "VOC2012"):
        if mask_folder(root).is_dir():
            return root
    return None


def read(source: SourceFolder) -> Findings:
    """All masks with their photos; lists of `ImageSets/Segmentation` say which split."""
    root = _root(source)
    if root is None:
        raise RecallsegError(f"{source.root} has no SegmentationClass/.")
    names, skips = _names(source), Skips()
    lists, scenes = SplitLists(source, root / LISTS), []
    photos = {path.stem: path for path in sorted((root / "JPEGImages").glob("*"))}
    for mask in sorted(mask_folder(root).glob("*.png")):
        if mask.stem in photos:
            photo = photos[mask.stem]
            labels = MaskImage(mask, names)
            scenes.append(Scene(photo, labels, lists.split_of.get(mask.stem), mask_size(mask)))
        else:
            skips.add("mask", "has no photo", mask)
    without = [
        photo for stem, photo in photos.items() if not (mask_folder(root) / f"{stem}.png").is_file()
    ]
    for photo in without:
        skips.add("photo", "has no mask", photo)
    every = dict.fromkeys([*names.numbers.values(), *names.colours.values()])
    return Findings([name for name in every if not is_special(name)], scenes, skips)


def _names(source: SourceFolder) -> ValueNames:
    """The classes of a file of colours or names in the dataset, or else VOC's own."""
    told = [source.options.colours, *(source.root / n for n in ("labelmap.txt", "classes.txt"))]
    if any(path and path.is_file() for path in told):
        names = named_values(source)
        return ValueNames(names.numbers, {VOC_VOID: "void", **names.colours})
    colours = {tuple(map(int, voc_palette()[i])): name for i, name in enumerate(CLASSES)}
    return ValueNames(dict(enumerate(CLASSES)) | {VOID: "void"}, colours | {VOC_VOID: "void"})  # type: ignore[arg-type]


FORMAT = ImportFormat(
    title="Pascal VOC masks", recognise=lambda source: _root(source) is not None, read=read
)
