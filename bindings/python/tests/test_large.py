# SPDX-License-Identifier: Apache-2.0
"""Arrays of more than 2 GiB, which 32-bit sizes anywhere would break."""

from __future__ import annotations

import time

import numpy as np
import pytest
import warpool
from dlpack_abi import Capsule

_ELEMENTS = 2**31 + 4096
_NEEDED_BYTES = 3 * _ELEMENTS


def _memory_available() -> int:
    with open("/proc/meminfo") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))


@pytest.mark.slow
@pytest.mark.broker("--max-memory", "5G")
@pytest.mark.skipif(_memory_available() < _NEEDED_BYTES, reason="needs 6 GiB of free memory")
def test_an_array_of_more_than_two_gib_is_shared_whole() -> None:
    with warpool.create("large", (2, _ELEMENTS // 2), "uint8") as draft:
        draft[0, 0], draft[1, -1] = 1, 255
    started = time.monotonic()
    a = warpool.get("large")
    last = a[1, -1]
    elapsed = time.monotonic() - started
    assert last == 255
    assert elapsed < 1, "getting an array must not depend on its size"
    assert (a.shape, a.nbytes, a.T.shape) == ((2, _ELEMENTS // 2), _ELEMENTS, (_ELEMENTS // 2, 2))
    assert memoryview(a).nbytes == _ELEMENTS
    assert np.from_dlpack(a)[1, -1] == 255
    legacy = Capsule(a.__dlpack__())
    assert legacy.array()[1, -1] == 255
    legacy.array()[1, -1] = 7
    assert a[1, -1] == 255


@pytest.mark.slow
@pytest.mark.broker("--max-memory", "5G")
@pytest.mark.skipif(_memory_available() < 2 * _NEEDED_BYTES, reason="needs 12 GiB of free memory")
def test_more_than_two_gib_can_be_put() -> None:
    x = np.zeros(_ELEMENTS, np.uint8)
    x[-1], x[2**31] = 3, 4
    warpool.put("large", x)
    a = warpool.get("large")
    assert (a[_ELEMENTS - 1], a[2**31]) == (3, 4)
