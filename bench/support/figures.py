# SPDX-License-Identifier: Apache-2.0
"""Figures against their goals, as a table for people and as JSON for programs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

_COMPARISONS = {">=": lambda value, limit: value >= limit, "<=": lambda value, limit: value <= limit}


@dataclass(frozen=True)
class Goal:
    """What a figure must reach: `comparison` is ">=" or "<="."""

    comparison: str
    limit: float
    unit: str
    meaning: str

    def is_met(self, value: float) -> bool:
        return bool(_COMPARISONS[self.comparison](value, self.limit))

    def __str__(self) -> str:
        return f"{self.comparison} {self.limit:g}"


@dataclass
class Result:
    """The figures of one bench, by the keys of its goals, and lines that people want to read beside them."""

    figures: dict[str, float]
    notes: list[str] = field(default_factory=list)


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def as_json(bench: str, goals: dict[str, Goal], result: Result) -> str:
    """One object on one line."""
    figures = {
        key: {
            "value": _rounded(result.figures[key]),
            "unit": goal.unit,
            "goal": str(goal),
            "met": goal.is_met(result.figures[key]),
        }
        for key, goal in goals.items()
    }
    return json.dumps({"bench": bench, "figures": figures})


def as_table(bench: str, goals: dict[str, Goal], result: Result) -> str:
    """A few lines for people."""
    keys = max(map(len, goals))
    lines = [bench]
    for key, goal in goals.items():
        value = result.figures[key]
        shown = f"{_rounded(value):g} {goal.unit}"
        verdict = "met" if goal.is_met(value) else "MISSED"
        lines.append(f"  {key:<{keys}}  {shown:>12}  goal {goal!s:<8}  {verdict:<6}  {goal.meaning}")
    lines += [f"  {note}" for note in result.notes]
    return "\n".join(lines)
