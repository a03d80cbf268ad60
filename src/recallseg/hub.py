"""Models on a hub: pushing and pulling a run folder by huggingface_hub's conventions."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from recallseg.errors import RecallsegError
from recallseg.runs.folder import RunFolder
from recallseg.runs.publishing import PUBLISHED, check_received, write_published
from recallseg.version import __version__


def push(
    path: Path,
    repo_id: str,
    *,
    private: bool | None = None,
    branch: str | None = None,
    commit_message: str = "Push a model with recallseg",
    token: str | None = None,
    endpoint: str | None = None,
) -> str:
    """Upload the model in a folder with its card to `repo_id`, in one commit; gives its address.

    The names of the arguments are those of huggingface_hub's `ModelHubMixin.push_to_hub`. Weights
    of steps that the model no longer has disappear from the hub too.
    """
    folder = RunFolder.existing(path)
    hub = _library()
    api = hub.HfApi(endpoint, token, library_name="recallseg", library_version=__version__)
    with tempfile.TemporaryDirectory(dir=_near(path)) as temporary, _sentences(repo_id):
        write_published(folder, Path(temporary))
        created = api.create_repo(repo_id, private=private, exist_ok=True)
        commit = api.upload_folder(
            repo_id=created.repo_id,
            folder_path=temporary,
            commit_message=commit_message,
            revision=branch,
            delete_patterns=list(PUBLISHED),
        )
    return str(commit.commit_url)


def pull(
    repo_id: str,
    out: Path | str | None = None,
    *,
    revision: str | None = None,
    token: str | None = None,
    endpoint: str | None = None,
) -> Path:
    """Download a model into a new folder, by default one of the repository's name; gives it.

    Only files that a model consists of are taken, weights are safetensors, and the folder appears
    when all of it is there and can be read.
    """
    out = Path(out or repo_id.rpartition("/")[2])
    if out.exists():
        raise RecallsegError(f"{out} exists already; name a new folder with --out.")
    hub = _library()
    with tempfile.TemporaryDirectory(dir=_near(out)) as temporary, _sentences(repo_id):
        received = Path(temporary) / "model"
        hub.snapshot_download(
            repo_id,
            revision=revision,
            local_dir=received,
            allow_patterns=list(PUBLISHED),
            token=token,
            endpoint=endpoint,
            library_name="recallseg",
            library_version=__version__,
        )
        shutil.rmtree(received / ".cache", ignore_errors=True)
        check_received(received, repo_id)
        received.rename(out)
    return out


def _near(path: Path) -> Path:
    """The folder that holds another one, so that moves and links stay on one disk."""
    parent = path.resolve().parent
    if not parent.is_dir():
        raise RecallsegError(f"The folder {parent} does not exist; make it first.")
    return parent


def _library() -> Any:  # noqa: ANN401
    try:
        import huggingface_hub
    except ImportError as error:
        raise RecallsegError(
            "Hubs need the package huggingface_hub: pip install 'recallseg[hub]'."
        ) from error
    return huggingface_hub


@contextmanager
def _sentences(repo_id: str) -> Iterator[None]:
    """Turn what a hub and the way to it can do into one sentence."""
    from huggingface_hub import errors

    try:
        yield
    except errors.HFValidationError as error:
        raise RecallsegError(f"'{repo_id}' is no name on a hub; write OWNER/NAME.") from error
    except errors.GatedRepoError as error:
        raise RecallsegError(f"{repo_id} asks for its owner's consent; see its page.") from error
    except errors.RepositoryNotFoundError as error:
        raise RecallsegError(
            f"The hub has no {repo_id} that you may see; check the name, and log in with "
            "`hf auth login` if it is private."
        ) from error
    except errors.RevisionNotFoundError as error:
        raise RecallsegError(f"{repo_id} has no such branch, tag or commit.") from error
    except (errors.HfHubHTTPError, ValueError) as error:
        cause = error if isinstance(error, errors.HfHubHTTPError) else error.__context__
        code = cause.response.status_code if isinstance(cause, errors.HfHubHTTPError) else None
        what = "refused it; log in with `hf auth login`" if code in (401, 403) else "failed"
        raise RecallsegError(f"The hub {what} ({repo_id}: {code or error}).") from error
    except (errors.HTTPError, OSError) as error:  # type: ignore[attr-defined]
        raise RecallsegError(
            f"The hub could not be reached for {repo_id} ({type(error).__name__}); try again."
        ) from error
