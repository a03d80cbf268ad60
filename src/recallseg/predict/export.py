"""A model as an ONNX file that runs without recallseg and without PyTorch."""

import recallseg.torchvision_guard  # noqa: F401

import contextlib
import importlib.util
import io
import json
import warnings
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from recallseg.errors import RecallsegError
from recallseg.files import atomic_path
from recallseg.model import Segmenter
from recallseg.model.folding import fold_batch_norm
from recallseg.model.geometry import to_own_pixels, to_pixels
from recallseg.predict.opening import open_model
from recallseg.runs.folder import RunFolder

EXAMPLE = (2, 3, 65, 98)
"""The shape of the photos that the exporter watches the model look at; any other will do later."""


def export_onnx(path: Path, out: Path, step: int | None = None) -> dict[str, Any]:
    """Write the model of a run folder after a step; the metadata that went into the file.

    Input `images`: RGB bytes, uint8 (B, 3, H, W), of any batch and size. Outputs: `logits`, float
    (B, C, H, W), and `mask`, uint8 (B, H, W). The metadata's `classes` is a JSON list of names.
    Where the model has a working size, `longer_side` in the metadata, the file itself brings photos
    to it and logits back.
    """
    _require("onnx", "onnxscript")
    folder = RunFolder.existing(path)
    model, index = open_model(folder, step)
    side = folder.config.views.longer_side
    about = {
        "classes": json.dumps(folder.class_names(index), ensure_ascii=False),
        "step": str(index),
        "method": folder.config.method.name,
        "dataset": folder.config.data.name,
        "input": "RGB bytes 0-255, uint8 (batch, 3, height, width)",
    }
    if side is not None:
        about["longer_side"] = str(side)
    program = _traced(Exportable(model, side))
    _name_axes(program.model.graph.outputs)
    program.model.metadata_props.update(about)
    with atomic_path(out) as temporary:
        program.save(temporary, external_data=False)
    return about


class Exportable(nn.Module):
    """A segmenter in operations that ONNX has, with the same results.

    The decoder decodes in plain operations here, nothing is done in place, which the exporter is
    slow to follow, and BatchNorm is a part of the convolutions.
    """

    def __init__(self, model: Segmenter, longer_side: int | None = None) -> None:
        super().__init__()
        self.longer_side = longer_side
        self.encoder = deepcopy(model.encoder).freeze()
        self.decoder = deepcopy(model.decoder).requires_grad_(False)
        for module in self.modules():
            if hasattr(module, "inplace"):
                setattr(module, "inplace", False)  # noqa: B010
        self.eval()
        fold_batch_norm(self, lambda: self(torch.zeros(EXAMPLE, dtype=torch.uint8)))

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (B,C,H,W) and masks (B,H,W) of RGB bytes (B,3,H,W)."""
        size = (images.shape[-2], images.shape[-1])
        if self.longer_side is None:
            coarse = self.decoder.plain(self.encoder(images))
            logits = to_pixels(coarse, self.encoder.stride, size)
        else:
            small = _brought_to(images, self.longer_side)
            looked_at = (small.shape[-2], small.shape[-1])
            coarse = self.decoder.plain(self.encoder(small))
            logits = to_own_pixels(coarse, self.encoder.stride, looked_at, size)
        return logits, logits.argmax(dim=1).to(torch.uint8)


def _brought_to(images: Tensor, longer_side: int) -> Tensor:
    """`data.working_size` for a batch of bytes, in operations that ONNX has."""
    height, width = images.shape[-2:]
    longest = torch.sym_max(height, width)  # type: ignore[no-untyped-call]
    size = [(2 * side * longer_side + longest) // (2 * longest) for side in (height, width)]
    small = F.interpolate(images.float(), size, mode="bilinear", antialias=True)
    return small.round().clamp(0, 255).to(torch.uint8)


def _traced(module: Exportable) -> Any:  # noqa: ANN401
    any_size = {0: "batch", 2: "height", 3: "width"}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        return torch.onnx.export(
            module,
            (torch.zeros(EXAMPLE, dtype=torch.uint8),),
            dynamo=True,
            input_names=["images"],
            output_names=["logits", "mask"],
            dynamic_shapes={"images": any_size},
            verbose=False,
        )


def _name_axes(outputs: Any) -> None:  # noqa: ANN401
    """Say that outputs are as high and wide as the photos, which the exporter only computes."""
    from onnx_ir import Shape

    for value in outputs:
        value.shape = Shape(["batch", *list(value.shape)[1:-2], "height", "width"])


def _require(*packages: str) -> None:
    if missing := [name for name in packages if importlib.util.find_spec(name) is None]:
        raise RecallsegError(
            f"An export needs {' and '.join(missing)}: pip install 'recallseg[export]'."
        )
