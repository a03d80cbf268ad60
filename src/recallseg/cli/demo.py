"""`recallseg demo`: a model forgets, RECALL does not; nothing to download."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from recallseg.runs.records import ResultRecord

ROWS: dict[str, tuple[str, str]] = {
    "Joint": ("toy", "joint"),
    "FT": ("toy", "ft"),
    "Inpainting": ("toy-slow", "recall"),
    "RECALL (GAN)": ("toy-gan", "recall"),
    "RECALL (Web)": ("toy-web", "recall"),
}
"""The rows of the demo's table: name to preset and method."""
QUICK_SCENES = {"train": 160, "val": 40}
QUICK = (
    "scenario.spec=19-1",
    "views.crop=96",
    "optim.iterations_per_class=4",
    "optim.batch=8",
    "increment.iterations_per_class=20",
    "helper.optim.iterations_per_class=20",
    "replay.images_per_class=3",
    "replay.gan.map_photos=4",
    "bank.views=2",
)


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Where runs and the report go.")] = Path(
        "demo"
    ),
    seed: Annotated[int, typer.Option(min=0)] = 0,
    quick: Annotated[
        bool, typer.Option("--quick", help="One class instead of five, and less of everything.")
    ] = False,
    port: Annotated[
        int,
        typer.Option(min=1, max=65535, help="The port of the demo's own photo site on 127.0.0.1."),
    ] = 8765,
) -> None:
    """Let a model forget and RECALL remember, on drawn scenes, with nothing to download.

    Runs joint training, fine-tuning, inpainting alone, and RECALL twice: with
    images from a generator, and from a photo site that the demo runs on this
    machine. The last line is the path of a report.
    """
    from recallseg.config import load_preset
    from recallseg.engine.runner import run
    from recallseg.progress import messages
    from recallseg.replay.web.toy_site import ToySite
    from recallseg.report.page import write_report

    os.environ.setdefault("FLICKR_API_KEY", "the demo's own site takes any")
    console, results, folders = messages(), {}, []
    with ToySite(port=port) as site:
        for number, (label, (preset, method)) in enumerate(ROWS.items(), start=1):
            console.print(f"{number} of {len(ROWS)}: {label}", highlight=False, markup=False)
            settings = [f"method.name={method}", f"seed={seed}", *(QUICK if quick else ())]
            address = [f"replay.web.base_url={site.api}"] if preset == "toy-web" else []
            config = load_preset(preset, [*settings, *address])
            if quick:
                data = config.data.model_copy(update={"root": _few_scenes(out / "scenes")})
                config = config.model_copy(update={"data": data})
            folders.append(out / f"{_slug(label)}-s{seed}{'-quick' if quick else ''}")
            results[label] = run(config, folders[-1])
    report = out / "report.html"
    write_report(folders, report, title="A model that keeps learning")
    from rich.console import Console

    Console().print(_as_table(results), markup=False)
    typer.echo(report)


def _slug(label: str) -> str:
    return re.sub(r"\W+", "-", label.lower()).strip("-")


def _few_scenes(folder: Path) -> Path:
    from recallseg.data.toy import write_scenes

    if not folder.is_dir():
        write_scenes(folder, QUICK_SCENES)
    return folder


def _as_table(results: dict[str, "ResultRecord"]) -> "Table":
    from rich.table import Table

    table = Table("", "old", "new", "all", "of Joint", title="mIoU after the last step")
    for column in table.columns[1:]:
        column.justify = "right"
    means = {
        label: {name: value or 0.0 for name, value in result["steps"][-1]["miou"].items()}
        for label, result in results.items()
    }
    for label, scores in means.items():
        share = "" if label == "Joint" else f"{100 * scores['all'] / means['Joint']['all']:.0f} %"
        table.add_row(label, *(f"{scores[kind]:.1f}" for kind in ("old", "new", "all")), share)
    return table
