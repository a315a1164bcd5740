# SPDX-License-Identifier: Apache-2.0
"""256 MiB of doubles from Octave to NumPy: born shared, by a raw file on tmpfs, and by a put of what exists already."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from statistics import median

from support.broker import Broker
from support.context import Context
from support.figures import Goal, Result
from support.worker import Worker

GOALS = {
    "publish_ms": Goal("<=", 8, "ms", "warpool.publish in Octave"),
    "get_ms": Goal("<=", 0.3, "ms", "warpool.get in Python and the first element read"),
    "vs_fastest_file": Goal(">=", 30, "x", "fwrite and the fastest file read / publish and get"),
    "get_vs_fastest_file": Goal(">=", 300, "x", "the fastest read of the file's data / get"),
    "put_again_vs_memcpy": Goal("<=", 1.3, "x", "put into the spare made ready meanwhile / memcpy"),
    "put_first_vs_memcpy": Goal("<=", 3.5, "x", "first put of a program / memcpy"),
    "get_3gib_vs_1mib": Goal("<=", 3, "x", "get of 3 GiB / get of 1 MiB"),
}

_HERE = Path(__file__).resolve().parent


def run(context: Context) -> Result:
    mib = 16 if context.quick else 256
    with context.broker() as broker:
        with (
            context.worker(broker, [*context.octave(), _HERE / "writer.m"]) as octave,
            context.worker(broker, [*context.python(), _HERE / "reader.py"]) as python,
        ):
            exchange = _exchange(context, octave, python, mib)
            sizes = _get_by_size(context, python)
        puts = [_puts(context, broker, mib) for _ in range(context.rounds(5))]
    publish, get = median(exchange["publish"]), median(exchange["get"])
    read = min(median(exchange["fromfile"]), median(exchange["readinto"]))
    figures = {
        "publish_ms": publish,
        "get_ms": get,
        "vs_fastest_file": (median(exchange["fwrite"]) + min(read, median(exchange["memmap"]))) / (publish + get),
        "get_vs_fastest_file": read / get,
        "put_again_vs_memcpy": median(again for again, _ in puts),
        "put_first_vs_memcpy": median(first for _, first in puts),
        "get_3gib_vs_1mib": sizes,
    }
    shown = ", ".join(f"{name} {median(values):.3g} ms" for name, values in exchange.items())
    return Result(figures, [f"medians of {mib} MiB: {shown}"])


def _exchange(context: Context, octave: Worker, python: Worker, mib: int) -> dict[str, list[float]]:
    """Milliseconds of each step; every round goes by memory and by file."""
    times: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="warpool-bench-") as folder:
        path = os.path.join(folder, "x.bin")
        for round_number in range(context.rounds(9) + 1):
            steps = {
                "publish": lambda: octave.ask(f"publish {mib}"),
                "get": lambda: python.ask("get bench/handoff"),
                "fwrite": lambda: octave.ask(f"fwrite {mib} {path}"),
                "fromfile": lambda: python.ask(f"fromfile {path}"),
                "readinto": lambda: python.ask(f"readinto {path}"),
                "memmap": lambda: python.ask(f"memmap {path}"),
            }
            for name, step in steps.items():
                value = step()
                if round_number > 0:  # the first one warms both sides up
                    times.setdefault(name, []).append(value)
    return times


def _get_by_size(context: Context, python: Worker) -> float:
    """The ratio of two gets, each with its first element read, taken in turn."""
    large = 48 if context.quick else 3 * 1024
    python.ask("create bench/small 1")
    python.ask(f"create bench/large {large}")
    small_times, large_times = [], []
    for _ in range(context.count(200)):
        small_times.append(python.ask("get bench/small"))
        large_times.append(python.ask("get bench/large"))
    python.ask("forget bench/large")
    return median(large_times) / median(small_times)


def _puts(context: Context, broker: Broker, mib: int) -> tuple[float, float]:
    """(again, first) of a program that puts for the first time, over memcpy in the same program."""
    with context.worker(broker, [*context.python(), _HERE / "putter.py"]) as python:
        memcpy = [python.ask(f"memcpy {mib}") for _ in range(3)]
        first = python.ask(f"put {mib}")
        again = []
        for _ in range(4):
            python.ask("compute 400")
            memcpy.append(python.ask(f"memcpy {mib}"))
            again.append(python.ask(f"put {mib}"))
    return median(again) / median(memcpy), first / median(memcpy)
