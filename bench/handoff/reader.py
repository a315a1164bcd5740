# SPDX-License-Identifier: Apache-2.0
"""The NumPy side. One command a line, answered with milliseconds.

get NAME | create NAME MIB | forget NAME | fromfile PATH | readinto PATH | memmap PATH
"""

import os
import sys
import time
from collections.abc import Callable

import numpy as np
import warpool

_MIB = 1024 * 1024


def timed(read: Callable[[], np.ndarray]) -> float:
    """Milliseconds until the first element is read; freeing what was read is not counted on either side."""
    start = time.perf_counter_ns()
    x = read()
    first = x[0]
    elapsed = time.perf_counter_ns() - start
    assert first == 1.0
    return elapsed / 1e6


def read_into(path: str) -> np.ndarray:
    x = np.empty(os.path.getsize(path) // 8)
    with open(path, "rb", buffering=0) as file:
        view = memoryview(x).cast("B")
        while view:
            view = view[file.readinto(view) :]
    return x


def get(name: str) -> np.ndarray:
    return np.asarray(warpool.get(name)).reshape(-1, order="F")


def create(name: str, mib: int) -> float:
    with warpool.create(name, mib * _MIB // 8) as draft:
        draft[0] = 1.0
    return 0.0


def answer(words: list[str]) -> float:
    match words:
        case ["get", name]:
            return timed(lambda: get(name))
        case ["fromfile", path]:
            return timed(lambda: np.fromfile(path))
        case ["readinto", path]:
            return timed(lambda: read_into(path))
        case ["memmap", path]:
            return timed(lambda: np.memmap(path, dtype=np.float64, mode="r"))
        case ["create", name, mib]:
            return create(name, int(mib))
        case ["forget", name]:
            warpool.rm(name)
            return 0.0
    raise ValueError(words)


for line in sys.stdin:
    print(answer(line.split()), flush=True)
