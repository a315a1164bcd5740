# SPDX-License-Identifier: Apache-2.0
"""A broker of our own in a folder that goes with it, whatever else runs on this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType


class Broker:
    """Context manager: `socket` serves inside."""

    def __init__(self, program: Path) -> None:
        self._program = program
        self._folder = tempfile.TemporaryDirectory(prefix="warpool-bench-")
        self.socket = Path(self._folder.name) / "warpool.sock"
        self._log = Path(self._folder.name) / "log"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Broker:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("WARPOOL_")}
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [self._program, "--socket", self.socket, "--foreground"], env=environment, stdout=log, stderr=log
            )
        deadline = time.monotonic() + 20
        while not self.socket.exists():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the broker did not start: {self._log.read_text(errors='replace')}")
            time.sleep(0.01)
        return self

    def pids(self) -> list[int]:
        """Keeper and broker: the process that was started, and what it started."""
        assert self._process is not None
        found = [self._process.pid]
        for pid in found:
            for task in Path(f"/proc/{pid}/task").iterdir():
                found += [int(child) for child in (task / "children").read_text().split()]
        return found

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            for pid in self.pids():
                os.kill(pid, signal.SIGKILL)
            self._process.wait()
        self._folder.cleanup()
