"""`recallseg gan`: train an own generator, and look at the images that a generator makes."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

TOY = Path("toy")

app = typer.Typer(help="Train a generator for replay, or look at one.", no_args_is_help=True)


@app.command()
def train(
    data: Annotated[
        Path,
        typer.Argument(help="A folder with a sub-folder of images per class, or toy: drawn ones."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="NAME.safetensors.")],
    resolution: Annotated[int, typer.Option(help="32, 64, 128, 256 or 512 px.")] = 64,
    iterations: Annotated[int, typer.Option(help="Steps of the generator.")] = 3_200,
    batch: Annotated[int, typer.Option(help="Images per step.")] = 24,
    width: Annotated[int, typer.Option(help="Channels at full resolution.")] = 32,
    noise: Annotated[
        int, typer.Option(help="Length of the noise vector that an image is made from.")
    ] = 32,
    first_side: Annotated[
        int, typer.Option(help="Resolution of the first layer's output, in px.")
    ] = 16,
    attention: Annotated[
        int, typer.Option(help="Resolution of the attention layer in px; 0 for none.")
    ] = 0,
    seed: Annotated[int, typer.Option(help="Same seed, same weights.")] = 0,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    discriminator: Annotated[
        str, typer.Option(help="projected, on a frozen encoder; or plain, BigGAN's own.")
    ] = "projected",
    encoder_side: Annotated[
        int, typer.Option(help="projected: smaller images are enlarged to this, in px.")
    ] = 64,
    discriminator_steps: Annotated[
        int, typer.Option("--d-steps", help="Discriminator steps per generator step.")
    ] = 1,
    guidance: Annotated[
        float, typer.Option(help="Weight of the guide beside the discriminator; 0 for none.")
    ] = 5.0,
    guided: Annotated[int, typer.Option(help="Iterations with the guide alone.")] = 500,
    generator_lr: Annotated[
        float, typer.Option("--lr-g", help="The generator's learning rate.")
    ] = 1.5e-3,
    discriminator_lr: Annotated[
        float, typer.Option("--lr-d", help="The discriminator's learning rate.")
    ] = 5e-4,
    ema: Annotated[float, typer.Option(help="Decay of the average of the weights.")] = 0.995,
    mirror: Annotated[
        bool | None,
        typer.Option(help="Mirror images at random; on by default, except for toy."),
    ] = None,
    checkpoint_seconds: Annotated[float, typer.Option(help="How often to save.")] = 60.0,
    sheet_every: Annotated[int, typer.Option(help="Iterations between two sheets.")] = 500,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Train a class-conditional BigGAN and a classifier of its classes.

    The same command continues a stopped training, and with more iterations a finished one.
    """
    from recallseg.data.toy import drawn_pictures
    from recallseg.gan.training import GanSettings, train_generator

    settings = GanSettings(
        resolution=resolution,
        iterations=iterations,
        batch=batch,
        width=width,
        noise=noise,
        first_side=first_side,
        attention=attention,
        seed=seed,
        device=device,
        discriminator=discriminator,
        encoder_side=encoder_side,
        discriminator_steps=discriminator_steps,
        guidance=guidance,
        guided=guided,
        generator_lr=generator_lr,
        discriminator_lr=discriminator_lr,
        ema=ema,
        mirror=data != TOY if mirror is None else mirror,
        checkpoint_seconds=checkpoint_seconds,
        sheet_every=sheet_every,
    )
    recipe = train_generator(drawn_pictures() if data == TOY else data, out, settings)
    typer.echo(json.dumps(recipe, indent=2) if as_json else _summary(recipe, out))


@app.command()
def sample(
    file: Annotated[
        Path,
        typer.Argument(help="A generator's weights, a folder with config.json and them, or toy."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The sheet, a PNG.")],
    classes: Annotated[
        str | None, typer.Option(help="Ids such as 1,2; by default the first 20.")
    ] = None,
    per_class: Annotated[int, typer.Option(min=1, help="Images per class.")] = 8,
    truncation: Annotated[float, typer.Option(help="Above 0 and at most 1.")] = 1.0,
    seed: Annotated[int, typer.Option(min=0, help="Another seed gives other images.")] = 0,
) -> None:
    """Write a sheet of samples, one labelled row per class."""
    from recallseg.gan.generator import load_generator
    from recallseg.gan.named_tensors import class_names
    from recallseg.gan.sheet import write_sample_sheet
    from recallseg.gan.shipped import generator_file

    class_ids = None if classes is None else _ids(classes)
    file = generator_file(file)
    generator, names = load_generator(file), class_names(file)
    write_sample_sheet(
        out,
        generator,
        names,
        classes=class_ids,
        per_class=per_class,
        truncation=truncation,
        seed=seed,
    )
    typer.echo(str(out))


def _ids(text: str) -> list[int]:
    from recallseg.errors import RecallsegError

    words = text.split(",")
    if not all(word.strip().isdecimal() for word in words):
        raise RecallsegError(f"--classes takes ids separated by commas, such as 1,2: {text}")
    return [int(word) for word in words]


def _summary(recipe: dict[str, Any], out: Path) -> str:
    data, quality = recipe["data"], recipe["quality"]
    shares = quality["recognised_by_class"].items()
    return "\n".join(
        [
            f"{recipe['iterations']:,} iterations on {data['images'] - data['held_out']:,} images "
            f"of {len(data['classes'])} classes; {data['held_out']:,} were held out",
            f"images whose class a classifier names: generated {quality['recognised']:.1%}, held "
            f"out {quality['recognised_of_real']:.1%}",
            "by class: " + ", ".join(f"{name} {share:.0%}" for name, share in shares),
            f"Fréchet distance to the images held out: generated {quality['fid']:.1f}, real "
            f"{quality['fid_of_real']:.1f}",
            str(out),
        ]
    )
