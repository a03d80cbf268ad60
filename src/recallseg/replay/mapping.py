"""The Class Mapping Module: which of the generator's classes resembles one of our classes most."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from recallseg.errors import RecallsegError
from recallseg.gan.classifier import imagenet_indexes, imagenet_names
from recallseg.paper import paper

TOP = 3

PAPER_MAPPING: dict[str, tuple[str, ...]] = {
    label: tuple(names) for label, names in paper()["class_mapping"].items()
}
"""The paper's three best ImageNet classes of each VOC class (supplement, Table CMM); it computes
none for `tvmonitor`, which its scenarios learn last."""


@dataclass(frozen=True)
class Match:
    """One of the generator's classes, and the mean probability that our photos show it."""

    index: int
    name: str
    score: float


def map_classes(
    batches: Iterable[tuple[Tensor, Sequence[Mapping[str, float]]]],
    names: Sequence[str] | None = None,
    *,
    top: int = TOP,
    taken: Iterable[int] | None = None,
) -> dict[str, tuple[Match, ...]]:
    """For each class c the `top` generator classes by Σ w I(X) over its photos T_k^c, best first.

    A batch is the classifier's logits (B,C) and, per photo, the names of the classes of C_k that it
    shows with their weights w, so that a photo of several classes is classified once. The paper
    (eq. mapper) weighs all photos alike. `names` are those of the C classes, by default ImageNet's.
    Scores are means. `taken` are the generator classes that other classes are mapped to already; if
    it is not None, no two classes get the same one: the class that resembles it most gets it.
    """
    names = imagenet_names() if names is None else names
    sums: dict[str, Tensor] = {}
    weights: dict[str, float] = {}
    for logits, photos in batches:
        probabilities = logits.double().softmax(1).cpu()
        if probabilities.shape != (len(photos), len(names)):
            raise RecallsegError(
                f"The classifier gave scores {tuple(probabilities.shape)} for {len(photos)} photos "
                f"and {len(names)} classes; its classes must be the generator's."
            )
        for row, classes in zip(probabilities, photos, strict=True):
            for label, weight in classes.items():
                sums[label] = sums.get(label, 0) + weight * row
                weights[label] = weights.get(label, 0) + weight
    means = {label: sums[label] / weights[label] for label in sorted(sums)}
    if taken is not None:
        _separate(means, taken)
    return {label: _best(scores, names, top) for label, scores in means.items()}


def _separate(means: Mapping[str, Tensor], taken: Iterable[int]) -> None:
    """Zero the scores of generator classes that another class is mapped to."""
    waiting, used = dict(means), [*taken]
    num_classes = max(map(len, means.values()), default=0)
    if len(used) + len(waiting) > num_classes:
        raise RecallsegError(
            f"The generator has {num_classes} classes, too few for {len(used) + len(waiting)} of "
            "ours to have one each; set replay.gan.map_apart=false."
        )
    while waiting:
        for scores in waiting.values():
            scores[used] = 0
        surest = max(waiting, key=lambda label: waiting[label].max().item())
        used = [int(waiting.pop(surest).argmax())]


def _best(scores: Tensor, names: Sequence[str], top: int) -> tuple[Match, ...]:
    order = scores.argsort(descending=True, stable=True)[:top].tolist()
    return tuple(Match(index, names[index], scores[index].item()) for index in order)


def check_mapping(
    mapping: Mapping[str, Sequence[Match]], num_classes: int, names: Sequence[str] | None = None
) -> None:
    """Refuse a mapping whose best match the generator cannot make, or calls something else.

    `names` are those of the generator's classes, if it has names.
    """
    for label, matches in mapping.items():
        if not matches or not 0 <= matches[0].index < num_classes:
            target = f"class {matches[0].index} ({matches[0].name})" if matches else "nothing"
            raise RecallsegError(
                f"'{label}' is mapped to {target}, but the generator's {num_classes} classes are "
                f"0 to {num_classes - 1}; map it with a classifier of the generator's classes."
            )
        match = matches[0]
        if names is not None and names[match.index] != match.name:
            raise RecallsegError(
                f"'{label}' is mapped to class {match.index} ({match.name}), but the generator's "
                f"class {match.index} is '{names[match.index]}'; set replay.gan.classifier to the "
                ".classifier.safetensors that was trained with the generator."
            )


def paper_rank(label: str, match: Match) -> int | None:
    """The rank (1 to 3) of an ImageNet match in the paper's table for a VOC class, if any."""
    for rank, name in enumerate(PAPER_MAPPING.get(label, ()), start=1):
        if match.index in imagenet_indexes(name):
            return rank
    return None


def agrees_with_paper(label: str, match: Match) -> bool:
    """Whether an ImageNet match is the paper's own first choice for a VOC class."""
    return paper_rank(label, match) == 1
