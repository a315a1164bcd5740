# SPDX-License-Identifier: Apache-2.0
"""scripts/step: short when all is well, and the reason when it is not."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

STEP = Path(os.environ["WARPOOL_SOURCE_DIR"]) / "scripts/step"


def step(folder: Path, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [str(STEP), "a step", "log-of-it", "bash", "-c", script]
    return subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "WARPOOL_QUIET": "0", **environment},
    )


@pytest.fixture(autouse=True)
def bash_is_here() -> None:
    assert shutil.which("bash")


def test_one_line_and_a_log(tmp_path: Path) -> None:
    done = step(tmp_path, "echo much; echo more >&2")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1
    assert done.stdout.rstrip().endswith("0 s")
    assert (tmp_path / "build/log/log-of-it.log").read_text() == "much\nmore\n"


def test_failure_keeps_the_code_and_shows_the_end_of_the_log(tmp_path: Path) -> None:
    done = step(tmp_path, "seq 100; exit 7")
    assert done.returncode == 7
    assert "FAILED (exit code 7)" in done.stderr
    assert "\n100\n" in done.stderr
    assert "\n50\n" not in done.stderr


def test_quiet_prints_nothing_unless_it_fails(tmp_path: Path) -> None:
    done = step(tmp_path, "echo much", WARPOOL_QUIET="1")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = step(tmp_path, "echo why; exit 1", WARPOOL_QUIET="1")
    assert (done.returncode, done.stdout) == (1, "")
    assert "why" in done.stderr


def test_a_step_gets_no_standard_input(tmp_path: Path) -> None:
    assert step(tmp_path, "! read -r line").returncode == 0
