# SPDX-License-Identifier: Apache-2.0
"""A broker that dies: its keeper starts it again, calls go on, arrays and waits survive."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any

import numpy as np
import pytest
import warpool
from conftest import Broker
from values import same_bytes


def kill_broker() -> None:
    pid = warpool.status()["broker_pid"]
    os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + 20
    while warpool.status()["broker_pid"] == pid:
        assert time.monotonic() < deadline, "the killed broker still answers"
        time.sleep(0.01)


def test_arrays_views_and_calls_survive_the_broker() -> None:
    x = np.arange(100_000.0)
    warpool.put("large", x)
    warpool.put("small", {"a": 1.5, "t": "text"})
    view = np.asarray(warpool.get("large"))
    kill_broker()
    assert warpool.status()["restarts"] == 1
    assert same_bytes(view, x)
    assert same_bytes(warpool.get("large"), x)
    assert warpool.get("small")["t"] == "text"
    assert warpool.put("large", x + 1) == 2


def test_a_draft_survives_the_broker() -> None:
    draft = warpool.create("d", 100_000)
    draft[:] = 3
    kill_broker()
    assert draft.publish() == 1
    assert warpool.get("d")[99_999] == 3


def test_a_wait_survives_the_broker() -> None:
    got: list[Any] = []
    waiter = threading.Thread(target=lambda: got.append(warpool.get("later", wait=60)))
    waiter.start()
    time.sleep(0.1)
    kill_broker()
    warpool.put("later", 7)
    waiter.join(30)
    assert not waiter.is_alive()
    assert int(got[0]) == 7


def test_a_watch_goes_on_after_the_broker_was_lost() -> None:
    with warpool.watch("x/*", timeout=20) as events:
        warpool.put("x/before", 1)
        assert next(events).name == "x/before"
        kill_broker()
        warpool.put("x/after", 1)
        names = {next(events).name}
        while "x/after" not in names:
            names.add(next(events).name)


def test_a_connection_that_shall_not_restore_says_that_the_broker_is_gone(broker: Broker) -> None:
    with warpool.connect(restore=False) as session:
        session.ping()
        kill_broker()
        with pytest.raises(warpool.NoBrokerError):
            session.ping()
    assert broker.socket.exists()
