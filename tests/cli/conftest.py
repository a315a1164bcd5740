# SPDX-License-Identifier: Apache-2.0
"""A broker of its own for each test, and golden outputs."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from warpool_cli import Cli

GOLDEN = Path(__file__).resolve().parent / "golden"


@pytest.fixture
def cli() -> Iterator[Cli]:
    # Not tmp_path: a socket's path must be short.
    folder = Path(tempfile.mkdtemp(prefix="wp-cli-"))
    commands = Cli(folder)
    yield commands
    commands.run("down", "--force")
    shutil.rmtree(folder)


NUMBER_WITH_UNIT = re.compile(r"\d[\d.]* (ms|s|min|h|d)\b( \d+ (s|min|h)\b)?")


def normalised(text: str, cli: Cli) -> str:
    """The text without what differs from run to run: places, processes, users, times. Runs of spaces shrink with them."""
    text = text.replace(str(cli.folder), "FOLDER")
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "TIME", text)
    text = re.sub(r"pid \d+", "pid N", text)
    text = re.sub(r"(broker|keeper) \d+", r"\1 N", text)
    text = NUMBER_WITH_UNIT.sub("DURATION", text)
    text = re.sub(r"\S+ \(uid \d+\)", "USER (uid N)", text)
    text = re.sub(r"version \d+\.\d+\.\d+", "version V", text)
    return re.sub(r" {2,}", "  ", text)


@pytest.fixture
def golden(cli: Cli, request: pytest.FixtureRequest) -> Any:
    """Compares an output with golden/NAME.txt; with WARPOOL_UPDATE_GOLDEN=1 writes it instead."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / f"{name}.txt"
        actual = normalised(text, cli)
        if os.environ.get("WARPOOL_UPDATE_GOLDEN"):
            path.write_text(actual)
        assert actual == path.read_text(), f"{path} differs; if that is right, run with WARPOOL_UPDATE_GOLDEN=1"

    return compare
