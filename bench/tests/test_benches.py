# SPDX-License-Identifier: Apache-2.0
"""Every bench runs, and its JSON is what `make bench JSON=1` promises."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = os.environ.get("WARPOOL_BUILD_DIR", str(ROOT / "build/release"))

# The figures that the project has promised: their goals are no business of a bench to relax.
PROMISED = {
    "handoff": {
        "publish_ms": "<= 8",
        "get_ms": "<= 0.3",
        "vs_fastest_file": ">= 30",
        "get_vs_fastest_file": ">= 300",
        "put_again_vs_memcpy": "<= 1.3",
        "put_first_vs_memcpy": "<= 3.5",
        "get_3gib_vs_1mib": "<= 3",
    },
    "calls": {"trivial_vs_bare": ">= 0.7", "alloc_fd_map_vs_bare": ">= 0.7"},
    "small": {"python_vs_pingpong": "<= 3.5", "octave_vs_pingpong": "<= 6.5"},
    "crowd": {"get_p99_ms": "<= 2", "broker_mb": "<= 300"},
    "import": {"python_ms": "<= 40", "octave_ms": "<= 60"},
}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(ROOT / "bench/run"), "--quick", "--build", BUILD, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)


@pytest.mark.parametrize("bench", PROMISED)
def test_json_is_one_object_with_every_promised_figure(bench: str) -> None:
    done = run("--json", bench)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert set(told) == {"bench", "figures"}
    assert told["bench"] == bench
    assert {key: figure["goal"] for key, figure in told["figures"].items()} == PROMISED[bench]
    for figure in told["figures"].values():
        assert set(figure) == {"value", "unit", "goal", "met"}
        comparison, limit = figure["goal"].split()
        reached = figure["value"] >= float(limit) if comparison == ">=" else figure["value"] <= float(limit)
        assert figure["met"] is reached


def test_table_shows_each_figure_with_its_goal() -> None:
    done = run("calls")
    assert done.returncode == 0, done.stderr
    for key in PROMISED["calls"]:
        line = next(line for line in done.stdout.splitlines() if key in line)
        assert "goal >= 0.7" in line
        assert "met" in line or "MISSED" in line


def test_unknown_bench_is_refused() -> None:
    done = run("handof")
    assert done.returncode == 2
    assert "there is no bench handof" in done.stderr


def test_missing_build_says_what_to_do(tmp_path: Path) -> None:
    done = run("--build", str(tmp_path), "calls")
    assert done.returncode == 1
    assert "make build" in done.stderr
    assert done.stdout == ""
