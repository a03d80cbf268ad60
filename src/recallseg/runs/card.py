"""The model card: `README.md` of a run folder, for whoever receives the model.

Model hubs read the settings at its top. All text that came from elsewhere, such as the names of
photographers, is escaped.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import quote, urlsplit

import yaml

from recallseg.config import RunConfig
from recallseg.runs.records import ClassRecord, StepRecord

SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~-])")
ABOUT = (
    "A semantic-segmentation model that learned its classes step by step, each step without the "
    "photos of the earlier ones, with recallseg (RECALL, Maracani et al., ICCV 2021)."
)
MEANS = {
    "old": "classes of step 0",
    "new": "classes of later steps",
    "all": "all classes and the background",
}


def model_card(
    name: str,
    config: RunConfig,
    classes: ClassRecord,
    scores: Sequence[StepRecord],
    replayed: Iterable[Mapping[str, Any]],
) -> str:
    """The card of a model in Markdown, from the records of its folder.

    `scores` are of the steps that were measured, `replayed` is what is known of replay images.
    """
    used = [entry for entry in replayed if entry.get("rejected") is None]
    last = next((each for each in scores if each["step"] == len(classes["steps"]) - 1), None)
    return (
        "\n\n".join(
            [
                _front_matter(name, last),
                f"# {plain(name)}",
                ABOUT,
                _classes(classes),
                _scores(last),
                _making(config),
                _replay(used),
                _use(name),
            ]
        )
        + "\n"
    )


def _front_matter(name: str, last: StepRecord | None) -> str:
    values: dict[str, Any] = {
        "library_name": "recallseg",
        "pipeline_tag": "image-segmentation",
        "tags": ["recallseg", "semantic-segmentation", "continual-learning"],
    }
    if last is not None and (mean := last["miou"].get("all")) is not None:
        metric = {"type": "mean_iou", "name": "mIoU, background counted", "value": mean}
        values["model-index"] = [
            {
                "name": name,
                "results": [
                    {
                        "task": {"type": "image-segmentation"},
                        "dataset": {"type": "other", "name": "validation photos of its owner"},
                        "metrics": [metric],
                    }
                ],
            }
        ]
    return f"---\n{yaml.safe_dump(values, sort_keys=False, allow_unicode=True)}---"


def _classes(classes: ClassRecord) -> str:
    refined = classes.get("refined", {})
    rows = [
        (
            str(step),
            ", ".join(map(plain, names or refined.get(str(step), []))),
            f"{photos:,}" if photos else "not recorded",
        )
        for step, (names, photos) in enumerate(
            zip(classes["steps"], _padded(classes.get("photos", []), classes["steps"]), strict=True)
        )
    ]
    channels = ", ".join(
        f"{channel} {plain(name)}" for channel, name in enumerate(classes["channels"])
    )
    return (
        "## Classes\n\n"
        f"{_table(('step', 'classes', 'photos it learned from'), rows)}\n\n"
        f"Values in a mask: {channels}."
    )


def _scores(last: StepRecord | None) -> str:
    if last is None:
        return "## Scores\n\nIt was not measured after its last step."
    shown = [(plain(name), _percent(value)) for name, value in last["iou"].items()]
    means = [
        (f"mean of {words}", _percent(last["miou"][key]))
        for key, words in MEANS.items()
        if last["miou"].get(key) is not None
    ]
    return (
        f"## Scores\n\nIoU in percent on its owner's validation photos, after step {last['step']}."
        f"\n\n{_table(('class', 'IoU'), shown + means)}"
    )


def _making(config: RunConfig) -> str:
    settings = config.replay.settings
    rows = [
        ("method", config.method.name),
        ("encoder", plain(config.model.encoder)),
        ("decoder", config.model.decoder),
        (
            "photos are brought to",
            f"{side} px" if (side := config.views.longer_side) else "no size",
        ),
        ("images of old classes", settings.title if settings else "none"),
        ("seed", str(config.seed)),
    ]
    return f"## How it was made\n\n{_table(('', ''), rows)}\n\nEvery setting is in `config.yaml`."


def _replay(used: Sequence[Mapping[str, Any]]) -> str:
    """How many replay images it learned from, under which licences, and whose they are."""
    if not used:
        return "## Replay images\n\nIt learned from no images but its owner's photos."
    kinds = Counter((_text(entry, "source"), _text(entry, "licence")) for entry in used)
    rows = [
        (plain(source) or "–", plain(licence) or "not stated", f"{count:,}")
        for (source, licence), count in sorted(kinds.items())
    ]
    text = f"## Replay images\n\n{_table(('source', 'licence', 'images'), rows)}"
    by_author: dict[tuple[str, str], list[str]] = {}
    for entry in used:
        if _text(entry, "credit") or _text(entry, "page"):
            author = _text(entry, "credit"), _text(entry, "licence")
            by_author.setdefault(author, []).append(
                _link(entry, len(by_author.get(author, ())) + 1)
            )
    if not by_author:
        return text
    lines = [
        f"- {plain(credit) or 'author not stated'}, {plain(licence) or 'licence not stated'}: "
        + ", ".join(links)
        for (credit, licence), links in sorted(by_author.items())
    ]
    return f"{text}\n\n### Credits\n\n" + "\n".join(lines)


def _link(entry: Mapping[str, Any], number: int) -> str:
    """A replay photo's title, with a link where its page is on the web."""
    title, page = plain(_text(entry, "title")) or f"photo {number}", _text(entry, "page")
    if urlsplit(page).scheme not in ("http", "https"):
        return title
    return f"[{title}](<{quote(page, safe=':/?&=#%+,;@!$~')}>)"


def _use(name: str) -> str:
    return (
        "## Use\n\n```sh\npip install recallseg\nrecallseg predict "
        f"{re.sub(r'[^A-Za-z0-9._-]', '-', name)} photo.jpg\n```"
    )


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def plain(text: str) -> str:
    """Text as it is, whatever Markdown or HTML would make of it, on one line."""
    return SPECIAL.sub(r"\\\1", escape(" ".join(text.split()), quote=False))


def _text(entry: Mapping[str, Any], key: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) else ""


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _padded(numbers: Sequence[int], steps: Sequence[Any]) -> list[int]:
    return [*numbers, *[0] * len(steps)][: len(steps)]
