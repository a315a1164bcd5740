# SPDX-License-Identifier: Apache-2.0
"""Finds the code blocks of a Markdown page and runs them.

Blocks of ``python`` run in one Python per page, blocks of ``octave`` and ``matlab`` in one Octave, blocks of ``sh test`` each in a
shell of its own; all on one broker of their own, in the order of the page, so that a page may go from one language to another. Blocks
of ``sh`` without ``test`` and of other languages are for reading. A block that cannot run says why in a comment on the line before it:

    <!-- not run: needs MATLAB -->
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO

SECONDS_A_BLOCK = 60
_FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<code>.*?)^(?P=indent)```\s*$", re.MULTILINE | re.DOTALL)
_NOT_RUN = re.compile(r"<!-- not run: (.+) -->\s*$")

PYTHON_DRIVER = """
import json, sys, traceback
names = {"__name__": "__main__"}
answers = sys.stdout
sys.stdout = sys.stderr
for line in sys.stdin:
    path, first = json.loads(line)
    try:
        code = "\\n" * (first - 1) + open(path).read()
        exec(compile(code, path, "exec"), names)
        answer = ""
    except BaseException:
        answer = traceback.format_exc(limit=-1)
    print(json.dumps(answer), file=answers, flush=True)
"""


@dataclass(frozen=True)
class Block:
    language: str
    code: str
    line: int
    not_run: str = ""


def blocks_of(text: str) -> list[Block]:
    """The blocks that are meant to run, with those that say why they cannot."""
    found = []
    for match in _FENCE.finditer(text):
        words = match.group("info").split()
        language = {"python": "python", "octave": "octave", "matlab": "octave"}.get(words[0] if words else "", "")
        if words[:2] == ["sh", "test"]:
            language = "sh"
        if language:
            indent = match.group("indent")
            code = re.sub(f"^{indent}", "", match.group("code"), flags=re.MULTILINE)
            reason = _NOT_RUN.search(text[: match.start()].rstrip("\n").rsplit("\n", 1)[-1])
            line = text.count("\n", 0, match.start()) + 2
            found.append(Block(language, code, line, reason.group(1) if reason else ""))
    return found


class Interpreter:
    """A Python or an Octave that lives as long as the page."""

    def __init__(self, command: list[str], folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            command, cwd=folder, env=environment, text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def ask(self, request: str) -> IO[str]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(request + "\n")
        self.process.stdin.flush()
        return self.process.stdout

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(SECONDS_A_BLOCK)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Page:
    """Runs blocks with the programs of one build, on a private broker. Use it in a `with` statement."""

    def __init__(self, build: Path, octave_package: Path | None) -> None:
        # Short: the path of the broker's socket has at most 107 bytes.
        self.folder = Path(tempfile.mkdtemp(prefix="wp-docs-", dir="/tmp"))
        self.octave_package = octave_package
        self.environment = {
            **{key: value for key, value in os.environ.items() if key not in ("XDG_RUNTIME_DIR", "WARPOOL_SOCKET")},
            "TMPDIR": str(self.folder),
            "WARPOOL_BROKER": str(build / "bin/warpoold"),
            "PATH": f"{build / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": str(build / "python"),
            # Threads of a linear-algebra library would only slow down such small examples.
            "OPENBLAS_NUM_THREADS": "1",
        }
        self.interpreters: dict[str, Interpreter] = {}
        self.count = 0

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: object) -> None:
        for interpreter in self.interpreters.values():
            interpreter.close()
        subprocess.run(["warpool", "down", "--force"], env=self.environment, capture_output=True, check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, block: Block) -> str:
        """Runs a block; the empty string when it succeeded, else what went wrong."""
        self.count += 1
        source = self.folder / f"block{self.count}"
        source.write_text(block.code)
        if block.language == "sh":
            return self._run_shell(source)
        return self._run_octave(source) if block.language == "octave" else self._run_python(source, block.line)

    def _run_shell(self, source: Path) -> str:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", str(source)], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=SECONDS_A_BLOCK, check=False,
        )  # fmt: skip
        return "" if done.returncode == 0 else f"exit code {done.returncode}: {done.stdout}{done.stderr}"

    def _run_python(self, source: Path, line: int) -> str:
        if "python" not in self.interpreters:
            self.interpreters["python"] = Interpreter([sys.executable, "-c", PYTHON_DRIVER], self.folder, self.environment)
        answer = self.interpreters["python"].ask(json.dumps([str(source), line])).readline()
        return str(json.loads(answer)) if answer else "Python ended"

    def _run_octave(self, source: Path) -> str:
        if "octave" not in self.interpreters:
            command = ["octave-cli", "--quiet", "--no-history", "--no-init-file"]
            self.interpreters["octave"] = Interpreter(command, self.folder, self.environment)
            if self.octave_package:
                self.interpreters["octave"].ask(f"addpath('{self.octave_package}');")
        # One line, so that Octave reads it whole before it runs it.
        answers = self.interpreters["octave"].ask(
            f"try, source('{source}'); printf('\\n@@done\\n'); catch err, printf('\\n@@failed %s\\n', err.message); end, fflush(stdout);"
        )
        for answer in answers:
            if answer.startswith("@@done"):
                return ""
            if answer.startswith("@@failed"):
                return answer.removeprefix("@@failed ").strip() or "failed without a message"
        return "Octave ended"
