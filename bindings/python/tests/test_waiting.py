# SPDX-License-Identifier: Apache-2.0
"""Waits: they end in time, say who was waited for, can be interrupted, and let other threads run."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import warpool


def later(seconds: float, action: Callable[..., Any], *arguments: Any) -> threading.Timer:
    timer = threading.Timer(seconds, action, arguments)
    timer.start()
    return timer


def test_without_wait_a_missing_name_fails_at_once_and_is_named() -> None:
    started = time.monotonic()
    for wait in (None, False, 0):
        with pytest.raises(warpool.NotFoundError, match="lab/absent") as caught:
            warpool.get("lab/absent", wait=wait)
    assert time.monotonic() - started < 2
    assert isinstance(caught.value, KeyError)
    assert (caught.value.code, caught.value.status) == (2, "not_found")


def test_a_wait_ends_in_time_and_says_for_what() -> None:
    started = time.monotonic()
    with pytest.raises(warpool.TimedOutError, match="lab/absent") as caught:
        warpool.get("lab/absent", wait=0.3)
    assert 0.25 < time.monotonic() - started < 5
    assert isinstance(caught.value, TimeoutError)
    assert warpool.TimeoutError_ is warpool.TimedOutError


def test_the_message_names_the_program_that_made_it_last() -> None:
    with warpool.connect(label="the recorder") as session:
        session.put("lab/x", 1)
        session.rm("lab/x")
        with pytest.raises(warpool.TimedOutError, match="the recorder"):
            warpool.get("lab/x", wait=0.05)


@pytest.mark.parametrize("wait", [True, 30, 30.0])
def test_a_wait_ends_when_the_name_appears(wait: Any) -> None:
    timer = later(0.1, warpool.put, "soon", np.arange(3))
    assert warpool.get("soon", wait=wait)[:].tolist() == [0, 1, 2]
    timer.join()


def test_waiting_for_a_version() -> None:
    warpool.put("v", 1)
    with pytest.raises(warpool.TimedOutError):
        warpool.get("v", version=2, wait=0.05)
    timer = later(0.1, warpool.put, "v", 2)
    assert int(warpool.get("v", version=2, wait=30)) == 2
    timer.join()


@pytest.mark.parametrize(("wait", "error"), [(-1, ValueError), (float("nan"), ValueError), ("1", TypeError), ([], TypeError)])
def test_bad_waits_are_refused(wait: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="wait"):
        warpool.get("x", wait=wait)


def test_many_threads_wait_at_once_and_others_work_meanwhile() -> None:
    got: dict[int, int] = {}

    def take(number: int) -> None:
        got[number] = int(warpool.get(f"n{number}", wait=30))

    threads = [threading.Thread(target=take, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for number in reversed(range(20)):
        warpool.put(f"n{number}", number)
    for thread in threads:
        thread.join(30)
    assert got == {number: number for number in range(20)}


def test_python_runs_while_a_thread_waits() -> None:
    waiter = threading.Thread(target=warpool.get, args=("end",), kwargs={"wait": 30})
    waiter.start()
    turns = 0
    deadline = time.monotonic() + 0.3
    while time.monotonic() < deadline:
        turns += 1
    warpool.put("end", 1)
    waiter.join(30)
    assert not waiter.is_alive()
    assert turns > 1000


def test_closing_the_connection_ends_the_waits_of_other_threads() -> None:
    session = warpool.connect()
    outcome: list[BaseException] = []

    def wait() -> None:
        try:
            session.get("never", wait=True)
        except BaseException as error:
            outcome.append(error)

    waiter = threading.Thread(target=wait)
    waiter.start()
    time.sleep(0.1)
    session.close()
    waiter.join(10)
    assert not waiter.is_alive()
    assert isinstance(outcome[0], warpool.InterruptedCallError)
    assert "closed" in str(outcome[0])


WAITER = """
import sys, time, warpool
print("ready", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print("interrupted", flush=True)
    {after}
"""


@pytest.mark.parametrize(
    "call",
    [
        "warpool.get('never', wait=True)",
        "warpool.get('never', wait=1000)",
        "next(warpool.watch('never'))",
        "warpool.watch('never').next(timeout=1000)",
    ],
)
def test_control_c_ends_a_wait_and_the_program_goes_on(call: str) -> None:
    source = WAITER.format(call=call, after="warpool.put('after', 1); print(int(warpool.get('after')), flush=True)")
    with subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        time.sleep(0.5)
        started = time.monotonic()
        program.send_signal(signal.SIGINT)
        output, _ = program.communicate(timeout=20)
        assert output == "interrupted\n1\n"
        assert program.returncode == 0
        assert time.monotonic() - started < 5


def test_a_signal_handler_runs_during_a_wait_and_may_use_warpool() -> None:
    seen: list[int] = []

    def handle(number: int, frame: Any) -> None:
        seen.append(number)
        warpool.put("from/handler", 7)

    previous = signal.signal(signal.SIGUSR1, handle)
    try:
        timer = later(0.1, os.kill, os.getpid(), signal.SIGUSR1)
        assert int(warpool.get("from/handler", wait=30)) == 7
        timer.join()
    finally:
        signal.signal(signal.SIGUSR1, previous)
    assert seen == [signal.SIGUSR1]


def test_an_exception_of_a_signal_handler_ends_the_wait() -> None:
    class MineError(Exception):
        pass

    def handle(number: int, frame: Any) -> None:
        raise MineError

    previous = signal.signal(signal.SIGUSR1, handle)
    try:
        timer = later(0.1, os.kill, os.getpid(), signal.SIGUSR1)
        with pytest.raises(MineError):
            warpool.get("never", wait=30)
        timer.join()
    finally:
        signal.signal(signal.SIGUSR1, previous)


def test_a_watch_tells_in_order_what_happens() -> None:
    warpool.put("run/0", 0)
    with warpool.watch("run/*", existing=True, timeout=10) as events:
        warpool.put("run/1", 1)
        warpool.put("other", 1)
        warpool.put("run/1", 2)
        warpool.rm("run/0")
        seen = [(event.kind, event.name, event.version) for _, event in zip(range(4), events, strict=False)]
    assert seen[:3] == [("published", "run/0", 1), ("published", "run/1", 1), ("published", "run/1", 2)]
    assert seen[3][:2] == ("removed", "run/0")


def test_a_watch_ends_or_raises_when_nothing_happens() -> None:
    with warpool.watch("nothing", timeout=0.05) as events:
        assert list(events) == []
        with pytest.raises(warpool.TimedOutError):
            events.next(timeout=0.05)
        timer = later(0.1, warpool.put, "nothing", 1)
        event = events.next(timeout=30)
        timer.join()
        assert repr(event) == "<warpool.Event published 'nothing' version 1>"
        assert event.owner_uid == os.getuid()
    with pytest.raises(warpool.ConflictError, match="closed"):
        events.next()


def test_two_threads_may_not_share_a_watch() -> None:
    session = warpool.connect()
    events = session.watch("nothing")

    def wait() -> None:
        with contextlib.suppress(warpool.InterruptedCallError):
            next(events)

    waiter = threading.Thread(target=wait)
    waiter.start()
    time.sleep(0.1)
    with pytest.raises(warpool.ConflictError, match="another thread"):
        events.next(timeout=1)
    with pytest.raises(warpool.ConflictError, match="another thread"):
        events.close()
    session.close()
    waiter.join(10)
    assert not waiter.is_alive()
    events.close()
