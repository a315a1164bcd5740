# SPDX-License-Identifier: Apache-2.0
"""The real `warpool`, run as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

SOURCE = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("WARPOOL_BUILD_DIR", SOURCE / "build" / "release"))
PYTHON = sys.executable


class Cli:
    """Runs commands against one socket in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = BUILD / "bin" / "warpool"
        self.socket = folder / "s" / "warpool.sock"
        self.env = {key: value for key, value in os.environ.items() if not key.startswith("WARPOOL_")}
        for key in ("NO_COLOR", "XDG_RUNTIME_DIR"):
            self.env.pop(key, None)
        self.env |= {
            "WARPOOL_SOCKET": str(self.socket),
            "WARPOOL_BROKER": str(BUILD / "bin" / "warpoold"),
            "PYTHONPATH": str(BUILD / "python"),
            "TERM": "xterm",
            "TZ": "UTC",
            "PATH": f"{self.program.parent}:{os.environ['PATH']}",
        }

    def popen(self, *words: str | Path) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(self.program), *map(str, words)],
            env=self.env,
            cwd=self.folder,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self, *words: str | Path, code: int = 0, **env: str) -> subprocess.CompletedProcess[str]:
        """Runs a command to its end and checks its exit code."""
        done = subprocess.run(
            [str(self.program), *map(str, words)],
            env=self.env | env,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == code, f"exit code {done.returncode}, not {code}\n{done.stdout}\n{done.stderr}"
        return done

    def json(self, *words: str | Path, code: int = 0) -> Any:
        return json.loads(self.run(*words, "--json", code=code).stdout)

    def publish(self, name: str, array: Any, *options: str) -> None:
        path = self.folder / "publish.npy"
        np.save(path, np.asarray(array))
        self.run("load", path, name, *options)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text)
        return path
