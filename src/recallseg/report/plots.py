"""Plots as SVG: the same runs give the same bytes, and the ink follows the page's colours."""

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

INK = "#123457"
"""A colour used for nothing else; `_svg` replaces it by the text colour of the page."""
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5195", "#999933")
"""The palette of Okabe and Ito, readable with any kind of colour vision, and two more colours."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
STYLE: Any = {
    "svg.hashsalt": "recallseg",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}

Curve = Sequence[float | None]


def evolution(curves: Mapping[str, Curve], added: Sequence[str], what: str) -> str:
    """mIoU after each step, one line per method (paper, Fig. evolution)."""
    with _figure(7.2, 3.6) as (figure, axes):
        for index, (label, curve) in enumerate(curves.items()):
            points = {step: value for step, value in enumerate(curve) if value is not None}
            _line(axes, index, label, list(points), list(points.values()))
        axes.set_xticks(range(len(added)), added, rotation=30, ha="right")
        axes.set_ylabel(what)
        axes.set_ylim(0, None)
        axes.grid(axis="y", alpha=0.2, color=INK)
        _legend(figure, curves)
        return _svg(figure, f"{what} after each step")


def interleaving(ratios: Sequence[float], values: Sequence[float], what: str) -> str:
    """mIoU over r_old / r_new (paper, Fig. interleaving)."""
    with _figure(4.8, 3) as (figure, axes):
        _line(axes, 0, "RECALL", ratios, values)
        axes.set_xscale("log")
        axes.set_xticks(ratios, [f"{ratio:g}" for ratio in ratios])
        axes.minorticks_off()
        axes.set_xlabel("replayed samples for every new one")
        axes.set_ylabel(what)
        axes.grid(axis="y", alpha=0.2, color=INK)
        return _svg(figure, "mIoU over the interleaving ratio")


def memory(curves: Mapping[str, Sequence[float]], classes: Sequence[int]) -> str:
    """MB to be kept over the classes learned, on a logarithmic scale (paper, Fig. memory)."""
    with _figure(5.6, 3.2) as (figure, axes):
        for index, (label, curve) in enumerate(curves.items()):
            _line(axes, index, label, classes[: len(curve)], curve)
        axes.set_yscale("log")
        for which in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
            which(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.set_xticks(classes, [str(number) for number in classes])
        axes.set_xlabel("classes learned")
        axes.set_ylabel("MB on disk")
        axes.grid(axis="y", alpha=0.2, color=INK)
        _legend(figure, curves)
        return _svg(figure, "what has to be kept")


def _line(axes: Axes, index: int, label: str, x: Sequence[float], y: Sequence[float]) -> None:
    axes.plot(
        x,
        y,
        "--" if label == "Joint" else "-",
        label=label,
        color=COLOURS[index % len(COLOURS)],
        marker=MARKERS[(index + index // len(COLOURS)) % len(MARKERS)],
        markersize=4,
    )


def _legend(figure: Figure, labels: Iterable[str]) -> None:
    """Below the plot, in as many columns as the longest name allows."""
    longest = max(map(len, labels))
    figure.legend(loc="outside lower left", ncols=4 if longest < 20 else 2 if longest < 36 else 1)


@contextmanager
def _figure(width: float, height: float) -> Iterator[tuple[Figure, Axes]]:
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        yield figure, figure.add_subplot()


def _svg(figure: Figure, title: str) -> str:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Title": title})
    text = buffer.getvalue()
    return text[text.index("<svg") :].replace(INK, "currentColor")
