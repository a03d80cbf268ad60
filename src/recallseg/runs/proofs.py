"""Which classes, settings and photos the weights of a step belong to."""

from recallseg.config import RunConfig
from recallseg.errors import RecallsegError
from recallseg.files import content_key
from recallseg.runs.folder import RunFolder


def model_key(config: RunConfig) -> str:
    """A hash of the settings without which weights mean nothing."""
    return content_key(config.model.model_dump(mode="json"))


def check_proof(folder: RunFolder, step: int, config: RunConfig, photos: str | None = None) -> None:
    """Refuse weights of other classes, settings or photos than they are now taken for.

    Folders that did not say it yet are believed.
    """
    proof = folder.proof(step)
    if proof is None:
        return
    same = {
        "other classes": proof["channels"] == folder.class_names(step),
        "other settings of the model": proof["model"] == model_key(config),
        "other photos": photos in (None, proof["photos"]),
    }
    if not all(same.values()):
        differing = " and ".join(what for what, is_same in same.items() if not is_same)
        raise RecallsegError(
            f"The weights in {folder.step(step).path} were trained with {differing} than they "
            "would now be used for; go back to the step before with `recallseg rollback`, or train "
            "again in a new folder."
        )
