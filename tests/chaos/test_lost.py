# SPDX-License-Identifier: Apache-2.0
"""Broker and keeper killed at once, and processes that are stopped rather than dead."""

from __future__ import annotations

import signal
import subprocess
import threading
import time

import brokers
import cwarpool
import pytest


def kill_both(broker: brokers.Broker) -> None:
    """The keeper first, stopped before it could answer the death of the other, and the other way round would do as well."""
    brokers.kill(broker.keeper_pid, signal.SIGSTOP)
    brokers.kill(broker.broker_pid)
    brokers.kill(broker.keeper_pid)
    brokers.wait_until(
        lambda: not brokers.is_alive(broker.broker_pid) and not brokers.is_alive(broker.keeper_pid), 5, "death of both"
    )
    broker.process.wait()


def test_lost_arrays_are_named() -> None:
    with brokers.running() as broker:
        with broker.connect("holder") as holder:
            first = holder.info()
            for _ in range(3):
                holder.put("lab/small", b"s" * 100)
            data = bytes(range(256)) * 1000
            holder.put("lab/big", data)
            holder.put("lab/removed", b"x")
            holder.remove("lab/removed")
            held = holder.get("lab/big")
            kill_both(broker)
            broker.start()
            # The bytes are those of the program that holds them, whoever died.
            assert held.view() == data
            info = broker.refresh(holder)
            assert info.lost == 2 and info.epoch != first.epoch and info.restarts == 0
            assert holder.list() == {}
            log = broker.log_text()
            for text in ("lab/small version 3", "lab/big version 1"):
                assert text in log
            assert "lab/removed" not in log
            with pytest.raises(cwarpool.WarpoolError) as caught:
                holder.get("lab/big")
            assert caught.value.code in (cwarpool.NOT_FOUND, cwarpool.LOST)
            # Never a version again, of these names or of others.
            assert holder.put("lab/small", b"s") > 3 and holder.put("lab/big", b"b") > 1 and holder.put("lab/removed", b"r") > 1
            assert held.view() == data
            held.release()
            assert holder.info().memory_viewed == 0
        # The second loss names what was published after the first.
        with broker.connect() as other:
            kill_both(broker)
            broker.start()
            assert broker.refresh(other).lost == 3


def test_clean_end_loses_nothing() -> None:
    with brokers.running() as broker:
        with broker.connect() as connection:
            connection.put("a", b"x")
        brokers.kill(broker.broker_pid, signal.SIGTERM)
        broker.process.wait(timeout=10)
        assert not brokers.is_alive(broker.keeper_pid)
        broker.start()
        with broker.connect() as connection:
            assert connection.info().lost == 0


def test_lost_in_quick_succession() -> None:
    """Versions grow over every kind of loss, in whatever order."""
    last = 0
    with brokers.running() as broker, broker.connect() as connection:
        for i in range(12):
            for _ in range(3):
                version = connection.put("counted", b"x" * (100 if i % 2 else 100_000))
                assert version > last
                last = version
            if i % 3 == 0:
                connection.remove("counted")
            if i % 2:
                kill_both(broker)
                broker.start()
            else:
                brokers.kill(broker.broker_pid)
            broker.refresh(connection)


def test_stopped_keeper_does_not_stop_the_broker() -> None:
    with brokers.running("--max-memory", "512M") as broker, broker.connect() as connection:
        old = broker.keeper_pid
        brokers.kill(old, signal.SIGSTOP)
        start = time.monotonic()
        slowest = 0.0
        # More than the socket to a keeper that does not read can hold.
        for i in range(1500):
            before = time.monotonic()
            connection.put(f"k{i % 50}", b"x" * 70_000)
            slowest = max(slowest, time.monotonic() - before)
        assert time.monotonic() - start < 20 and slowest < 3
        info = broker.refresh(connection)
        assert info.keeper_pid != old and brokers.is_alive(info.keeper_pid), "a new keeper takes over"
        # It holds everything: the broker may die now.
        brokers.kill(info.broker_pid)
        assert connection.info().restarts == 1 and len(connection.list()) == 50
        broker.refresh(connection)
        # The old one finds that it is no longer needed.
        brokers.kill(old, signal.SIGCONT)
        brokers.wait_until(lambda: not brokers.is_alive(old), 5, "end of the old keeper")
        assert connection.info().restarts == 1 and len(connection.list()) == 50


def test_stopped_broker_is_waited_for() -> None:
    with brokers.running() as broker, broker.connect() as connection:
        connection.put("a", b"before")
        brokers.kill(broker.broker_pid, signal.SIGSTOP)
        timer = threading.Timer(1.0, brokers.kill, (broker.broker_pid, signal.SIGCONT))
        timer.start()
        start = time.monotonic()
        with connection.get("a") as array:
            assert array.bytes() == b"before"
        assert time.monotonic() - start > 0.5, "the broker was not stopped"
        timer.join()
        # Waiting calls end when they are interrupted, although nobody answers.
        brokers.kill(broker.broker_pid, signal.SIGSTOP)
        start = time.monotonic()
        with pytest.raises(cwarpool.WarpoolError) as caught:
            connection.get("later", wait_ms=60_000, interrupted=lambda: time.monotonic() > start + 0.5)
        took = time.monotonic() - start
        brokers.kill(broker.broker_pid, signal.SIGCONT)
        assert caught.value.code == cwarpool.INTERRUPTED and took < 2
        connection.put("a", b"after")
        with connection.get("a") as array:
            assert array.bytes() == b"after"


def test_no_broker_can_be_started_twice() -> None:
    with brokers.running() as broker:
        second = subprocess.run(broker.command, capture_output=True, timeout=10, check=False)
        assert second.returncode == 75 and b"another broker serves" in second.stderr
        with broker.connect() as connection:
            connection.ping()
