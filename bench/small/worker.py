# SPDX-License-Identifier: Apache-2.0
"""Reads a count a line, answers with the nanoseconds of one put and get of 1 KiB."""

import sys
import time

import numpy as np
import warpool


def measure(count: int) -> float:
    x = np.arange(128.0)
    start = time.perf_counter_ns()
    for _ in range(count):
        warpool.put("bench/python", x)
        y = warpool.get("bench/python")
    elapsed = time.perf_counter_ns() - start
    assert y[127] == 127.0
    return elapsed / count


for line in sys.stdin:
    print(measure(int(line)), flush=True)
