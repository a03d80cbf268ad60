"""`recallseg export`: a learned model for programs without recallseg."""

from pathlib import Path
from typing import Annotated

import typer


def export(
    model_dir: Annotated[Path, typer.Argument(help="A folder that `recallseg run` made.")],
    onnx: Annotated[Path, typer.Option(help="The ONNX file to write.")],
    step: Annotated[int | None, typer.Option(help="The step; by default the last.")] = None,
) -> None:
    """Write a model as ONNX: RGB bytes of any size in, logits and a mask of that size out.

    It takes about a minute. The class names are in the file's metadata, under `classes`.
    """
    from recallseg.predict.export import export_onnx

    about = export_onnx(model_dir, onnx, step)
    size = onnx.stat().st_size / 2**20
    typer.echo(f"{onnx}: step {about['step']}, {size:.1f} MiB")
