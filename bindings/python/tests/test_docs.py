# SPDX-License-Identifier: Apache-2.0
"""The examples of the documentation run: docstrings by doctest, pages as programs, block after block."""

from __future__ import annotations

import doctest
import os
import re
from pathlib import Path

import numpy as np
import pytest
import warpool

_SOURCE = Path(os.environ.get("WARPOOL_SOURCE_DIR", Path(__file__).parents[3]))
_PAGES = [_SOURCE / "docs" / "python.md", _SOURCE / "bindings" / "python" / "README.md"]
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_examples_of_the_docstrings_run(tmp_path: Path) -> None:
    # One namespace and one broker in the order of the file, which goes from making to removing.
    names = {"np": np, "warpool": warpool, "folder": tmp_path}
    tests = doctest.DocTestFinder(recurse=True).find(warpool, "warpool", extraglobs=names)
    tests.sort(key=lambda test: test.lineno or 0)
    shared = dict(tests[0].globs)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in tests:
        test.globs = shared
        runner.run(test, clear_globs=False)
    assert runner.failures == 0
    assert runner.tries > 25


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.name)
def test_the_examples_of_the_page_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = page.read_text()
    names: dict[str, object] = {}
    blocks = list(_BLOCK.finditer(text))
    assert blocks
    for block in blocks:
        line = text.count("\n", 0, block.start()) + 2
        exec(compile("\n" * (line - 1) + block.group(1), str(page), "exec"), names)


def test_every_public_name_has_a_docstring() -> None:
    undocumented = [name for name in warpool.__all__ if not getattr(warpool, name).__doc__]
    assert undocumented == []


def test_every_exception_is_on_the_page() -> None:
    text = _PAGES[0].read_text()
    errors = {cls.__name__ for cls in vars(warpool).values() if isinstance(cls, type) and issubclass(cls, warpool.WarpoolError)}
    assert [name for name in sorted(errors) if f"`{name}`" not in text and f"warpool.{name}`" not in text] == []
