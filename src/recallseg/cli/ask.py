"""`recallseg ask`: send photos to a server and keep the masks."""

import json
from pathlib import Path
from typing import Annotated

import typer


def ask(
    url: Annotated[str, typer.Argument(help="Where `recallseg serve` is, http://HOST:PORT.")],
    photos: Annotated[list[Path], typer.Argument(help="Photos.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The folder for masks: NAME.png, or NAME-STEP.png.")
    ] = Path("predictions"),
    step: Annotated[str, typer.Option(help="A step's number, last or all.")] = "last",
    run: Annotated[str, typer.Option(help="model or compare.")] = "model",
    mask_side: Annotated[
        int | None, typer.Option(min=1, help="The longer side of masks, at most.")
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="RECALLSEG_TOKEN", show_default=False, help="What the server asks for."
        ),
    ] = None,
    seconds: Annotated[float, typer.Option(min=1, help="How long to wait for an answer.")] = 60,
    as_json: Annotated[bool, typer.Option("--json", help="Print the classes as JSON.")] = False,
) -> None:
    """Segment photos with the model of a server, on a machine that needs none.

    A photo that fails does not stop the rest: failures are listed at the end, and the exit code
    is 2.
    """
    from recallseg.errors import RecallsegError

    try:
        from recallseg.serve.client import Asker, save_mask
    except ImportError as error:
        missing = f"recallseg ask needs {error.name}: pip install 'recallseg[serve]'."
        raise RecallsegError(missing) from error

    fields = {"step": step, "run": run} | ({"mask_side": str(mask_side)} if mask_side else {})
    failures, told = [], []
    names: set[str] = set()
    with Asker(url, token, seconds) as asker:
        for photo in photos:
            try:
                answer = asker.ask(photo, fields)
            except RecallsegError as error:
                failures.append(str(error))
                continue
            for seen in answer["steps"]:
                name = _free_name(photo.stem + (f"-{seen['step']}" if step == "all" else ""), names)
                save_mask(seen, out / name)
                classes = seen["classes"]
                told.append({"photo": str(photo), "step": seen["step"], "classes": classes})
                if not as_json:
                    words = ", ".join(f"{each['name']} {each['share']:.1%}" for each in classes)
                    typer.echo(f"{out / name}: {words}")
    if as_json:
        typer.echo(json.dumps(told, indent=2))
    if failures:
        listed = "\n  ".join(failures)
        raise RecallsegError(f"{len(failures)} of {len(photos)} photos failed:\n  {listed}")


def _free_name(stem: str, names: set[str]) -> str:
    """A name for a mask that no other photo of this call has."""
    name, number = f"{stem}.png", 2
    while name in names:
        name, number = f"{stem}-{number}.png", number + 1
    names.add(name)
    return name
