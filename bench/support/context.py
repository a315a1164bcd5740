# SPDX-License-Identifier: Apache-2.0
"""Where things are, and how long a bench may take."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import which

from support.broker import Broker
from support.worker import Worker


class MissingPartError(Exception):
    """Something that the bench needs has not been built or installed."""


@dataclass(frozen=True)
class Context:
    """Handed to each bench. `quick`: seconds instead of minutes, the figures are no measurement then."""

    build: Path
    quick: bool

    def rounds(self, full: int) -> int:
        return 2 if self.quick else full

    def count(self, full: int) -> int:
        return max(1, full // 20) if self.quick else full

    def environment(self, broker: Broker | None = None) -> dict[str, str]:
        """For programs that shall find the packages of this build, and no broker but the given one."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("WARPOOL_")}
        environment["PYTHONPATH"] = str(self.needs("python/warpool", "the Python package").parent)
        # One thread, as the comparisons have: the figures shall not depend on the number of cores.
        environment["OMP_NUM_THREADS"] = environment["OPENBLAS_NUM_THREADS"] = "1"
        environment["WARPOOL_BROKER"] = str(self.build / "bin/warpoold")
        if broker is not None:
            environment["WARPOOL_SOCKET"] = str(broker.socket)
        return environment

    @contextmanager
    def broker(self) -> Iterator[Broker]:
        with Broker(self.needs("bin/warpoold", "the broker")) as broker:
            yield broker

    def needs(self, path: str, what: str) -> Path:
        found = self.build / path
        if not found.exists():
            raise MissingPartError(
                f"{what} is missing ({found}); build it: make build && cmake --build {self.build} --target bench_targets"
            )
        return found

    def program(self, name: str) -> Path:
        return self.needs(f"bench/{name}", f"the bench program {name}")

    def octave(self) -> list[str]:
        """An Octave with the package of this build on its path."""
        program = which("octave-cli")
        if program is None:
            raise MissingPartError("octave-cli is not installed; run scripts/bootstrap bench")
        package = self.needs("octave/PKG_ADD", "the Octave package").parent
        return [program, "--quiet", "--no-init-file", "--no-site-file", "--no-history", "--path", str(package)]

    def python(self) -> list[str]:
        return [sys.executable, "-B"]

    def worker(self, broker: Broker, command: list[str | Path]) -> Worker:
        return Worker([str(word) for word in command], self.environment(broker))
