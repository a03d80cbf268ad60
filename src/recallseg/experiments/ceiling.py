"""How good a decoder gets on the frozen encoder of a run: the ceiling of every later step."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from recallseg.engine.evaluation.measuring import evaluate
from recallseg.engine.evaluation.scoring import score
from recallseg.engine.samples.streams import Shuffled
from recallseg.engine.samples.views import PhotoSet, Supply
from recallseg.engine.session import Session
from recallseg.engine.session.data import RunData
from recallseg.engine.training.loop import Training, train
from recallseg.errors import RecallsegError
from recallseg.methods import plain_loss
from recallseg.model import Segmenter
from recallseg.model.building import build_decoder
from recallseg.model.decoder import Decoder
from recallseg.predict.opening import open_model
from recallseg.runs.folder import RunFolder

DECODER_SETTINGS = {"decoder", "neck", "dilations"}
"""Settings of `model` that may differ from the run's: the encoder is its own."""


def bench_ceiling(
    path: Path, overrides: Sequence[str], iterations: int, frozen: Sequence[str] = ()
) -> dict[str, Any]:
    """Train a fresh decoder on all classes at once, on the encoder that step 0 of a run left.

    It sees all training photos with true labels, so no replay on this encoder can do better with
    that decoder. `overrides` change the decoder, or how it is trained (`increment`). The parts of
    it that are `frozen` (`tail`, `neck`) are those that step 0 left, and do not learn.
    """
    folder = RunFolder.existing(path)
    config = folder.config_with(overrides)
    fixed = folder.config.model.model_dump(exclude=DECODER_SETTINGS)
    if config.model.model_dump(exclude=DECODER_SETTINGS) != fixed:
        allowed = ", ".join(f"model.{name}" for name in sorted(DECODER_SETTINGS))
        raise RecallsegError(f"Of the model, only {allowed} can differ from those of {path}.")
    data = RunData.open(config)
    if data.val is None:
        raise RecallsegError(f"{path} has no validation photos to be measured on.")
    first = open_model(folder, 0)[0]
    encoder = first.encoder.freeze()
    [step] = data.scenario.merged()
    with TemporaryDirectory() as scratch:
        session = Session.open(config, RunFolder(Path(scratch)))
        decoder = build_decoder(config.model, encoder, step.channels, config.model.weights)
        _freeze(decoder, first.decoder, frozen)
        model = Segmenter(encoder, decoder)
        photos = PhotoSet(data.train, step.images, step.label_table)
        samples = Supply(session).samples(encoder, photos, "ceiling")
        stream = Shuffled(samples, config.increment.batch, f"{config.seed}/ceiling")
        training = Training("ceiling", config.increment, iterations)
        train(session, training, model, stream, plain_loss)
        counts = evaluate(session, model, data.val, step.evaluation_table)
    names = data.scenario.names((0, *step.classes))
    record = score(0, names[1:], names, data.scenario.sizes[0], counts)
    return {
        "run": path.name,
        "overrides": list(overrides),
        "frozen": list(frozen),
        "iterations": iterations,
        "decoder_parameters": sum(weight.numel() for weight in model.decoder.parameters()),
        "bytes_per_view": 2 * torch.Size(encoder.feature_shape(config.views.crop)).numel(),
        "miou": record["miou"],
        "miou_boundary": record["miou_boundary"],
        "iou": record["iou"],
    }


def _freeze(decoder: Decoder, first: Decoder, names: Sequence[str]) -> None:
    for name in names:
        part, left = getattr(decoder, name), getattr(first, name)
        if part is None or left is None:
            raise RecallsegError(f"The decoders of this model have no {name} that could be frozen.")
        part.load_state_dict(left.state_dict())
        part.requires_grad_(False)
