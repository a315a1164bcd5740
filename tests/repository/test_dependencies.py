# SPDX-License-Identifier: Apache-2.0
"""docs/design/dependencies.md says why for each package that scripts/bootstrap installs, and for no other."""

from __future__ import annotations

import os
import re
from pathlib import Path

SOURCE = Path(os.environ["WARPOOL_SOURCE_DIR"])
PAGE = (SOURCE / "docs/design/dependencies.md").read_text()


def rows(title: str) -> set[str]:
    section = PAGE.split(f"## {title}\n")[1].split("\n## ")[0]
    return set(re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE))


def test_packages_of_the_distribution() -> None:
    lines = [line.split() for line in (SOURCE / "scripts/packages.txt").read_text().splitlines() if not line.startswith("#")]
    assert all(len(line) == 2 for line in lines)
    assert rows("Packages of Debian") == {package.split("|")[0] for _, package in lines}


def test_packages_for_python_are_pinned() -> None:
    pinned = {}
    for file in (SOURCE / "scripts/requirements").glob("*.txt"):
        text = file.read_text()
        assert re.search(r"^# download: \d+ MB$", text, re.MULTILINE), f"{file} does not say how much it downloads"
        for line in text.splitlines():
            if line and not line.startswith("#"):
                match = re.fullmatch(r"([\w.-]+)==([\w.]+)", line)
                assert match, f"{file}: {line} is not pinned"
                pinned[match.group(1)] = match.group(2)
    # The page explains what was chosen; what those need in turn is pinned as well, and needs no reason.
    assert rows("Packages for Python") <= pinned.keys()
