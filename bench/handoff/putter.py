# SPDX-License-Identifier: Apache-2.0
"""A program that puts an array that exists already. One command a line, answered with milliseconds.

memcpy MIB    between two buffers that have been touched
put MIB       of the first of them
compute MS    works for so long, as programs do between two puts
"""

import sys
import time

import numpy as np
import warpool

_buffers: dict[int, tuple[np.ndarray, np.ndarray]] = {}


def buffers(mib: int) -> tuple[np.ndarray, np.ndarray]:
    if mib not in _buffers:
        count = mib * 1024 * 1024 // 8
        _buffers[mib] = (np.full(count, 1.0), np.full(count, 2.0))
    return _buffers[mib]


def memcpy(mib: int) -> float:
    source, target = buffers(mib)
    start = time.perf_counter_ns()
    np.copyto(target, source)
    return (time.perf_counter_ns() - start) / 1e6


def put(mib: int) -> float:
    source, _ = buffers(mib)
    start = time.perf_counter_ns()
    warpool.put("bench/put", source)
    return (time.perf_counter_ns() - start) / 1e6


def compute(ms: int) -> float:
    end = time.perf_counter() + ms / 1000
    x = np.full(1000, 1.0000001)
    while time.perf_counter() < end:
        x *= x
        x /= x
    return float(ms)


_COMMANDS = {"memcpy": memcpy, "put": put, "compute": compute}

warpool.ping()
for line in sys.stdin:
    command, number = line.split()
    print(_COMMANDS[command](int(number)), flush=True)
