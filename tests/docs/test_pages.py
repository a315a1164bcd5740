# SPDX-License-Identifier: Apache-2.0
"""Every code block of the README and of the pages under docs/ runs, and every page that is linked exists."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from pages import Block, Page, blocks_of

SOURCE = Path(os.environ["WARPOOL_SOURCE_DIR"])
BUILD = Path(os.environ["WARPOOL_BUILD_DIR"])
OCTAVE_PACKAGE = Path(os.environ.get("WARPOOL_OCTAVE_PACKAGE", BUILD / "octave"))
PAGES = sorted(
    [*SOURCE.glob("*.md"), *SOURCE.glob("docs/**/*.md"), *SOURCE.glob("examples/**/*.md"), *SOURCE.glob("bench/*.md")]
)
PAGES_WITH_CODE = [page for page in PAGES if any(not block.not_run for block in blocks_of(page.read_text()))]


def page_name(page: Path) -> str:
    return str(page.relative_to(SOURCE))


@pytest.mark.parametrize("page", PAGES_WITH_CODE, ids=page_name)
def test_blocks_run(page: Path) -> None:
    blocks = [block for block in blocks_of(page.read_text()) if not block.not_run]
    if any(block.language == "octave" for block in blocks) and not OCTAVE_PACKAGE.is_dir():
        pytest.fail(f"the page has Octave blocks, but there is no Octave package in {OCTAVE_PACKAGE}")
    failures = []
    with Page(BUILD, OCTAVE_PACKAGE) as session:
        for block in blocks:
            problem = session.run(block)
            if problem:
                failures.append(f"{page_name(page)}:{block.line} ({block.language}): {problem}")
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page_name(page)} links to {target}, which does not exist"


def test_the_readme_shows_both_languages() -> None:
    languages = {block.language for block in blocks_of((SOURCE / "README.md").read_text()) if not block.not_run}
    assert {"python", "octave"} <= languages


class TestTheRunner:
    """What finds and runs the blocks must itself be able to fail."""

    text = """
```python
x = 1
```
   ```sh test
   false
   ```
```sh
rm -rf /
```
<!-- not run: needs MATLAB -->
```matlab
y = 2;
```
```text
nothing
```
"""

    def test_finds_what_is_meant_to_run(self) -> None:
        assert blocks_of(self.text) == [
            Block("python", "x = 1\n", 3),
            Block("sh", "false\n", 6),
            Block("octave", "y = 2;\n", 13, "needs MATLAB"),
        ]

    @pytest.mark.parametrize(
        ("language", "good", "bad"),
        [
            ("python", "kept = 1\nprint('x')\n", "kept + unknown\n"),
            ("octave", "kept = 1;\ndisp('x')\n", "if true\n  kept + unknown\nend\n"),
            ("sh", "test -d .\n", "false | true\n"),
        ],
    )
    def test_tells_good_from_bad_and_keeps_what_was_said(self, language: str, good: str, bad: str) -> None:
        if language == "octave" and not shutil.which("octave-cli"):
            pytest.skip("needs octave-cli")
        with Page(BUILD, None) as session:
            assert session.run(Block(language, good, 1)) == ""
            assert session.run(Block(language, bad, 1)) != ""
            if language != "sh":
                assert session.run(Block(language, "kept;\n", 1)) == ""
