# SPDX-License-Identifier: Apache-2.0
"""No descriptor left, no memory left, no disk left: each is an error that says so, and passes."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import actors
import brokers
import cwarpool
import pytest

import wire

MIB = 1 << 20


@pytest.fixture(scope="module")
def installed() -> Iterator[Path]:
    with actors.installed() as folder:
        yield folder


def test_broker_without_descriptors() -> None:
    """Arrays and sessions have their shares of the descriptors; both are refused with the reason, and the rest goes on."""
    limit = 96
    with brokers.running("--max-memory", "512M", fd_limit=limit) as broker, broker.connect() as connection:
        published = 0
        with pytest.raises(cwarpool.WarpoolError) as caught:
            for i in range(limit):
                connection.put(f"big{i}", b"x" * 70_000)
                published += 1
        assert caught.value.code == cwarpool.LIMIT_REACHED and "LimitNOFILE" in caught.value.message
        assert published == limit // 2
        # Small ones need none; a version more of a large one replaces one.
        connection.put("small", b"x")
        # Now sessions, until the table itself is full.
        peers = []
        for _ in range(limit):
            peer = wire.Peer(broker.socket, greet=False)
            peers.append(peer)
        for _ in range(20):
            connection.ping()
        assert brokers.open_fds(broker.broker_pid) <= limit
        before = cpu_seconds(broker.broker_pid)
        time.sleep(0.5)
        assert cpu_seconds(broker.broker_pid) - before < 0.2, "the broker spins on connections that it cannot take"
        with connection.get("big0") as array:
            assert array.size == 70_000
        for peer in peers:
            peer.close()
        # Some still stand in the queue of the socket, closed, until the broker has taken and dropped them.
        brokers.wait_until(lambda: connection.info().sessions == 1 and broker.serves(), 5, "end of the others")
        for i in range(published):
            connection.remove(f"big{i}")
        connection.put("again", b"x" * 70_000)
        with broker.connect() as other, other.get("again") as array:
            assert array.size == 70_000
        # A restart needs as many descriptors again and has them.
        brokers.kill(broker.broker_pid)
        assert broker.refresh(connection).restarts == 1 and set(connection.list()) == {"again", "small"}


def cpu_seconds(pid: int) -> float:
    words = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def test_client_without_descriptors(installed: Path) -> None:
    with brokers.running() as broker, broker.connect() as connection, actors.Actor(installed, broker.socket) as actor:
        connection.put("big", b"x" * 70_000)
        connection.put("small", b"y")
        assert actor.ask("get", "small") == "79"
        actor.ask("limit_fds", 0)
        for command in (("get", "big"), ("put", "mine", "00" * 70_000), ("create", "mine", 70_000)):
            with pytest.raises(cwarpool.WarpoolError) as caught:
                actor.ask(*command)
            assert caught.value.code == cwarpool.LIMIT_REACHED, command
            assert "file" in caught.value.message, command
        assert actor.ask("get", "small") == "79", "what needs no descriptor goes on"
        # Nothing of the failed calls stays: no view, no draft, no charge.
        connection.remove("big")
        brokers.wait_until(lambda: connection.info().memory_viewed == 0 and connection.info().memory_drafts == 0, 2, "release")


def test_full_budget() -> None:
    with (
        brokers.running("--max-memory", "8M") as broker,
        broker.connect("hoarder") as hoarder,
        broker.connect("newcomer") as newcomer,
    ):
        hoarder.create("heap", 5 * MIB).publish()
        hoarder.create("pile", 2 * MIB).publish()
        with pytest.raises(cwarpool.WarpoolError) as caught:
            newcomer.create("mine", 3 * MIB)
        assert caught.value.code == cwarpool.OUT_OF_MEMORY
        for part in (
            '"mine" needs 3.0 MiB',
            "7.0 MiB of the 8.0 MiB",
            f"7.0 MiB by test (pid {os.getpid()}, hoarder)",
            "warpool rm",
        ):
            assert part in caught.value.message
        with pytest.raises(cwarpool.WarpoolError) as caught:
            newcomer.create("huge", 9 * MIB, wait_ms=5000)
        assert "never fit" in caught.value.message, "what can never fit does not wait"
        # A wait with a time-out says the same as a refusal.
        start = time.monotonic()
        with pytest.raises(cwarpool.WarpoolError) as caught:
            newcomer.create("mine", 3 * MIB, wait_ms=300)
        assert caught.value.code == cwarpool.TIMED_OUT and "hoarder" in caught.value.message
        assert 0.2 < time.monotonic() - start < 2
        # A wait goes on as soon as there is room.
        timer = threading.Timer(0.3, hoarder.remove, ("pile",))
        timer.start()
        start = time.monotonic()
        newcomer.create("mine", 3 * MIB, wait_ms=10_000).publish()
        assert 0.2 < time.monotonic() - start < 2
        timer.join()
        # Removed but viewed counts, until the view goes.
        view = newcomer.get("mine")
        newcomer.remove("mine")
        assert newcomer.info().memory_viewed == 3 * MIB
        with pytest.raises(cwarpool.WarpoolError):
            newcomer.create("other", 3 * MIB)
        view.release()
        newcomer.create("other", 3 * MIB).discard()
        hoarder.remove("heap")
        brokers.wait_until(lambda: hoarder.info().memory_used == 0, 2, "release of everything")


def test_killed_program_gives_its_drafts_back(installed: Path) -> None:
    with brokers.running("--max-memory", "8M") as broker, broker.connect() as connection:
        with actors.Actor(installed, broker.socket) as actor:
            actor.ask("put", "kept", "00" * MIB)
            actor.process.kill()
        brokers.wait_until(lambda: connection.info().sessions == 1, 2, "end of the session")
        info = connection.info()
        assert info.memory_drafts == 0 and info.memory_spare == 0 and info.memory_used == MIB


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", str(folder)], capture_output=True, text=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"a disk of 1 MiB cannot be mounted here: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path) -> None:
    with open(folder / "filler", "wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(b"x" * 4096):
            pass


def test_disk_full_while_saving(small_disk: Path) -> None:
    with brokers.running() as broker, broker.connect() as connection:
        data = os.urandom(2 * MIB)
        connection.put("big", data)
        connection.put("small", b"small")
        target = small_disk / "x.npy"
        connection.save("small", target)
        before = target.read_bytes()
        for path in (target, small_disk / "new.npy"):
            with pytest.raises(cwarpool.WarpoolError) as caught:
                connection.save("big", path)
            assert caught.value.code == cwarpool.IO_ERROR
            assert str(path) in caught.value.message and "No space left" in caught.value.message
        assert target.read_bytes() == before, "the file that was there stays whole"
        assert os.listdir(small_disk) == ["x.npy"], "nothing half-written stays"
        connection.load(target, "again")
        with connection.get("again") as array:
            assert array.bytes() == b"small"


def test_disk_full_beside_the_socket(small_disk: Path) -> None:
    """Names and log cannot be written: the broker serves, and says what it can no longer promise."""
    with brokers.Broker("--max-memory", "256M", folder=small_disk) as broker, broker.connect() as connection:
        connection.put("a", b"before")
        fill(small_disk)
        for i in range(3000):
            connection.put(f"a-rather-long-name-to-fill-the-list/{i}", b"x")
        with connection.get("a") as array:
            assert array.bytes() == b"before"
        # Without room for a list a new broker starts all the same.
        brokers.kill(broker.broker_pid)
        assert broker.refresh(connection).restarts == 1 and connection.info().arrays == 3001
        connection.put("a", b"after")
        (small_disk / "filler").unlink()
        brokers.kill(broker.broker_pid)
        assert broker.refresh(connection).restarts == 2
        with connection.get("a") as array:
            assert array.bytes() == b"after"


def test_degraded_list_of_names_is_reported(small_disk: Path, tmp_path: Path) -> None:
    """The same with the log on another disk, where it can be read."""
    log = tmp_path / "log"
    broker = brokers.Broker(folder=small_disk, log=log)
    with broker, broker.connect() as connection:
        fill(small_disk)
        for i in range(3000):
            connection.put(f"a-rather-long-name-to-fill-the-list/{i}", b"x")
        assert "the list of names cannot be written" in log.read_text()
