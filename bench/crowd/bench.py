# SPDX-License-Identifier: Apache-2.0
"""Many programs and many small arrays: how long a get takes, and what broker and keeper occupy."""

from __future__ import annotations

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from support.broker import Broker
from support.context import Context
from support.figures import Goal, Result
from support.memory import occupied_bytes

GOALS = {
    "get_p99_ms": Goal("<=", 2, "ms", "99th percentile of get, 1,000 sessions, 100,000 arrays, 10 % churn"),
    "broker_mb": Goal("<=", 300, "MB", "private memory of broker and keeper, and all memfds"),
}

_PROCESSES = 4


def run(context: Context) -> Result:
    sessions = 40 if context.quick else 1000
    arrays = 2000 if context.quick else 100_000
    with context.broker() as broker, tempfile.TemporaryDirectory(prefix="warpool-bench-") as folder:
        return _measure(context, broker, Path(folder), sessions // _PROCESSES, arrays // _PROCESSES)


def _measure(context: Context, broker: Broker, folder: Path, sessions: int, arrays: int) -> Result:
    with ExitStack() as stack:
        command: list[str | Path] = [context.program("warpool_bench_crowd"), str(sessions)]
        crowd = [stack.enter_context(context.worker(broker, command)) for _ in range(_PROCESSES)]
        threads = stack.enter_context(ThreadPoolExecutor(_PROCESSES))

        def all_at_once(question: str) -> None:
            """All processes work at the same time, each on arrays of its own."""
            questions = [question.format(first=k * arrays, file=folder / str(k)) for k in range(_PROCESSES)]
            list(threads.map(lambda worker, text: worker.ask(text), crowd, questions))

        all_at_once(f"fill {{first}} {arrays}")
        # One tenth of the calls are puts, and together they are a tenth of the arrays: 10 % churn.
        all_at_once(f"churn {{first}} {arrays} {arrays} {{file}}")
        occupied = occupied_bytes(broker.pids())
    times = np.concatenate([np.fromfile(folder / str(k), np.float32) for k in range(_PROCESSES)])
    figures = {"get_p99_ms": float(np.percentile(times, 99)), "broker_mb": occupied.total / 1e6}
    return Result(
        figures,
        [
            f"gets: median {np.median(times):.3f} ms, 99.9 % {np.percentile(times, 99.9):.2f} ms, largest {times.max():.1f} ms, "
            f"by {_PROCESSES} processes at full speed on {os.cpu_count()} processors",
            f"private {occupied.private / 1e6:.1f} MB, memfds {occupied.memfds / 1e6:.1f} MB",
        ],
    )
