# SPDX-License-Identifier: Apache-2.0
"""Writes the runs as one HTML page that needs nothing else: a table, and timelines that name each array under the pointer."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

from runs import PROGRAMS, HandOver, Run, sharing_text, size_text

WIDTH, LANE_HEIGHT, BAR, LEFT, RIGHT = 1080, 34, 18, 150, 16
LANES = {program: i for i, program in enumerate(PROGRAMS)}
STYLE = """
:root { color-scheme: light dark; --ink: #1f2933; --faint: #6b7785; --line: #e4e7eb; --paper: #fff; --publish: #2f6db3;
  --features: #e07b22; --train: #3a8f5a; --hand: #c2304a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaee; --faint: #9aa5b1; --line: #333d47; --paper: #161b20;
  --publish: #6fa8e8; --features: #f0a050; --train: #67bf87; --hand: #f0708a; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 1120px; margin: 2.5em auto;
  padding: 0 1em; }
h1 { font-size: 1.55em; margin-bottom: .2em; } h2 { font-size: 1.1em; margin: 1.6em 0 .2em; } p { margin: .4em 0; }
.faint { color: var(--faint); }
table { border-collapse: collapse; margin: 1.2em 0; } th, td { padding: .35em .9em; text-align: right; }
th:first-child, td:first-child { text-align: left; padding-left: 0; } thead th { border-bottom: 2px solid var(--line); font-weight: 600; }
tbody td { border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums; } tbody tr:first-child { font-weight: 600; }
svg { width: 100%; height: auto; display: block; } svg text { font: 12px system-ui, sans-serif; fill: var(--ink); }
svg .axis { stroke: var(--line); } svg .tick { fill: var(--faint); } svg .life { opacity: .28; }
svg .hand { stroke: var(--hand); opacity: .55; } svg .late { opacity: .15; } svg circle { fill: var(--hand); }
svg circle:hover { r: 6px; } .publish { fill: var(--publish); } .features { fill: var(--features); } .train { fill: var(--train); }
"""


def write_page(runs: list[Run], path: Path) -> None:
    """Writes the page to `path`."""
    first = runs[0]
    last = max(run.seconds for run in runs) * 1.02
    lead = (
        f"Python publishes handwritten digits, Octave computes {size_text(first.feature_bytes)} of features in "
        f"{len(first.batches)} batches, and Python learns from them while they arrive. It recognises "
        f"{first.result['accuracy']:.2%} of the last {first.result['test_rows']} digits, which no program learned from."
    )
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
        f"<title>Handwritten digits with Warpool</title><style>{STYLE}</style></head><body>",
        "<h1>Handwritten digits: three programs, two languages</h1>",
        f"<p>{escape(lead)}</p>",
        *_table(runs),
        *_copies(runs),
        *(line for run in runs for line in _timeline(run, last)),
        '<p class="faint">A dot is an array that is handed over: point at it for its name and times. Dark parts of a bar are the time a '
        "program spends on writing or reading arrays.</p>",
        "</body></html>",
    ]
    path.write_text("\n".join(parts) + "\n", encoding="utf-8")


def _table(runs: list[Run]) -> Iterator[str]:
    heads = (
        "",
        "whole run",
        f"a batch of {size_text(runs[0].batch_bytes)}",
        "copies",
        "copied",
        "written to files",
        "accuracy",
    )
    yield "<table><thead><tr>" + "".join(f"<th>{escape(h)}</th>" for h in heads) + "</tr></thead><tbody>"
    for run in runs:
        cells = (
            run.title,
            f"{run.seconds:.1f} s",
            f"{run.batch_ms:.2f} ms",
            str(run.copies.count),
            size_text(run.copies.nbytes),
            size_text(run.file_bytes),
            f"{run.result['accuracy']:.2%}",
        )
        yield "<tr>" + "".join(f"<td>{escape(c)}</td>" for c in cells) + "</tr>"
    yield "</tbody></table>"


def _copies(runs: list[Run]) -> Iterator[str]:
    reasons = (
        ", ".join(f"{c.count} &times; {escape(reason)} ({c.nbytes:,} bytes)" for reason, c in runs[0].copy_reasons.items())
        or "none"
    )
    yield f"<p>{escape(sharing_text(runs))} Copies that Warpool made: {reasons}.</p>"


def _timeline(run: Run, last: float) -> Iterator[str]:
    height = LANE_HEIGHT * len(LANES) + 22
    scale = (WIDTH - LEFT - RIGHT) / last
    yield f"<h2>{escape(run.title)}</h2>"
    yield f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="Timeline of the run with {escape(run.title)}">'
    for second in range(0, int(last) + 1, 1 if last < 12 else 5):
        x = LEFT + second * scale
        yield f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{height - 18}"/>'
        yield f'<text class="tick" x="{x:.1f}" y="{height - 4}" text-anchor="middle">{second} s</text>'
    for program, (start, end) in run.spans.items():
        yield f'<text x="0" y="{_middle(program) + 4}">{escape(PROGRAMS[program])}</text>'
        yield _bar(program, start, end, scale, "life", f"{PROGRAMS[program]}: {start:.2f} s to {end:.2f} s")
    for h in run.hand_overs:
        yield from _hand_over(h, scale, last)
    yield "</svg>"


def _hand_over(h: HandOver, scale: float, last: float) -> Iterator[str]:
    x1, x2 = LEFT + h.begun * scale, LEFT + h.received * scale
    late = " late" if h.asked - h.published > last * 0.1 else ""
    story = (
        f"{h.name}, {size_text(h.nbytes)}: published at {h.published:.3f} s, usable at {h.received:.3f} s, "
        f"{h.seconds * 1e3:.2f} ms to hand over"
    )
    yield f'<line class="hand{late}" x1="{x1:.1f}" y1="{_middle(h.writer)}" x2="{x2:.1f}" y2="{_middle(h.reader)}"/>'
    yield _bar(h.writer, h.begun, h.published, scale, "", f"{story}")
    yield _bar(h.reader, max(h.asked, min(h.published, h.received)), h.received, scale, "", story)
    for x, program in ((x1, h.writer), (x2, h.reader)):
        yield f'<circle cx="{x:.1f}" cy="{_middle(program)}" r="3"><title>{escape(story)}</title></circle>'


def _bar(program: str, start: float, end: float, scale: float, kind: str, story: str) -> str:
    x, width = LEFT + start * scale, max((end - start) * scale, 1.5)
    y = _middle(program) - BAR / 2
    return (
        f'<rect class="{program} {kind}" x="{x:.1f}" y="{y}" width="{width:.1f}" height="{BAR}" rx="2">'
        f"<title>{escape(story)}</title></rect>"
    )


def _middle(program: str) -> float:
    return LANES[program] * LANE_HEIGHT + LANE_HEIGHT / 2
