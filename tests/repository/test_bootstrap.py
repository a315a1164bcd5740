# SPDX-License-Identifier: Apache-2.0
"""scripts/bootstrap in a tree and on a system made for the test: `dpkg-query`, `apt-get` and the rest are stand-ins that write down how
they were called, so that every path can be seen without installing anything."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

SOURCE = Path(os.environ["WARPOOL_SOURCE_DIR"])

STAND_INS = {
    "dpkg-query": 'for name in "$@"; do grep -qx "$name" "$STATE/installed" 2>/dev/null && echo "installed $name"; done; true',
    "apt-cache": 'grep -qx "$2" "$STATE/known" && echo "  Candidate: 1.0" || echo "  Candidate: (none)"',
    "apt-get": """
echo "apt-get $*" >>"$STATE/calls"
case " $* " in
  *" --assume-no "*) echo "Need to get 276 MB of archives." ;;
  *" update "*) cp "$STATE/mirror" "$STATE/known" ;;
  *" install "*) for word in "$@"; do case $word in -*|install) ;; *) echo "$word" >>"$STATE/installed" ;; esac; done ;;
esac
""",
    "id": 'echo "${STAND_IN_UID:-0}"',
}


class System:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.state = root / "state"
        self.state.mkdir()
        self.tree = root / "tree"
        shutil.copytree(SOURCE / "scripts", self.tree / "scripts")
        bin_folder = root / "bin"
        bin_folder.mkdir()
        for name, body in STAND_INS.items():
            (bin_folder / name).write_text(f"#!/bin/bash\n{body}\n")
            (bin_folder / name).chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{bin_folder}:/usr/bin:/bin", "STATE": str(self.state)}
        lines = [line.split()[1] for line in (SOURCE / "scripts/packages.txt").read_text().splitlines() if line[:1] not in "#"]
        self.packages = [line.split("|")[0] for line in lines]
        self.write("known", self.packages)
        self.write("mirror", self.packages)

    def write(self, name: str, lines: list[str]) -> None:
        (self.state / name).write_text("".join(line + "\n" for line in lines))

    def install_everything(self) -> None:
        self.write("installed", self.packages)
        venv = self.tree / ".venv"
        (venv / "bin").mkdir(parents=True)
        (venv / "bin/python").write_text("#!/bin/bash\n")
        (venv / "bin/python").chmod(0o755)
        for name in ("python", "test", "check"):
            digest = subprocess.run(
                ["sha256sum", str(self.tree / f"scripts/requirements/{name}.txt")], capture_output=True, text=True, check=True
            ).stdout
            (venv / f".warpool-{name}-{digest[:16]}").touch()

    def bootstrap(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.tree / "scripts/bootstrap"), *arguments], capture_output=True, text=True, check=False,
            env={**self.environment, **environment}, timeout=60,
        )  # fmt: skip

    def calls(self) -> str:
        path = self.state / "calls"
        return path.read_text() if path.exists() else ""


@pytest.fixture
def system(tmp_path: Path) -> System:
    return System(tmp_path)


def test_does_nothing_and_fast_when_nothing_is_missing(system: System) -> None:
    system.install_everything()
    start = time.monotonic()
    done = system.bootstrap()
    assert (done.returncode, done.stdout, done.stderr, system.calls()) == (0, "", "", "")
    assert time.monotonic() - start < 2


def test_says_what_and_how_much_before_it_installs(system: System) -> None:
    system.install_everything()
    system.write("installed", [name for name in system.packages if name not in ("octave", "cmake")])
    done = system.bootstrap("demo")
    assert done.returncode == 0, done.stderr
    assert "276 MB to download" in done.stdout
    assert "cmake octave" in done.stdout
    assert "install --no-install-recommends -y cmake octave\n" in system.calls()
    system.state.joinpath("calls").unlink()
    assert (system.bootstrap("demo").stdout, system.calls()) == ("", "")


def test_a_dry_run_installs_nothing(system: System) -> None:
    done = system.bootstrap("--dry-run")
    assert done.returncode == 0, done.stderr
    assert "MB to download" in done.stdout
    assert " -y " not in system.calls()
    assert not (system.tree / ".venv").exists()


def test_the_demo_needs_no_tool_of_the_tests(system: System) -> None:
    done = system.bootstrap("--dry-run", "demo")
    assert "octave" in done.stdout
    for name in ("clang", "gtest", "podman", "shellcheck"):
        assert name not in done.stdout


def test_without_root_it_says_what_to_ask_for(system: System) -> None:
    system.write("installed", [name for name in system.packages if name != "octave"])
    done = system.bootstrap("demo", STAND_IN_UID="1000")
    assert done.returncode == 3
    assert "apt-get install --no-install-recommends -y octave" in done.stderr
    assert " -y " not in system.calls()


def test_a_package_that_the_system_lacks_is_named(system: System) -> None:
    system.write("known", [name for name in system.packages if name != "libboost1.81-dev"])
    done = system.bootstrap("build")
    assert done.returncode == 3
    assert "no package libboost1.81-dev" in done.stderr
    assert " -y " not in system.calls()


def test_an_alternative_is_taken(system: System) -> None:
    system.install_everything()
    others = [name for name in system.packages if name != "libboost1.81-dev"]
    system.write("installed", others)
    system.write("known", [*others, "libboost1.83-dev"])
    assert system.bootstrap("build").returncode == 0
    assert "-y libboost1.83-dev\n" in system.calls()


def test_an_unknown_group_is_a_usage_error(system: System) -> None:
    done = system.bootstrap("everything")
    assert done.returncode == 2
    assert 'no group "everything"' in done.stderr
