# SPDX-License-Identifier: Apache-2.0
"""Paired rounds: both sides of a ratio are measured in turn, so that they meet the same machine, noise included."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median

Sides = Mapping[str, Callable[[], float]]


def measure_in_turn(sides: Sides, rounds: int) -> dict[str, list[float]]:
    """Calls every side once a round, in an order that turns round each time; the lists are parallel."""
    for side in sides.values():
        side()  # first touches, caches, connections
    times: dict[str, list[float]] = {name: [] for name in sides}
    order = list(sides)
    for _ in range(rounds):
        for name in order:
            times[name].append(sides[name]())
        order.reverse()
    return times


def median_ratio(numerators: list[float], denominators: list[float]) -> float:
    """The median of the ratios of the rounds."""
    return median(a / b for a, b in zip(numerators, denominators, strict=True))
