# SPDX-License-Identifier: Apache-2.0
"""Programs that measure on command: one line in, one number out."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from types import TracebackType


class Worker:
    """A running program. Measures inside itself, so that the pipe costs nothing that counts."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self._name = command[-1]
        # Octave's fgetl looks at the character behind the line before it returns; it finds this one and the next line starts with it.
        self._line_end = "\n " if self._name.endswith(".m") else "\n"
        self._process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, question: str) -> float:
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(question + self._line_end)
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        try:
            return float(answer)
        except ValueError:
            raise RuntimeError(f"{self._name} answered {answer!r} to {question!r}; what it printed above says why") from None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        with suppress(BrokenPipeError):  # it died, and ask() has said so
            self._process.stdin.close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
