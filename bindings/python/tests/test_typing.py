# SPDX-License-Identifier: Apache-2.0
"""The types that the package declares are right, and say what users may rely on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import warpool

pytest.importorskip("mypy", reason="mypy checks the types; scripts/bootstrap installs it for `make check`")

PACKAGE = Path(warpool.__file__).resolve().parent

USE = """
import numpy as np
from typing import Any
import warpool

def use() -> None:
    version: int = warpool.put("x", np.zeros(3), mode=0o640, ttl=1.5, attrs={"a": 1}, wait=True)
    with warpool.create("d", (2, 3), order="F") as draft:
        draft[...] = 1
        draft += 1
        np.add(np.zeros(3), 1, out=draft.numpy())
    with warpool.connect(label="x") as session:
        items: list[warpool.Info] = session.ls("x*")
        for event in session.watch("x", timeout=1):
            kind: str = event.kind
    a: warpool.Array = warpool.get("x")
    view: np.ndarray[Any, Any] = np.asarray(a)
    more = a + 1
    shape: tuple[int, ...] = a.T.shape
    tensor = a.to("torch")
    error: Exception = warpool.NotFoundError("x")
"""

WRONG = """
import warpool
warpool.put(1, 2)
warpool.get("x", wait="soon")
warpool.chmod("x", None)
warpool.get_all("x")
"""


# The C form of the buffer protocol has no Python name before 3.12; classes that are never called have no __init__ of their own;
# functions and classes of the extension are objects of nanobind's types.
ALLOWED = r"""
warpool\._core\..*\.__buffer__
warpool\._core\.(Array|DraftMemory)\.__init__
warpool\._core\.(Session|Watch|prepare_exit|status_name|version)
"""


def mypy(source: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    program = tmp_path / "program.py"
    program.write_text(source)
    environment = {**os.environ, "MYPYPATH": str(PACKAGE.parent)}
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(program)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)


@pytest.mark.broker(None)
def test_the_package_passes_mypy_strict(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(PACKAGE)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.broker(None)
def test_right_programs_pass_and_wrong_ones_do_not(tmp_path: Path) -> None:
    result = mypy(USE, tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    result = mypy(WRONG, tmp_path)
    assert "Found 4 errors" in result.stdout, result.stdout


@pytest.mark.broker(None)
def test_the_stub_of_the_extension_agrees_with_it(tmp_path: Path) -> None:
    environment = {**os.environ, "MYPYPATH": str(PACKAGE.parent)}
    allowlist = tmp_path / "allowed"
    allowlist.write_text(ALLOWED)
    command = [sys.executable, "-m", "mypy.stubtest", "warpool._core", "--allowlist", str(allowlist), "--ignore-disjoint-bases"]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.broker(None)
def test_the_package_says_that_it_is_typed() -> None:
    assert (PACKAGE / "py.typed").exists()
    assert (PACKAGE / "_core.pyi").exists()
