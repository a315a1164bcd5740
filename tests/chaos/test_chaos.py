# SPDX-License-Identifier: Apache-2.0
"""Producer, consumer, waiter, broker or keeper is killed at a random moment while all of them work, again and again.

WARPOOL_CHAOS_ROUNDS rounds (300), from WARPOOL_SEED (printed). Checked: nobody stands still, versions only grow and none is used
twice, every published byte stays what it was, and in the end nothing is left but what was published.
"""

from __future__ import annotations

import os
import random
import re
import selectors
import subprocess
import time
from collections import Counter
from pathlib import Path

import brokers
import cwarpool

ROUNDS = int(os.environ.get("WARPOOL_CHAOS_ROUNDS", "300"))
SEED = int(os.environ.get("WARPOOL_SEED", str(random.SystemRandom().randrange(1 << 32))))
ROLES = ("producer", "consumer", "waiter")
# How long anybody may stand still after a kill: the keeper's pause after many quick deaths is 2 s.
STILL_SECONDS = 10.0
INLINE_BYTES_MAX = 64 * 1024
FDS_OF_IDLE = 26


class Worker:
    def __init__(self, role: str, broker: brokers.Broker) -> None:
        self.role = role
        self.process = subprocess.Popen(
            [str(brokers.build_dir() / "tests" / "chaos_worker"), role, str(broker.socket)],
            stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
        )
        assert self.process.stdout is not None
        self.out = self.process.stdout
        os.set_blocking(self.out.fileno(), False)
        self.rest = b""

    def lines(self) -> list[str]:
        """What it said since the last time; a line that was cut off by death is no line."""
        while True:
            try:
                data = os.read(self.out.fileno(), 1 << 16)
            except BlockingIOError:
                break
            if not data:
                break
            self.rest += data
        *whole, self.rest = self.rest.split(b"\n")
        return [line.decode() for line in whole]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


class Ledger:
    """What the programs said that they did."""

    def __init__(self) -> None:
        self.last: dict[str, int] = {}
        self.used: dict[str, dict[int, int]] = {}
        self.begun: dict[str, set[int]] = {}
        self.removed: set[str] = set()
        self.counts: Counter[str] = Counter()

    def note(self, line: str) -> None:
        what, *words = line.split(" ")
        self.counts[what] += 1
        assert what != "E", line
        if what == "B":
            self.begun.setdefault(words[0], set()).add(int(words[1]))
        elif what == "P":
            name, version, nonce = words[0], int(words[1]), int(words[2])
            assert version > self.last.get(name, 0), f"{name}: version {version} came after {self.last[name]}"
            assert version not in self.used.setdefault(name, {}), f"{name}: version {version} was used twice"
            self.last[name] = version
            self.used[name][version] = nonce
        elif what == "X":
            self.removed.add(words[0])


class Crew:
    def __init__(self, broker: brokers.Broker, seed: int) -> None:
        self.broker = broker
        self.random = random.Random(seed)
        self.ledger = Ledger()
        self.workers = {role: Worker(role, broker) for role in ROLES}
        self.kept: dict[str, bytes] = {}

    def listen(self) -> set[str]:
        """Who has said anything since the last time."""
        active = set()
        for role, worker in self.workers.items():
            for line in worker.lines():
                self.ledger.note(line)
                active.add(role)
        return active

    def wait_for_all(self) -> None:
        """Every program has done something that it began after this moment."""
        self.listen()
        for _ in range(2):  # the first line may belong to work that was done before
            missing = set(ROLES)
            deadline = time.monotonic() + STILL_SECONDS
            selector = selectors.DefaultSelector()
            for role in ROLES:
                selector.register(self.workers[role].out, selectors.EVENT_READ, role)
            while missing:
                assert time.monotonic() < deadline, (
                    f"{missing} stood still for {STILL_SECONDS} s: {self.broker.log_text()[-1500:]}"
                )
                selector.select(0.2)
                missing -= self.listen()
                for role, worker in self.workers.items():
                    assert worker.process.poll() is None, f"the {role} ended with {worker.process.returncode}"
            selector.close()

    def kill_one(self, connection: cwarpool.Connection) -> str:
        victim = self.random.choice([*ROLES, "broker", "keeper"])
        # Whatever they are doing right then.
        time.sleep(self.random.random() * 0.01)
        if victim in self.workers:
            worker = self.workers[victim]
            worker.kill()
            for line in worker.lines():
                self.ledger.note(line)
            self.workers[victim] = Worker(victim, self.broker)
            return victim
        before = self.broker.refresh(connection)
        pid = before.broker_pid if victim == "broker" else before.keeper_pid
        brokers.kill(pid)
        brokers.wait_until(lambda: not brokers.is_alive(pid), 5, f"death of the {victim}")

        def replaced() -> bool:
            info = self.broker.refresh(connection)
            now = info.broker_pid if victim == "broker" else info.keeper_pid
            return now != pid and brokers.is_alive(now)

        brokers.wait_until(replaced, STILL_SECONDS, f"a new {victim}")
        assert self.broker.refresh(connection).epoch == before.epoch, "everything was lost"
        return victim

    def keep(self, connection: cwarpool.Connection, number: int) -> None:
        """Arrays of this very program, which is never killed."""
        name = f"keep/{number % 6}"
        data = self.random.randbytes(100_000 if number % 2 else 5_000)
        connection.put(name, data)
        self.kept[name] = data

    def check_arrays(self, connection: cwarpool.Connection) -> None:
        for name, data in self.kept.items():
            with connection.get(name) as array:
                assert array.view() == data, name
        self.listen()
        last = dict(self.ledger.last)
        begun = {name: set(nonces) for name, nonces in self.ledger.begun.items()}
        listed = connection.list()
        assert not self.ledger.removed & listed.keys(), "a removed name is still there"
        for name, version in last.items():
            if name in self.ledger.removed or name.startswith("gone/"):
                continue
            with connection.get(name) as array:
                nonce = int.from_bytes(array.view()[:8], "little")
                assert array.version >= version, f"{name} went back from version {version} to {array.version}"
                if array.version == version:
                    assert nonce == self.ledger.used[name][version], f"{name}: not the bytes that were published"
                elif nonce not in begun[name]:
                    self.listen()
                    assert nonce in self.ledger.begun[name], f"{name}: bytes that nobody published"


def memory_fds(pid: int) -> int:
    """Arrays whose memory this process holds."""
    count = 0
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            target = os.readlink(f"/proc/{pid}/fd/{fd}")
        except FileNotFoundError:
            continue
        count += bool(re.match(r"/memfd:warpool-(array|spare)", target))
    return count


def check_nothing_leaked(broker: brokers.Broker) -> None:
    with broker.connect("auditor") as auditor:
        brokers.wait_until(lambda: auditor.info().sessions == 1, 10, "end of all sessions")
        # Removed arrays whose viewers might come back after a restart are kept for 10 s.
        brokers.wait_until(lambda: auditor.info().memory_viewed == 0, 15, "end of what nobody views")
        info = broker.refresh(auditor)
        assert info.memory_drafts == 0 and info.memory_spare == 0
        charges, large = 0, 0
        for name in auditor.list():
            with auditor.get(name) as array:
                small = array.size <= INLINE_BYTES_MAX
                charges += array.size + 80 if small else (array.size + 4095) // 4096 * 4096
                large += not small
        assert info.memory_published == charges, "the account is not the sum of what lives"
        assert memory_fds(info.broker_pid) == large
        brokers.wait_until(lambda: memory_fds(info.keeper_pid) == large, 5, "the keeper letting go of what is gone")
        names = list(auditor.list())
        for name in names:
            auditor.remove(name)
        assert auditor.info().memory_used == 0
        brokers.wait_until(
            lambda: memory_fds(info.keeper_pid) == 0 and memory_fds(info.broker_pid) == 0, 5, "release of all memory"
        )
        # What is left are sockets, lock, log and the catalogue, which may keep one segment beside the one that is written to.
        for pid in (info.broker_pid, info.keeper_pid):
            assert brokers.open_fds(pid) <= FDS_OF_IDLE, brokers.fd_targets(pid)
        assert brokers.children_of(info.broker_pid) in ([], [info.keeper_pid]), "dead keepers were left behind"


def test_chaos() -> None:
    print("seed", SEED, "rounds", ROUNDS)
    victims: Counter[str] = Counter()
    with brokers.running("--max-memory", "256M") as broker:
        crew = Crew(broker, SEED)
        try:
            with broker.connect("driver") as connection:
                crew.wait_for_all()
                for i in range(ROUNDS):
                    victims[crew.kill_one(connection)] += 1
                    crew.keep(connection, i)
                    crew.wait_for_all()
                    if i % 10 == 9:
                        crew.check_arrays(connection)
                crew.check_arrays(connection)
        finally:
            for worker in crew.workers.values():
                worker.kill()
        check_nothing_leaked(broker)
    print("killed", dict(victims), "lines", dict(crew.ledger.counts))
    assert crew.ledger.counts["P"] > ROUNDS and crew.ledger.counts["G"] > ROUNDS and crew.ledger.counts["W"] > ROUNDS


def test_worker_reports_changed_bytes(tmp_path: Path) -> None:
    """The consumer's check is one that can fail."""
    with brokers.running() as broker, broker.connect() as connection:
        for i in range(4):
            connection.put(f"chaos/{i}", b"\x01" * 1024)
        done = subprocess.run(
            [str(brokers.build_dir() / "tests" / "chaos_worker"), "consumer", str(broker.socket)],
            capture_output=True,
            timeout=20,
            check=False,
        )
        assert done.returncode == 1 and b"has changed bytes" in done.stdout
