# SPDX-License-Identifier: Apache-2.0
"""put + get of 1 KiB in each language, in units of one bare exchange of messages."""

from __future__ import annotations

from pathlib import Path
from statistics import median

from support.context import Context
from support.figures import Goal, Result
from support.rounds import measure_in_turn, median_ratio

GOALS = {
    "python_vs_pingpong": Goal("<=", 3.5, "x", "put + get in Python / one bare ping-pong"),
    "octave_vs_pingpong": Goal("<=", 6.5, "x", "put + get in Octave / one bare ping-pong"),
}

_HERE = Path(__file__).resolve().parent
_PINGS, _PAIRS = 2000, 700


def run(context: Context) -> Result:
    with (
        context.broker() as broker,
        context.worker(broker, [context.program("warpool_bench_worker")]) as bare,
        context.worker(broker, [*context.python(), _HERE / "worker.py"]) as python,
        context.worker(broker, [*context.octave(), _HERE / "worker.m"]) as octave,
    ):
        pairs = str(context.count(_PAIRS))
        times = measure_in_turn(
            {
                "bare ping-pong": lambda: bare.ask(f"bare_ping {context.count(_PINGS)}"),
                "C": lambda: bare.ask(f"put_get {pairs}"),
                "Python": lambda: python.ask(pairs),
                "Octave": lambda: octave.ask(pairs),
            },
            context.rounds(41),
        )
    bare_times = times["bare ping-pong"]
    figures = {
        "python_vs_pingpong": median_ratio(times["Python"], bare_times),
        "octave_vs_pingpong": median_ratio(times["Octave"], bare_times),
    }
    shown = ", ".join(f"{name} {median(values) / 1000:.1f} us" for name, values in times.items())
    return Result(figures, [f"medians: {shown}"])
