"""How long a photo takes in PyTorch, ONNX Runtime and OpenVINO, and whether they see the same.

    recallseg export MODEL -o model.onnx
    python tools/openvino_speed.py MODEL model.onnx PHOTO…

All three get the same photos, one by one and with as many threads, in turns, so that whatever else
the machine does slows all of them down. Needs `pip install openvino onnxruntime`.
"""

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime
import openvino
import torch

from recallseg.data.decoding import read_photo
from recallseg.predict.opening import open_model
from recallseg.runs.folder import RunFolder

ROUNDS = 5

Run = Callable[[np.ndarray], np.ndarray]


def pytorch(path: Path) -> Run:
    """The model as `recallseg predict` runs it."""
    model = open_model(RunFolder.existing(path))[0].eval()

    @torch.inference_mode()
    def run(images: np.ndarray) -> np.ndarray:
        return model(torch.from_numpy(images)).logits.argmax(1).to(torch.uint8).numpy()

    return run


def onnx_runtime(file: str, threads: int) -> Run:
    """The exported file in ONNX Runtime."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(file, options, ["CPUExecutionProvider"])
    return lambda images: session.run(["mask"], {"images": images})[0]


def open_vino(file: str, threads: int) -> Run:
    """The exported file in OpenVINO, in full precision."""
    settings = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads}
    settings["INFERENCE_PRECISION_HINT"] = "f32"
    compiled = openvino.Core().compile_model(file, "CPU", settings)
    return lambda images: compiled({"images": images})["mask"]


def main(model: Path, file: str, photos: list[Path]) -> None:
    """Print each one's time beside PyTorch's."""
    threads = torch.get_num_threads()
    images = [np.asarray(read_photo(path)).transpose(2, 0, 1)[None].copy() for path in photos]
    runs = {
        "PyTorch": pytorch(model),
        "ONNX Runtime": onnx_runtime(file, threads),
        "OpenVINO": open_vino(file, threads),
    }
    masks = {name: [run(image) for image in images] for name, run in runs.items()}
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(ROUNDS):
        for image in images:
            for name, run in runs.items():
                start = time.perf_counter()
                run(image)
                seconds[name].append(time.perf_counter() - start)
    base = statistics.median(seconds["PyTorch"])
    for name, times in seconds.items():
        pairs = zip(masks[name], masks["PyTorch"], strict=True)
        same = np.mean([np.mean(one == other) for one, other in pairs])
        share = statistics.median(times) / base
        print(f"{name:<13} {share:5.2f} of PyTorch's time, {same:8.4%} of pixels alike")  # noqa: T201
    print(f"{len(photos)} photos, {ROUNDS} rounds, {threads} threads")  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], [Path(name) for name in sys.argv[3:]])
