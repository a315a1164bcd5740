# SPDX-License-Identifier: Apache-2.0
"""The rate of calls against a bare pair of processes that exchanges the same messages and makes the same system calls."""

from __future__ import annotations

from statistics import median

from support.context import Context
from support.figures import Goal, Result
from support.rounds import measure_in_turn, median_ratio

GOALS = {
    "trivial_vs_bare": Goal(">=", 0.70, "x", "rate of ping / bare ping-pong"),
    "alloc_fd_map_vs_bare": Goal(">=", 0.70, "x", "rate of create, publish, get, release of 1 MiB / the same bare"),
}

_PINGS, _ALLOCATIONS = 2000, 150


def run(context: Context) -> Result:
    with (
        context.broker() as broker,
        context.worker(broker, [context.program("warpool_bench_worker")]) as worker,
    ):
        counts = {"bare_ping": _PINGS, "ping": _PINGS, "bare_alloc": _ALLOCATIONS, "alloc": _ALLOCATIONS}
        questions = {name: f"{name} {context.count(count)}" for name, count in counts.items()}
        times = measure_in_turn(
            {name: lambda question=question: worker.ask(question) for name, question in questions.items()}, context.rounds(41)
        )
    figures = {
        "trivial_vs_bare": median_ratio(times["bare_ping"], times["ping"]),
        "alloc_fd_map_vs_bare": median_ratio(times["bare_alloc"], times["alloc"]),
    }
    shown = ", ".join(f"{name} {median(values) / 1000:.1f} us" for name, values in times.items())
    return Result(figures, [f"medians: {shown}"])
