"""What a run is trained with, in words that can be held against a paper's."""

from recallseg.config import LabelFilters, OptimConfig, RunConfig
from recallseg.methods import Method


def settings(config: RunConfig, method: Method) -> dict[str, str]:
    """The settings that decide a comparison, each in a sentence, by what they are about."""
    parts = {
        "encoder": _encoder(config),
        "decoder": _decoder(config),
        "views": _views(config),
        "step 0": training(config.optim),
        "later steps": training(config.increment),
    }
    if method.weights:
        parts["loss"] = ", ".join(f"{name} {value:g}" for name, value in method.weights.items())
    if method.inpainting:
        filled = "void too" if config.method.void == "inpaint" else "void left out"
        parts["inpainting"] = f"on {config.method.inpaint_on}, {filled}"
    if config.replay.settings:
        parts["helper decoders"] = training(config.helper.optim)
        parts["replay"] = _replay(config)
    return parts


def training(optim: OptimConfig) -> str:
    """An optimiser with its rates, its batch, and how long it runs."""
    momentum = f", {'Nesterov ' if optim.nesterov else ''}momentum {optim.momentum:g}"
    decay = "on all parameters" if optim.decay_all else "on weights"
    each = f" × {optim.accumulate}" if optim.accumulate > 1 else ""
    length = f"{optim.iterations_per_class:g} iterations per class"
    if optim.overlapped_factor != 1:
        longer = optim.iterations_per_class * optim.overlapped_factor
        length += f" ({longer:g} overlapped)"
    return (
        f"{optim.name}{momentum if optim.name == 'sgd' else ''}, "
        f"rate {optim.lr:g} → {optim.end_lr:g} (power {optim.power:g}), "
        f"weight decay {optim.weight_decay:g} {decay}, batch {optim.batch}{each}, "
        f"{f'{optim.epochs} epochs' if optim.epochs else length}"
    )


def _encoder(config: RunConfig) -> str:
    model = config.model
    norm = "moves" if model.train_batch_norm else "stays"
    speed = f" with momentum {model.batch_norm_momentum:g}" if model.batch_norm_momentum else ""
    later = "goes on learning" if config.method.train_encoder else "frozen after step 0"
    if model.tail:
        since = "frozen after step 0" if model.first_stages else "frozen"
        later = f"{since}, with its stages after stride {model.neck_stride} in every decoder"
    return (
        f"{model.encoder} at stride {model.output_stride}, weights {model.weights}, {later}, "
        f"BatchNorm {norm}{speed if model.train_batch_norm else ''}"
    )


def _decoder(config: RunConfig) -> str:
    neck = f" behind a neck of {config.model.neck}" if config.model.neck else ""
    return f"{config.model.decoder}{neck}"


def _views(config: RunConfig) -> str:
    views, (low, high) = config.views, config.views.scale
    how = "windows, photos scaled by" if views.cut == "window" else "stretched parts, of area"
    stored = config.bank.enabled and not config.method.train_encoder
    often = f"{config.bank.views} stored for each photo" if stored else "a fresh one at every visit"
    return f"crop {views.crop}, {how} {low:g} to {high:g}, mirrored by chance; {often}"


def _replay(config: RunConfig) -> str:
    replay = config.replay
    keeps_all = replay.filters == LabelFilters(present=False)
    kept = "all kept" if keeps_all else "filtered by what is seen in them"
    return (
        f"{replay.images_per_class} images per class from {replay.source}, {kept}; r_old/r_new "
        f"{replay.ratio:g}; labelled on {replay.label_on}"
    )
