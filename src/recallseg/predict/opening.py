"""The models that a run folder holds, one for each step of its life."""

from recallseg.errors import RecallsegError
from recallseg.labels import check_class_count
from recallseg.model import Segmenter
from recallseg.model.building import build_decoder, build_model
from recallseg.model.saving import load_weights
from recallseg.runs.folder import RunFolder
from recallseg.runs.proofs import check_proof


def open_model(
    folder: RunFolder, step: int | None = None, beside: Segmenter | None = None
) -> tuple[Segmenter, int]:
    """The model of a run after a step, the last one by default, and which step that is.

    A model of the same run that was opened before lends its encoder where both share one.
    """
    folder.check_format()
    finished = folder.finished_steps()
    if step is None:
        folder.check_last_step()
    if not finished:
        raise RecallsegError(f"{folder.path} has no finished step yet.")
    index = finished[-1] if step is None else step
    if index not in finished:
        raise RecallsegError(
            f"{folder.path} has no step {index}; it has {', '.join(map(str, finished))}."
        )
    check_proof(folder, index, folder.config)
    channels, own = len(folder.class_names(index)), folder.step(index).encoder
    check_class_count(channels - 1, folder.path)
    if beside is not None and not own.is_file():
        decoder = build_decoder(folder.config.model, beside.encoder, channels)
        model = Segmenter(beside.encoder, decoder)
    else:
        model = build_model(folder.config.model, channels, weights="none")
        load_weights(own if own.is_file() else folder.encoder, model.encoder)
    load_weights(folder.step(index).decoder, model.decoder)
    return model, index


def open_steps(folder: RunFolder) -> dict[int, Segmenter]:
    """The model after every finished step; those on the encoder of step 0 share it."""
    models: dict[int, Segmenter] = {}
    folder.check_last_step()
    for index in folder.finished_steps() or [0]:
        models[index], _ = open_model(folder, index, beside=models.get(0))
    return models
