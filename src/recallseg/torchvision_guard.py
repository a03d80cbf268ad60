"""Make `import torchvision` work where its compiled operators do not fit the installed torch.

A CPU build of torch beside a CUDA build of torchvision leaves `torchvision::nms` undeclared, and
importing torchvision raises, or what imports it (timm; lightning-fabric, where it finds
torchmetrics). Nothing here uses those operators, so declaring them is enough. Import this module
before any of them; it does nothing where torchvision is whole.
"""

import sys

import torch

_declared: list[torch.library.Library] = []
"""Kept alive for the life of the process: torch forgets operators of a collected library."""


def _declare_operators() -> None:
    library = torch.library.Library("torchvision", "DEF")  # type: ignore[no-untyped-call]
    for operator in ("nms", "qnms"):
        schema = f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
        library.define(schema)  # type: ignore[no-untyped-call]
    _declared.append(library)


def ensure_torchvision() -> bool:
    """Import torchvision, mending it if needed; true if it was whole to begin with."""
    try:
        import torchvision
    except RuntimeError as error:
        if "torchvision::nms" not in str(error):
            raise
        for name in [n for n in sys.modules if n == "torchvision" or n.startswith("torchvision.")]:
            del sys.modules[name]
        _declare_operators()
        import torchvision  # noqa: F401
    return not _declared


TORCHVISION_IS_WHOLE = ensure_torchvision()
