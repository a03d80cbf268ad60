"""`recallseg export`: a learned model for programs without recallseg."""

from pathlib import Path
from typing import Annotated

import typer

from recallseg.cli.arguments import Model, Step, check_model


def export(
    model: Model,
    out: Annotated[Path, typer.Option("--out", "-o", "--onnx", help="The ONNX file to write.")],
    step: Step = None,
) -> None:
    """Write a model as ONNX: RGB bytes of any size in, logits and a mask of that size out.

    The class names are in the file's metadata, under `classes`.
    """
    check_model(model, step)
    from recallseg.predict.export import export_onnx
    from recallseg.progress import waiting

    with waiting("Exporting, which takes half a minute"):
        about = export_onnx(model, out, step)
    size = out.stat().st_size / 2**20
    typer.echo(f"{out}: step {about['step']}, {size:.1f} MiB")
