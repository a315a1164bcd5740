# SPDX-License-Identifier: Apache-2.0
"""tools/test_summary must never make a failure, or a run without tests, look like a success."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(os.environ["WARPOOL_SOURCE_DIR"]) / "tools/test_summary"
PASSED = '<testcase name="{0}" status="run"><system-out>fine</system-out></testcase>'
FAILED = '<testcase name="{0}" status="fail"><failure message="Failed"/><system-out>what it printed</system-out></testcase>'


class Results:
    """A build folder with the results of the preset `release`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / "release/test-results"
        self.folder.mkdir(parents=True)

    def ctest(self, *cases: str) -> None:
        (self.folder / "ctest.xml").write_text(f"<testsuite>{''.join(cases)}</testsuite>")

    def cases(self, name: str, *cases: str) -> None:
        (self.folder / f"{name}.xml").write_text(f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>")

    def summary(self, *arguments: str) -> tuple[int, str, str]:
        command = [sys.executable, str(TOOL), "--build-folder", str(self.root), *arguments, "release"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.stderr == ""
        return done.returncode, done.stdout.splitlines()[-1], done.stdout


@pytest.fixture
def results(tmp_path: Path) -> Results:
    return Results(tmp_path)


def test_counts_cases_and_not_programs(results: Results) -> None:
    results.ctest(PASSED.format("unit"), PASSED.format("script"))
    results.cases("unit", '<testcase name="a" classname="S"/>', '<testcase name="b" classname="S"/>')
    assert results.summary()[:2] == (0, "3 passed, 0 failed")


def test_a_failed_case_fails_the_run_and_is_shown(results: Results) -> None:
    results.ctest(FAILED.format("unit"))
    results.cases("unit", '<testcase name="a"/>', '<testcase name="b" classname="S"><failure message="1 is not 2"/></testcase>')
    code, line, text = results.summary()
    assert (code, line) == (1, "1 passed, 1 failed")
    assert "FAILED release: unit: S.b" in text
    assert "1 is not 2" in text


def test_a_program_that_fails_although_its_cases_passed_counts(results: Results) -> None:
    results.ctest(FAILED.format("unit"))
    results.cases("unit", '<testcase name="a"/>')
    code, line, text = results.summary()
    assert (code, line) == (1, "1 passed, 1 failed")
    assert "what it printed" in text


@pytest.mark.parametrize("left", ["", "<testsuites><testsui"])
def test_a_crash_without_a_whole_file_counts(results: Results, left: str) -> None:
    results.ctest(FAILED.format("unit"))
    if left:
        (results.folder / "unit.xml").write_text(left)
    assert results.summary()[:2] == (1, "0 passed, 1 failed")


def test_skipped_cases_are_said(results: Results) -> None:
    results.ctest(PASSED.format("unit"))
    results.cases("unit", '<testcase name="a"/>', '<testcase name="b"><skipped message="no MATLAB"/></testcase>')
    assert results.summary()[:2] == (0, "1 passed, 0 failed, 1 skipped")


def test_nothing_run_is_a_failure(results: Results) -> None:
    results.ctest()
    assert results.summary()[:2] == (1, "0 passed, 0 failed")


def test_only_skipped_is_a_failure(results: Results) -> None:
    results.ctest(PASSED.format("unit"))
    results.cases("unit", '<testcase name="b"><skipped/></testcase>')
    assert results.summary()[0] == 1


def test_a_test_that_could_not_be_run_is_a_failure(results: Results) -> None:
    results.ctest('<testcase name="unit" status="notrun"><failure message="Unable to find executable"/></testcase>')
    assert results.summary()[:2] == (1, "0 passed, 1 failed")


def test_a_failed_build_counts(results: Results) -> None:
    results.ctest(PASSED.format("script"))
    code, line, text = results.summary("--failed", "build of the preset tsan")
    assert (code, line) == (1, "1 passed, 1 failed")
    assert "FAILED: build of the preset tsan" in text
