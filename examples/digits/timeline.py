# SPDX-License-Identifier: Apache-2.0
"""Writes what a program does, and when, as JSON lines for report.py. timeline.m does the same in Octave."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any


class Timeline:
    """Events of one program, in $DIGITS_OUT/<program>.jsonl; every line is complete as soon as it is written."""

    def __init__(self, program: str) -> None:
        folder = Path(os.environ.get("DIGITS_OUT", "."))
        folder.mkdir(parents=True, exist_ok=True)
        self._file = (folder / f"{program}.jsonl").open("w", buffering=1)
        self.write("start")

    def write(self, event: str, **facts: Any) -> None:
        """One line: the event, the time, and its facts."""
        print(json.dumps({"event": event, "at": time.time()} | facts), file=self._file)

    def published(self, name: str, since: float, nbytes: int) -> None:
        """`name` can be read by others now; handing it over began at `since`."""
        self.write("published", name=name, since=since, bytes=nbytes)

    def received(self, name: str, asked: float, nbytes: int) -> None:
        """The first element of `name` can be read here now; it was asked for at `asked`."""
        self.write("received", name=name, asked=asked, bytes=nbytes)
