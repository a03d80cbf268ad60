"""`recallseg hub`: models on a hub such as Hugging Face's."""

from pathlib import Path
from typing import Annotated

import typer

from recallseg.cli.arguments import Model

app = typer.Typer(help="Push a model to a hub, or pull one from it.", no_args_is_help=True)

Repo = Annotated[str, typer.Argument(help="OWNER/NAME on the hub.", show_default=False)]
Endpoint = Annotated[
    str | None,
    typer.Option(
        envvar="HF_ENDPOINT", help="The hub's address, by default https://huggingface.co."
    ),
]


@app.command()
def push(
    model: Model,
    repo: Repo,
    private: Annotated[
        bool | None, typer.Option("--private/--public", help="Who may see a new repository.")
    ] = None,
    branch: Annotated[str | None, typer.Option(help="By default main.")] = None,
    message: Annotated[
        str, typer.Option(help="What the commit says.")
    ] = "Push a model with recallseg",
    endpoint: Endpoint = None,
) -> None:
    """Upload a model: its weights, settings, scores and model card, and no photo.

    Log in first with `hf auth login`, or set HF_TOKEN. Paths of this machine are left out.
    """
    from recallseg import hub

    typer.echo(
        hub.push(
            model, repo, private=private, branch=branch, commit_message=message, endpoint=endpoint
        )
    )


@app.command()
def pull(
    repo: Repo,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The new folder; by default NAME.")
    ] = None,
    revision: Annotated[str | None, typer.Option(help="A branch, a tag or a commit.")] = None,
    endpoint: Endpoint = None,
) -> None:
    """Download a model into a new folder, which goes on learning like any other."""
    from recallseg import hub

    typer.echo(hub.pull(repo, out, revision=revision, endpoint=endpoint))
