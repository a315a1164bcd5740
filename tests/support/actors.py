# SPDX-License-Identifier: Apache-2.0
"""Starts actor.py: as another user, or behind a command such as `podman run`."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cwarpool

HERE = Path(__file__).resolve().parent


@contextlib.contextmanager
def folder_for_all() -> Iterator[Path]:
    """A folder that every user may enter. Not one of pytest's: it takes that right away again whenever another pytest starts."""
    with tempfile.TemporaryDirectory(prefix="warpool-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@contextlib.contextmanager
def installed() -> Iterator[Path]:
    """The library and the actor where every user may read them, whatever the rights of the source folder are."""
    with folder_for_all() as folder:
        (folder / "lib").mkdir()
        shutil.copy(cwarpool.library_path(), folder / "lib" / "libwarpool.so.0")
        for name in ("actor.py", "cwarpool.py"):
            shutil.copy(HERE / name, folder / name)
        for path in folder.rglob("*"):
            path.chmod(0o755)
        yield folder


class Actor:
    def __init__(
        self,
        installed: Path,
        socket: Path,
        label: str = "",
        *,
        uid: int | None = None,
        groups: list[int] | None = None,
        prefix: list[str] | None = None,
    ) -> None:
        user: dict[str, Any] = {} if uid is None else {"user": uid, "group": uid, "extra_groups": groups or []}
        self.process = subprocess.Popen(
            [*(prefix or []), "/usr/bin/python3", str(installed / "actor.py"), str(socket), label],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd="/",
            env={"PATH": os.environ["PATH"], "WARPOOL_BUILD_DIR": str(installed), "HOME": os.environ.get("HOME", "/")},
            **user,
        )
        self.pid: int = self._answer()

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the program ended with {self.process.wait()}"
        answer = json.loads(line)
        if "code" in answer:
            raise cwarpool.WarpoolError(answer["code"], answer["message"])
        return answer["value"]

    def tell(self, command: str, *arguments: Any, **options: Any) -> None:
        """Without waiting for the answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([command, arguments, options]) + "\n")
        self.process.stdin.flush()

    def hear(self) -> Any:
        return self._answer()

    def ask(self, command: str, *arguments: Any, **options: Any) -> Any:
        self.tell(command, *arguments, **options)
        return self._answer()

    def code(self, command: str, *arguments: Any, **options: Any) -> int:
        """Code of the error; 0 for success."""
        try:
            self.ask(command, *arguments, **options)
        except cwarpool.WarpoolError as error:
            return error.code
        return 0

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __enter__(self) -> Actor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
