# SPDX-License-Identifier: Apache-2.0
"""Every test has a broker of its own, in a folder of its own, and must leave no descriptor and no mapping behind."""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
import warpool

_START_SECONDS = 20
_SETTLE_SECONDS = 5


def find_broker() -> str:
    """warpoold: named by WARPOOL_BROKER, beside the build's Python package, inside an installed package, or on the PATH."""
    package = Path(warpool.__file__).resolve().parent
    candidates = [
        os.environ.get("WARPOOL_BROKER", ""),
        str(Path(warpool._core.__file__).resolve().parents[2] / "bin" / "warpoold"),
        str(package / "bin" / "warpoold"),
        shutil.which("warpoold") or "",
    ]
    for candidate in candidates:
        if candidate and os.access(candidate, os.X_OK):
            return candidate
    raise FileNotFoundError(f"warpoold is at none of {candidates}: build it, or set WARPOOL_BROKER")


class Broker:
    """A broker that a test may end as it likes."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.socket = folder / "warpool.sock"
        self.log = folder / "log"
        command = [find_broker(), "--foreground", "--socket", str(self.socket), *options]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + _START_SECONDS
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"the broker did not start: {' '.join(command)}\n{self.log.read_text()}")
            time.sleep(0.005)

    def _answers(self) -> bool:
        if not self.socket.exists():
            return False
        try:
            warpool.connect(self.socket, start=False, restore=False, reconnect=0.001).close()
        except warpool.NoBrokerError:
            return False
        return True

    def stop(self) -> None:
        """Ends the broker that serves now: after a crash that is another process than the one started here."""
        try:
            with warpool.connect(self.socket, start=False, restore=False, reconnect=1) as session:
                serving = session.status()["broker_pid"]
        except warpool.NoBrokerError:
            serving = self.process.pid
        with contextlib.suppress(ProcessLookupError):
            os.kill(serving, signal.SIGTERM)
        deadline = time.monotonic() + _START_SECONDS
        while self.process.poll() is None or _exists(serving):
            if time.monotonic() > deadline:
                self.process.kill()
                pytest.fail(f"the broker did not stop on SIGTERM\n{self.log.read_text()}")
            time.sleep(0.002)


def _exists(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    # A zombie has ended; its parent, the keeper, has yet to notice.
    return state != "Z"


def held_resources() -> tuple[list[str], list[str]]:
    """Open descriptors and shared mappings of this process, apart from those that Python's own tools keep."""
    descriptors = []
    for entry in os.listdir("/proc/self/fd"):
        try:
            descriptors.append(os.readlink(f"/proc/self/fd/{entry}"))
        except OSError:
            continue  # the listing's own descriptor
    with open("/proc/self/maps") as maps:
        mappings = [line.split()[0] for line in maps if "memfd:" in line]
    interesting = [name for name in descriptors if name.startswith(("socket:", "/memfd:", "anon_inode:"))]
    return sorted(interesting), sorted(mappings)


def _held_since(before: tuple[list[str], list[str]]) -> list[str]:
    # Fewer than before is fine: what an earlier, failed test held was let go meanwhile.
    return [
        name for then, now in zip(before, held_resources(), strict=True) for name in (Counter(now) - Counter(then)).elements()
    ]


def check_nothing_is_left(before: tuple[list[str], list[str]]) -> None:
    deadline = time.monotonic() + _SETTLE_SECONDS
    while left := _held_since(before):
        assert time.monotonic() < deadline, f"the test left behind: {left}"
        time.sleep(0.01)


def forget_default_connection() -> None:
    if warpool._default_connection is not None:
        warpool._default_connection.close()
    warpool._default_connection = None


_PASSED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.when == "call":
        item.stash[_PASSED] = report.passed
    return report


@pytest.fixture
def start_broker(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Broker]]:
    """Starts a broker with options and makes it the one that everything in this test finds."""
    brokers: list[Broker] = []

    def start(*options: str) -> Broker:
        folder = tmp_path / f"broker{len(brokers)}"
        folder.mkdir(mode=0o700)
        brokers.append(Broker(folder, *options))
        monkeypatch.setenv("WARPOOL_SOCKET", str(brokers[-1].socket))
        monkeypatch.setenv("WARPOOL_BROKER", find_broker())
        return brokers[-1]

    forget_default_connection()
    gc.collect()
    before = held_resources()
    yield start
    forget_default_connection()
    gc.collect()
    # A test that failed holds arrays in its traceback.
    try:
        if request.node.stash.get(_PASSED, False):
            check_nothing_is_left(before)
    finally:
        for broker in brokers:
            broker.stop()


@pytest.fixture(autouse=True)
def broker(start_broker: Callable[..., Broker], request: pytest.FixtureRequest) -> Broker | None:
    """The broker of the test. `@pytest.mark.broker("--max-memory", "1M")` gives it options; `None` starts none."""
    marker = request.node.get_closest_marker("broker")
    options = marker.args if marker else ()
    return None if options == (None,) else start_broker(*options)


@pytest.fixture
def run_python(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a program in an interpreter of its own, with the same package and broker."""

    def run(source: str, *arguments: str, timeout: float = 60, check: bool = True) -> subprocess.CompletedProcess[str]:
        result = subprocess.run(
            [sys.executable, "-c", source, *arguments],
            capture_output=True,
            text=True,
            timeout=timeout,
            cwd=tmp_path,
            check=False,
        )
        if check and result.returncode != 0:
            pytest.fail(f"the program ended with {result.returncode}\n{result.stdout}\n{result.stderr}")
        return result

    return run
