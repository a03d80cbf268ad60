"""`recallseg run` and `recallseg evaluate`."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recallseg.cli.arguments import AsJson, Model, OutFile, Step, check_model

if TYPE_CHECKING:
    from recallseg.runs.records import ResultRecord, StepRecord

Overrides = Annotated[
    list[str], typer.Argument(help="YAML files, then key=value overrides for all of them.")
]


def run(
    configs: Overrides,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Where run folders go, one for each run.")
    ] = Path("runs"),
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show the plan.")] = False,
    presence: Annotated[
        Path | None, typer.Option(help="With --dry-run: a presence table instead of masks.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Run one or more configurations; the same command again goes on where it was stopped."""
    from recallseg.config import load_config
    from recallseg.errors import RecallsegError

    files = [Path(word) for word in configs if "=" not in word]
    overrides = [word for word in configs if "=" in word]
    if not files:
        raise RecallsegError("Name at least one YAML file to run.")
    loaded = [(path, load_config(path, overrides)) for path in files]
    if len(loaded) > 1 and any(config.processes > 1 for _, config in loaded):
        raise RecallsegError("With more than one process, run one configuration at a time.")
    for path, config in loaded:
        if dry_run:
            from recallseg.experiments.plan import plan

            _show_plan(config, plan(config, presence), as_json)
            continue
        from recallseg.engine.runner import run as run_config
        from recallseg.leases import is_first_process
        from recallseg.runs.settings import folder_name

        folder = out / folder_name(path, config)
        result = run_config(config, folder)
        if is_first_process():
            _show_result(folder, result, as_json)


def evaluate(
    model: Model,
    root: Annotated[Path | None, typer.Option(help="Photos and masks to be measured on.")] = None,
    split: Annotated[str | None, typer.Option(help="The split; by default the run's own.")] = None,
    step: Step = None,
    out: OutFile = None,
    as_json: AsJson = False,
) -> None:
    """Measure a finished model, also on photos it never saw."""
    check_model(model, step)
    from recallseg.engine.evaluation.rescore import rescore
    from recallseg.files import write_json

    scores = rescore(model, root=root, split=split, step=step)
    if out:
        write_json(out, scores)
    _show_scores(scores, as_json)


def _show_plan(config: Any, plan: dict[str, Any], as_json: bool) -> None:  # noqa: ANN401
    if as_json:
        typer.echo(json.dumps(plan, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    from recallseg.experiments.plan import bank_bytes

    title = (
        f"{config.method.name} {config.data.name} {config.scenario.spec} {config.scenario.setup}"
    )
    table = Table("step", "photos", "iterations", "helper decoder", title=title)
    for column in table.columns[1:]:
        column.justify = "right"
    for index, step in enumerate(plan["steps"]):
        helper = f"{plan['helper_parameters'][index]:,}"
        table.add_row(str(index), f"{step['images']:,}", f"{step['iterations']:,}", helper)
    console = Console()
    console.print(table)
    console.print(
        f"parameters: encoder {plan['encoder_parameters']:,}, decoder at the end "
        f"{plan['decoder_parameters']:,}",
        highlight=False,
    )
    for name, words in plan["settings"].items():
        console.print(f"{name}: {words}", highlight=False, markup=False, soft_wrap=True)
    if config.bank.enabled and not config.method.train_encoder:
        later = sum(step["images"] for step in plan["steps"][1:])
        console.print(
            f"feature bank of the later steps: {bank_bytes(config, later) / 2**30:.2f} GiB "
            f"(budget {config.bank.budget_gb:g})",
            highlight=False,
        )


def _show_result(folder: Path, result: "ResultRecord", as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(result, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    from recallseg.runs.folder import RunFolder

    title = f"{result['method']} {result['dataset']} {result['scenario']} {result['setup']}: mIoU"
    table = Table("step", "new classes", *result["steps"][0]["miou"], "near edges", title=title)
    for column in table.columns[2:]:
        column.justify = "right"
    for step in result["steps"]:
        edges = step.get("miou_boundary", {}).get("all")
        scores = [_score(value) for value in (*step["miou"].values(), edges)]
        table.add_row(str(step["step"]), ", ".join(step["classes"]), *scores)
    console = Console()
    console.print(table, markup=False)
    seconds, memory = result["seconds"], result["peak_memory_mb"]
    console.print(f"{seconds:,.0f} s, at most {memory:,.0f} MB of memory", highlight=False)
    console.print(str(RunFolder(folder).result_file), highlight=False, markup=False, soft_wrap=True)


def _show_scores(scores: "StepRecord", as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(scores, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("class", "IoU", "pixel accuracy", title=f"after step {scores['step']}")
    for name, value in scores["iou"].items():
        table.add_row(name, _score(value), _score(scores["pixel_accuracy"][name]))
    table.add_section()
    for name, value in scores["miou"].items():
        table.add_row(f"mean: {name}", _score(value), "")
    for name, value in scores.get("miou_boundary", {}).items():
        table.add_row(f"mean near edges: {name}", _score(value), "")
    for column in table.columns[1:]:
        column.justify = "right"
    Console().print(table, markup=False)


def _score(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
