# SPDX-License-Identifier: Apache-2.0
"""What the programs of one run of the pipeline did, read from their timelines, and the figures that report.py shows."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

PROGRAMS = {"publish": "publish.py (Python)", "features": "features.m (Octave)", "train": "train.py (Python)"}
TITLES = {
    "shared": "Warpool",
    "raw": "raw files",
    "mat6": "MAT files, v6",
    "mat7": "MAT files, v7",
}


def size_text(nbytes: float) -> str:
    """Bytes for people: "0", "1.8 kB", "245 MB"."""
    if nbytes < 1e3:
        return f"{nbytes:.0f} B" if nbytes else "0"
    value, unit = (nbytes / 1e3, "kB") if nbytes < 1e6 else (nbytes / 1e6, "MB")
    return f"{value:.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"


@dataclass(frozen=True)
class HandOver:
    """One array on its way from one program to another. Seconds since the start of the run."""

    name: str
    nbytes: int
    writer: str
    reader: str
    begun: float  # the writer has all values and begins to hand them over
    published: float  # the writer can go on
    asked: float  # the reader asks for it
    received: float  # the reader can use it

    @property
    def seconds(self) -> float:
        """What handing over costs: the writer's time and the reader's, without the time that it lay there unasked for."""
        return self.received - self.begun - max(0.0, self.asked - self.published)


@dataclass(frozen=True)
class Copies:
    """How often array data was copied on its way, and how much."""

    count: int
    nbytes: int


@dataclass(frozen=True)
class Run:
    """One run of the pipeline."""

    method: str
    spans: dict[str, tuple[float, float]]  # program: start and end
    passes: list[float]  # ends of the passes over the batches
    hand_overs: list[HandOver]
    copies: Copies
    copy_reasons: dict[str, Copies]
    file_bytes: int
    shared_bytes: int
    result: dict[str, Any]

    @property
    def title(self) -> str:
        return TITLES[self.method]

    @property
    def seconds(self) -> float:
        """From the start of the first program to the end of the last."""
        return max(end for _, end in self.spans.values())

    @property
    def batches(self) -> list[HandOver]:
        return [h for h in self.hand_overs if re.fullmatch(r"digits/batch\d+", h.name)]

    @property
    def batch_ms(self) -> float:
        """Median time to hand over a batch."""
        return 1e3 * median(h.seconds for h in self.batches)

    @property
    def batch_bytes(self) -> int:
        return self.batches[0].nbytes

    @property
    def feature_bytes(self) -> int:
        """All batches together."""
        return sum(h.nbytes for h in self.batches)

    @property
    def handed_over_bytes(self) -> int:
        return sum(h.nbytes for h in self.hand_overs)


def _events(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def _hand_overs(events: dict[str, list[dict[str, Any]]], zero: float) -> list[HandOver]:
    published = {e["name"]: (p, e) for p, es in events.items() for e in es if e["event"] == "published"}
    result = []
    for reader, es in events.items():
        for e in es:
            if e["event"] == "received" and e["name"] in published:
                writer, p = published[e["name"]]
                times = (t - zero for t in (p["since"], p["at"], e["asked"], e["at"]))
                result.append(HandOver(e["name"], e["bytes"], writer, reader, *times))
    return sorted(result, key=lambda h: h.received)


def _counted_copies(summary: dict[str, Any]) -> dict[str, Copies]:
    """Copies by reason, as the broker counted them for all stages."""
    total: dict[str, Copies] = {}
    for stage in summary["stages"]:
        for reason, c in stage["copies"].items():
            so_far = total.get(reason, Copies(0, 0))
            total[reason] = Copies(so_far.count + c["count"], so_far.nbytes + c["bytes"])
    return total


def _file_copies(hand_overs: list[HandOver]) -> dict[str, Copies]:
    """Writing a file copies the array into it, reading copies it out again."""
    written = {h.name: h.nbytes for h in hand_overs}
    return {
        "write": Copies(len(written), sum(written.values())),
        "read": Copies(len(hand_overs), sum(h.nbytes for h in hand_overs)),
    }


def read_run(folder: Path) -> Run:
    """Reads what a run left in its folder, whose name is the method."""
    events = {program: _events(folder / f"{program}.jsonl") for program in PROGRAMS}
    zero = min(e["at"] for es in events.values() for e in es)
    summary = json.loads((folder / "summary.json").read_text())
    hand_overs = _hand_overs(events, zero)
    reasons = _counted_copies(summary) if folder.name == "shared" else _file_copies(hand_overs)
    return Run(
        method=folder.name,
        spans={program: (es[0]["at"] - zero, es[-1]["at"] - zero) for program, es in events.items()},
        passes=[e["at"] - zero for e in events["train"] if e["event"] == "pass"],
        hand_overs=hand_overs,
        copies=Copies(sum(c.count for c in reasons.values()), sum(c.nbytes for c in reasons.values())),
        copy_reasons=reasons,
        file_bytes=int((folder / "file_bytes").read_text()),
        shared_bytes=sum(stage["shared_bytes"] for stage in summary["stages"]),
        result=json.loads((folder / "result.json").read_text()),
    )


def read_runs(folder: Path) -> list[Run]:
    """All runs below `folder`, Warpool first."""
    return [read_run(folder / method) for method in TITLES if (folder / method / "result.json").exists()]


def sharing_text(runs: list[Run]) -> str:
    """What was read without a copy, and what that saved against the way by files that copies least."""
    shared = runs[0]
    text = f"Read without a copy: {size_text(shared.shared_bytes)}."
    files = [run for run in runs if run.method != "shared"]
    if shared.method != "shared" or not files:
        return text
    least = min(files, key=lambda run: run.copies.nbytes)
    nbytes = least.copies.nbytes - shared.copies.nbytes
    return f"{text} Avoided: {least.copies.count - shared.copies.count} copies, {size_text(nbytes)} in all."
