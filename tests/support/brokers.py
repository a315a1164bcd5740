# SPDX-License-Identifier: Apache-2.0
"""Brokers for tests: one warpoold in a folder of its own, and what /proc says about it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import cwarpool


def build_dir() -> Path:
    build = os.environ.get("WARPOOL_BUILD_DIR")
    return Path(build) if build else Path(__file__).resolve().parents[2] / "build" / "release"


def wait_until(condition: Callable[[], bool], seconds: float, what: str) -> None:
    deadline = time.monotonic() + seconds
    pause = 0.001
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen within {seconds} s"
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)


def is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def kill(pid: int, number: int = signal.SIGKILL) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def open_fds(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def fd_targets(pid: int) -> list[str]:
    """What the descriptors of a process are, for messages of failed checks."""
    targets = []
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            targets.append(os.readlink(f"/proc/{pid}/fd/{fd}"))
    return sorted(targets)


def resident_kib(pid: int) -> int:
    """Memory of its own: what it shares (the arrays' memory is never mapped by a broker) does not count."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1])
    raise AssertionError(f"process {pid} has no RssAnon")


def children_of(pid: int) -> list[int]:
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        with contextlib.suppress(OSError):
            stat = Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()
            if int(stat[1]) == pid:
                found.append(int(entry))
    return found


class Broker:
    """A running warpoold. `private` False is a system-style broker in a folder that all users may enter."""

    def __init__(
        self,
        *options: str,
        private: bool = True,
        folder: Path | None = None,
        fd_limit: int | None = None,
        log: Path | None = None,
    ) -> None:
        self.owns_folder = folder is None
        self.folder = folder or Path(tempfile.mkdtemp(prefix="warpool-test-"))
        self.folder.chmod(0o700 if private else 0o755)
        self.socket = self.folder / "w.sock"
        self.log = log or self.folder / "log"
        self.command = [
            str(build_dir() / "bin" / "warpoold"),
            "--foreground",
            "--socket",
            str(self.socket),
            "--log",
            str(self.log),
            *(["--private"] if private else []),
            *options,
        ]
        self.fd_limit = fd_limit
        self.start()

    def start(self) -> None:
        limit = [] if self.fd_limit is None else ["prlimit", f"--nofile={self.fd_limit}:{self.fd_limit}"]
        self.process = subprocess.Popen([*limit, *self.command], stdin=subprocess.DEVNULL)
        wait_until(self.serves, 15, "start of the broker")
        with self.connect() as connection:
            info = connection.info()
            self.broker_pid, self.keeper_pid = info.broker_pid, info.keeper_pid

    def serves(self) -> bool:
        assert self.process.poll() is None, f"warpoold ended with {self.process.returncode}: {self.log_text()}"
        try:
            self.connect().close()
        except cwarpool.WarpoolError as error:
            if error.code not in (cwarpool.NO_BROKER, cwarpool.PERMISSION_DENIED, cwarpool.LIMIT_REACHED):
                raise
            return False
        return True

    def connect(self, label: str = "", flags: int = 0, reconnect_ms: int = 10_000) -> cwarpool.Connection:
        return cwarpool.Connection(self.socket, label=label, flags=flags | cwarpool.NO_START, reconnect_ms=reconnect_ms)

    def refresh(self, connection: cwarpool.Connection) -> cwarpool.BrokerInfo:
        info = connection.info()
        self.broker_pid, self.keeper_pid = info.broker_pid, info.keeper_pid
        return info

    def log_text(self) -> str:
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def stop(self) -> None:
        """Ends broker and keeper for certain; a clean end if there still is one."""
        pids = {self.process.pid, self.broker_pid, self.keeper_pid}
        for pid in pids:
            kill(pid, signal.SIGCONT)
        kill(self.broker_pid, signal.SIGTERM)
        with contextlib.suppress(AssertionError):
            wait_until(lambda: not any(is_alive(pid) for pid in pids), 5, "clean end")
        for pid in pids:
            if is_alive(pid):
                kill(pid)
        self.process.poll()
        if self.owns_folder:
            shutil.rmtree(self.folder, ignore_errors=True)
            shutil.rmtree(self.folder.with_name(self.folder.name + "-admin"), ignore_errors=True)

    def __enter__(self) -> Broker:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


@contextlib.contextmanager
def running(*options: str, private: bool = True, fd_limit: int | None = None) -> Iterator[Broker]:
    with Broker(*options, private=private, fd_limit=fd_limit) as broker:
        yield broker
