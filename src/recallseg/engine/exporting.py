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
from timm.layers import Conv2dSame
from torch import Tensor, nn

from recallseg.engine.folder import RunFolder
from recallseg.engine.opening import class_names, open_model
from recallseg.errors import RecallsegError
from recallseg.files import atomic_path
from recallseg.model import Segmenter, upsample

EXAMPLE = (2, 3, 65, 98)
"""The shape of the photos that the exporter watches the model look at; any other will do later."""


def export_onnx(path: Path, out: Path, step: int | None = None) -> dict[str, Any]:
    """Write the model of a run folder after a step; the metadata that went into the file.

    Input `images`: RGB bytes, uint8 (B, 3, H, W), of any batch and size. Outputs: `logits`, float
    (B, C, H, W), and `mask`, uint8 (B, H, W). The metadata's `classes` is a JSON list of names.
    """
    _require("onnx", "onnxscript")
    folder = RunFolder.existing(path)
    model, index = open_model(folder, step)
    about = {
        "classes": json.dumps(class_names(folder, index), ensure_ascii=False),
        "step": str(index),
        "method": folder.config.method.name,
        "dataset": folder.config.data.name,
        "input": "RGB bytes 0-255, uint8 (batch, 3, height, width)",
    }
    program = _traced(Exportable(model))
    program.model.metadata_props.update(about)
    with atomic_path(out) as temporary:
        program.save(temporary, external_data=False)
    return about


class Exportable(nn.Module):
    """A segmenter in operations that ONNX has, with the same results.

    The decoder's branches are plain convolutions here. Paddings are whole numbers and nothing is
    done in place, because the exporter is slow to follow either.
    """

    def __init__(self, model: Segmenter) -> None:
        super().__init__()
        self.encoder = deepcopy(model.encoder).freeze()
        self.branches = deepcopy(model.decoder.branches).requires_grad_(False)
        for name, module in list(self.encoder.named_modules()):
            if hasattr(module, "inplace"):
                module.inplace = False
            if isinstance(module, Conv2dSame) and max(module.stride) <= 2:
                self.encoder.set_submodule(name, SameConv(module))
        self.eval()

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (B,C,H,W) and masks (B,H,W) of RGB bytes (B,3,H,W)."""
        features = self.encoder(images)
        coarse = torch.stack([branch(features) for branch in self.branches]).sum(dim=0)
        logits = upsample(coarse, (images.shape[-2], images.shape[-1]))
        return logits, logits.argmax(dim=1).to(torch.uint8)


class SameConv(nn.Module):
    """TensorFlow's "same" convolution of a stride up to 2, with padding in whole numbers.

    timm's own divides and rounds up, which the exporter can follow, but only in minutes.
    """

    def __init__(self, conv: nn.Conv2d) -> None:
        super().__init__()
        self.conv = conv

    def forward(self, x: Tensor) -> Tensor:
        """The convolution of (B,C,H,W), with ceil(H/stride) rows and ceil(W/stride) columns."""
        conv, padding = self.conv, []
        for side in (1, 0):
            reach = (conv.kernel_size[side] - 1) * conv.dilation[side] + 1
            before, uneven = divmod(max(reach - conv.stride[side], 0), 2)
            odd = x.shape[2 + side] % conv.stride[side]
            padding += [before + odd * uneven, before + uneven + odd * (1 - uneven)]
        x = F.pad(x, padding)
        return F.conv2d(x, conv.weight, conv.bias, conv.stride, 0, conv.dilation, conv.groups)


def _traced(module: Exportable) -> Any:  # noqa: ANN401
    any_size = dict.fromkeys((0, 2, 3), torch.export.Dim.DYNAMIC)
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


def _require(*packages: str) -> None:
    if missing := [name for name in packages if importlib.util.find_spec(name) is None]:
        raise RecallsegError(
            f"An export needs {' and '.join(missing)}: pip install 'recallseg[export]'."
        )
