# SPDX-License-Identifier: Apache-2.0
"""Draws the runs as one picture: a timeline each, and beside them what handing over cost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from runs import PROGRAMS, Run, sharing_text, size_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, FAINT, GRID = "#1f2933", "#7b8794", "#e4e7eb"
COLOURS = {"publish": "#2f6db3", "features": "#e07b22", "train": "#3a8f5a"}
HAND_OVER = "#c2304a"
WARPOOL, FILES = "#2f6db3", "#a9b4c0"
LANE = {program: 2 - i for i, program in enumerate(PROGRAMS)}
BAR_HEIGHT = 0.52


def draw(runs: list[Run], path: Path) -> None:
    """Writes the picture to `path`."""
    plt.rcParams.update({"font.family": "DejaVu Sans", "font.size": 9, "text.color": INK, "axes.edgecolor": GRID})
    figure = plt.figure(figsize=(13, 2.2 + 1.75 * len(runs)), dpi=140, facecolor="white")
    outer = figure.add_gridspec(1, 2, width_ratios=[2.35, 1], left=0.115, right=0.975, top=0.855, bottom=0.085, wspace=0.2)
    timelines = outer[0].subgridspec(len(runs), 1, hspace=0.42)
    last = max(run.seconds for run in runs) * 1.02
    for i, run in enumerate(runs):
        _timeline(figure.add_subplot(timelines[i]), run, last, is_last=i == len(runs) - 1)
    bars = outer[1].subgridspec(3, 1, hspace=0.55)
    for i, (title, values, text) in enumerate(_figures(runs)):
        _bars(figure.add_subplot(bars[i]), runs, title, values, text)
    _titles(figure, runs)
    figure.savefig(path)
    plt.close(figure)


def _titles(figure: Any, runs: list[Run]) -> None:
    first = runs[0]
    figure.text(0.02, 0.955, "Handwritten digits: three programs, two languages", fontsize=15, fontweight="bold", va="center")
    text = (
        f"Python publishes digits, Octave computes {size_text(first.feature_bytes)} of features in {len(first.batches)} batches, "
        f"Python learns while they arrive: {first.result['accuracy']:.1%} of the last {first.result['test_rows']} digits are recognised."
    )
    figure.text(0.02, 0.915, text, fontsize=9.5, color=FAINT, va="center")
    figure.text(0.975, 0.955, sharing_text(runs), fontsize=10.5, color=WARPOOL, fontweight="bold", va="center", ha="right")


def _timeline(axes: Axes, run: Run, last: float, *, is_last: bool) -> None:
    for program, (start, end) in run.spans.items():
        width = max(end - start, last * 0.004)  # the first program takes milliseconds: still a line that can be seen
        axes.barh(LANE[program], width, left=start, height=BAR_HEIGHT, color=COLOURS[program], alpha=0.28, linewidth=0)
    for h in run.hand_overs:
        x, y = (h.begun, h.received), (LANE[h.writer], LANE[h.reader])
        # Arrays that wait long for their reader give long lines that say little: fainter.
        alpha = 0.15 if h.asked - h.published > last * 0.1 else 0.55
        axes.plot(x, y, color=HAND_OVER, linewidth=0.8, alpha=alpha, solid_capstyle="round")
        axes.barh(y[0], max(h.published - h.begun, 0), left=h.begun, height=BAR_HEIGHT, color=COLOURS[h.writer], linewidth=0)
        start = max(h.asked, min(h.published, h.received))
        axes.barh(y[1], h.received - start, left=start, height=BAR_HEIGHT, color=COLOURS[h.reader], linewidth=0)
    writers = [(h.begun, LANE[h.writer]) for h in run.hand_overs]
    readers = [(h.received, LANE[h.reader]) for h in run.hand_overs]
    for point in (*writers, *readers):
        axes.plot(*point, marker="o", markersize=2.6, color=HAND_OVER, markeredgewidth=0)
    for end in run.passes:
        axes.plot((end, end), (LANE["train"] - BAR_HEIGHT / 2, LANE["train"] + BAR_HEIGHT / 2), color="white", linewidth=1.6)
    axes.set_xlim(0, last)
    axes.set_ylim(-0.55, 2.55)
    axes.set_yticks(list(LANE.values()), list(PROGRAMS.values()))
    axes.tick_params(length=0, colors=INK, labelbottom=is_last)
    axes.grid(axis="x", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    axes.set_title(run.title, loc="left", fontsize=11, fontweight="bold", pad=5)
    axes.set_title(f"{run.seconds:.1f} s in all", loc="right", fontsize=9.5, color=FAINT, pad=5)
    if is_last:
        axes.set_xlabel(
            "seconds    ● array handed over    dark: writing or reading it    | end of a pass over all batches",
            color=FAINT,
            loc="left",
        )


def _figures(runs: list[Run]) -> list[tuple[str, list[float], Callable[[float], str]]]:
    return [
        (f"Handing over a batch of {size_text(runs[0].batch_bytes)}", [run.batch_ms for run in runs], _milliseconds),
        ("Copied between the programs", [run.copies.nbytes for run in runs], size_text),
        ("Written to files", [run.file_bytes for run in runs], size_text),
    ]


def _bars(axes: Axes, runs: list[Run], title: str, values: list[float], text: Callable[[float], str]) -> None:
    places = range(len(runs))[::-1]
    axes.barh(places, values, color=[WARPOOL if run.method == "shared" else FILES for run in runs], height=0.62)
    for place, value in zip(places, values, strict=True):
        axes.text(value, place, f"  {text(value)}", va="center", fontsize=9)
    axes.set_yticks(places, [run.title for run in runs])
    axes.set_xlim(0, max(values) * 1.28 or 1)
    axes.set_xticks([])
    axes.tick_params(length=0, colors=INK)
    axes.spines[["top", "right", "bottom"]].set_visible(False)
    axes.set_title(title, loc="left", fontsize=10.5, fontweight="bold")


def _milliseconds(value: float) -> str:
    return f"{value:.0f} ms" if value >= 100 else f"{value:.3g} ms"
