# SPDX-License-Identifier: Apache-2.0
"""What processes occupy, each page counted once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_MAPPING = re.compile(r"^[0-9a-f]+-[0-9a-f]+ ")
_PRIVATE = re.compile(r"^Private_(?:Clean|Dirty): +(\d+) kB")


@dataclass(frozen=True)
class Occupied:
    """Bytes: private pages outside memfds, and the allocated blocks of all memfds."""

    private: int
    memfds: int

    @property
    def total(self) -> int:
        return self.private + self.memfds


def occupied_bytes(pids: Iterable[int]) -> Occupied:
    """A memfd that several processes hold, or that nobody has mapped, counts once, by its inode."""
    blocks: dict[int, int] = {}
    private = 0
    for pid in pids:
        private += _private_bytes(pid)
        for link in Path(f"/proc/{pid}/fd").iterdir():
            try:
                if str(link.readlink()).startswith("/memfd:"):
                    facts = link.stat()
                    blocks[facts.st_ino] = facts.st_blocks * 512
            except FileNotFoundError:
                continue  # closed since it was listed
    return Occupied(private, sum(blocks.values()))


def _private_bytes(pid: int) -> int:
    total = 0
    is_memfd = False
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        if _MAPPING.match(line):
            is_memfd = "/memfd:" in line
        elif not is_memfd and (found := _PRIVATE.match(line)):
            total += int(found[1]) * 1024
    return total
