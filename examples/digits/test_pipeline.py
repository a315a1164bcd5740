# SPDX-License-Identifier: Apache-2.0
"""The whole example, small, with the programs of this build: with Warpool and by raw files, then the report."""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from digits import HERE
from runs import Run, read_run, read_runs

INLINE_BYTES = 64 * 1024
BATCHES = 4


class Outcome:
    """What examples/digits/run printed and left."""

    def __init__(self, folder: Path, printed: str) -> None:
        self.folder = folder
        self.printed = printed
        self.shared = read_run(folder / "digits/shared")
        self.raw = read_run(folder / "digits/raw")

    def summary(self) -> dict[str, Any]:
        result: dict[str, Any] = json.loads((self.folder / "digits/shared/summary.json").read_text())
        return result


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outcome]:
    folder = tmp_path_factory.mktemp("digits")
    before = leftovers()
    command = [str(HERE / "run"), "--small", "--methods", "shared raw", "--out", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=150, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert leftovers() <= before, "a broker or its folder was left behind"
    yield Outcome(folder, done.stdout)


def leftovers() -> set[str]:
    """Folders of brokers of the example."""
    return {str(path) for path in Path(os.environ.get("TMPDIR", "/tmp")).glob("digits.*/warpool.sock")}


def test_digits_are_recognised(outcome: Outcome) -> None:
    assert outcome.shared.result["test_rows"] == 540
    assert outcome.shared.result["accuracy"] >= 0.975  # 0.985 is the aim of the full run; this is a fifth of it


def test_both_ways_learn_the_same_to_the_last_bit(outcome: Outcome) -> None:
    with np.load(outcome.folder / "digits/shared/model.npz") as shared, np.load(outcome.folder / "digits/raw/model.npz") as raw:
        assert shared.files == raw.files
        assert all(np.array_equal(shared[name], raw[name]) for name in shared.files)


def test_every_batch_was_handed_over_once_in_order(outcome: Outcome) -> None:
    for run in (outcome.shared, outcome.raw):
        assert [h.name for h in run.batches] == [f"digits/batch{k:03d}" for k in range(1, BATCHES + 1)]
        assert {(h.writer, h.reader) for h in run.batches} == {("features", "train")}
        assert {h.nbytes for h in run.batches} == {600 * 2 * 1257 * 8}
        assert all(h.seconds > 0 for h in run.hand_overs)


def test_training_began_before_the_last_batch_was_there(outcome: Outcome) -> None:
    first, last = outcome.shared.batches[0], outcome.shared.batches[-1]
    assert first.received < last.begun


def test_nothing_large_was_copied_by_warpool(outcome: Outcome) -> None:
    run = outcome.shared
    # Labels and the number of batches are small enough to travel inside messages, which is a copy and counted as one.
    assert set(run.copy_reasons) <= {"inline"}
    assert 0 < run.copies.nbytes <= 4 * INLINE_BYTES
    large = sum(h.nbytes for h in run.hand_overs if h.nbytes > INLINE_BYTES)
    assert run.shared_bytes == large
    assert run.file_bytes == 0


def test_files_cost_two_copies(outcome: Outcome) -> None:
    run = outcome.raw
    assert run.copies.count == 2 * len(run.hand_overs)
    assert run.copies.nbytes == 2 * run.handed_over_bytes
    assert run.file_bytes >= run.handed_over_bytes


def test_warpool_summary_knows_the_three_programs(outcome: Outcome) -> None:
    stages = {stage["name"]: stage for stage in outcome.summary()["stages"]}
    assert list(stages) == ["publish", "features", "train"]
    assert all(stage["exit_status"] == 0 for stage in stages.values())


def test_report_is_printed_and_drawn(outcome: Outcome) -> None:
    assert re.search(r"Warpool +\d+\.\d s +\d+\.\d\d ms", outcome.printed)
    assert "raw files" in outcome.printed
    assert "Avoided: " in outcome.printed
    header = (outcome.folder / "digits.png").read_bytes()[:24]
    assert header[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", header[16:24])
    assert width > 1500
    assert height > 600
    page = (outcome.folder / "digits.html").read_text()
    assert all(f"digits/batch{k:03d}" in page for k in range(1, BATCHES + 1))
    assert "http" not in page.replace("http-equiv", "")  # the page needs nothing from elsewhere


def test_a_failing_program_ends_the_run_and_says_why(tmp_path: Path) -> None:
    command = [str(HERE / "run"), "--small", "--methods", "shared", "--framework", "absent", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert 'there is no framework "absent"' in done.stderr
    assert not (tmp_path / "digits.png").exists()
    assert not list(HERE.rglob("octave-workspace"))  # Octave's memory, written when a signal ends it


def test_reading_finds_exactly_the_runs_that_were_made(outcome: Outcome) -> None:
    runs: list[Run] = read_runs(outcome.folder / "digits")
    assert [run.method for run in runs] == ["shared", "raw"]
