"""Trackers that draw the curves of a run: Fabric's own logger, and two more in its shape.

All of them write into the run folder and speak to no server, unless the tracker's own variables say
so: WANDB_MODE=online, MLFLOW_TRACKING_URI.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lightning_fabric.loggers.logger import Logger

from recallseg.config import RunConfig, flat
from recallseg.errors import RecallsegError


def open_trackers(config: RunConfig, folder: Path) -> list[Logger]:
    """The trackers that the settings name, told the settings of the run."""
    loggers = []
    for name in dict.fromkeys(config.track):
        package, open_tracker = TRACKERS[name]
        try:
            loggers.append(open_tracker(folder))
        except ImportError as error:
            raise RecallsegError(f"track={name} needs a package: pip install {package}.") from error
        loggers[-1].log_hyperparams(
            {key: str(value) for key, value in flat(config.model_dump(mode="json")).items()}
        )
    return loggers


def _tensorboard(folder: Path) -> Logger:
    from lightning_fabric.loggers.tensorboard import TensorBoardLogger

    logger = TensorBoardLogger(folder, name="tensorboard", version="")
    logger.experiment  # noqa: B018, finds out whether its package is there
    return logger


class _Tracker(Logger):  # type: ignore[misc]
    """What Fabric wants to know of a logger."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def name(self) -> str:
        """What the tracker calls the run."""
        return self.folder.resolve().name

    @property
    def version(self) -> None:
        """There is one of each run."""
        return None


class WandbTracker(_Tracker):
    """Weights & Biases, offline unless WANDB_MODE says otherwise."""

    def __init__(self, folder: Path) -> None:
        import wandb

        super().__init__(folder)
        mode = os.environ.get("WANDB_MODE", "offline")
        self.run = wandb.init(project="recallseg", name=self.name, dir=folder, mode=mode)
        self.axes: set[str] = set()

    def log_metrics(self, metrics: Mapping[str, float], step: int | None = None) -> None:
        """Draw each group of metrics over its own axis, since every training counts from 0."""
        for group in {key.rpartition("/")[0] for key in metrics}:
            axis = f"{group}/iteration"
            if axis not in self.axes:
                self.axes.add(axis)
                self.run.define_metric(f"{group}/*", step_metric=axis)
            ours = {key: value for key, value in metrics.items() if key.startswith(f"{group}/")}
            self.run.log({**ours, axis: step})

    def log_hyperparams(self, params: Mapping[str, Any], *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """Keep the settings."""
        self.run.config.update(dict(params), allow_val_change=True)

    def finalize(self, status: str) -> None:
        """End the run."""
        self.run.finish(exit_code=0 if status == "success" else 1)


class MlflowTracker(_Tracker):
    """MLflow, in a database of the run folder unless MLFLOW_TRACKING_URI says otherwise."""

    def __init__(self, folder: Path) -> None:
        from mlflow.tracking import MlflowClient

        super().__init__(folder)
        own = f"sqlite:///{folder.resolve() / 'mlflow.db'}"
        self.client = MlflowClient(tracking_uri=os.environ.get("MLFLOW_TRACKING_URI") or own)
        known = self.client.get_experiment_by_name("recallseg")
        experiment = known.experiment_id if known else self.client.create_experiment("recallseg")
        self.id = self.client.create_run(experiment, run_name=self.name).info.run_id

    def log_metrics(self, metrics: Mapping[str, float], step: int | None = None) -> None:
        """Keep a value of each metric."""
        for key, value in metrics.items():
            self.client.log_metric(self.id, key, value, step=step or 0)

    def log_hyperparams(self, params: Mapping[str, Any], *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """Keep the settings."""
        for key, value in params.items():
            self.client.log_param(self.id, key, value)

    def finalize(self, status: str) -> None:
        """End the run."""
        self.client.set_terminated(self.id, "FINISHED" if status == "success" else "FAILED")


TRACKERS: dict[str, tuple[str, Callable[[Path], Logger]]] = {
    "tensorboard": ("'recallseg[track]'", _tensorboard),
    "wandb": ("wandb", WandbTracker),
    "mlflow": ("mlflow", MlflowTracker),
}
"""By the word of `track`: what to install, and how it is opened."""
