# SPDX-License-Identifier: Apache-2.0
"""libwarpool as a file: what it needs, what it shows, and that loading it does nothing.

It is loaded into MATLAB, Octave, Python and anything else, in any container. So it may depend on libc only, and on no newer one than
those programs have; a symbol too many may clash with one of theirs; one too few breaks a program that was linked against the header.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(os.environ["WARPOOL_SOURCE_DIR"])
LIBRARY = Path(os.environ["WARPOOL_BUILD_DIR"]) / "lib/libwarpool.so.0"
HEADER = SOURCE / "include/warpool/warpool.h"
# The C library of Debian 10, Ubuntu 20.04 and RHEL 8 is at least this new.
NEWEST_GLIBC = (2, 28)


def output(*command: str | Path) -> str:
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout


def exported() -> set[str]:
    """Names that the library defines for others, without symbol versions."""
    lines = output("nm", "--dynamic", "--defined-only", LIBRARY).splitlines()
    # An absolute symbol is the name of a symbol version, not something to call.
    return {line.split()[2].split("@")[0] for line in lines if line.split()[1] != "A"}


def declared() -> set[str]:
    """Functions that the header declares."""
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.DOTALL)
    text = re.sub(r"^#.*$", "", text, flags=re.MULTILINE)
    names = re.findall(r"WARPOOL_API\s[^;(]*?(\w+)\s*\(", text)
    assert len(names) == text.count("WARPOOL_API"), "a declaration was not understood"
    return set(names)


def test_needs_libc_only() -> None:
    needed = set(re.findall(r"\(NEEDED\).*\[(.+)\]", output("readelf", "--dynamic", "--wide", LIBRARY)))
    assert needed <= {"libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}, needed
    assert "libc.so.6" in needed


def test_name_in_other_programs() -> None:
    assert re.search(r"\(SONAME\).*\[libwarpool\.so\.0\]", output("readelf", "--dynamic", "--wide", LIBRARY))


def test_needs_no_new_libc() -> None:
    undefined = output("nm", "--dynamic", "--undefined-only", LIBRARY).splitlines()
    versions = {}
    for line in undefined:
        match = re.search(r"(\w+)@GLIBC_(\d+)\.(\d+)", line)
        if match:
            versions[match.group(1)] = (int(match.group(2)), int(match.group(3)))
    assert versions, "no versioned symbol found: this test looks in the wrong place"
    too_new = {name: version for name, version in versions.items() if version > NEWEST_GLIBC}
    assert not too_new, too_new


def test_undefined_symbols_are_those_of_libc() -> None:
    undefined = [line.split()[-1] for line in output("nm", "--dynamic", "--undefined-only", LIBRARY).splitlines()]
    weak = {"__gmon_start__", "_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable"}
    foreign = [name for name in undefined if "@GLIBC_" not in name and name not in weak]
    assert not foreign, foreign


def test_exports_what_the_header_declares_and_nothing_else() -> None:
    assert exported() - declared() == set(), "exported, but not in the header"
    assert declared() - exported() == set(), "in the header, but not exported"


def test_names_start_with_warpool() -> None:
    assert all(name.startswith("warpool_") for name in exported())


def test_runs_no_code_of_ours_when_loaded() -> None:
    sections = output("readelf", "--sections", "--wide", LIBRARY)
    match = re.search(r"\s\.init_array\s+INIT_ARRAY\s+\w+\s+\w+\s+(\w+)", sections)
    entries = int(match.group(1), 16) // 8 if match else 0
    # The compiler's own start-up file brings one entry, frame_dummy, which does nothing here.
    assert entries <= 1, f"{entries} functions run at load"


def test_has_little_thread_local_storage() -> None:
    segments = output("readelf", "--segments", "--wide", LIBRARY)
    match = re.search(r"^\s+TLS\s+\w+\s+\w+\s+\w+\s+\w+\s+(0x\w+)", segments, re.MULTILINE)
    # The room that the loader keeps for libraries opened late is small, and others want some of it.
    assert match is None or int(match.group(1), 16) <= 256


LOAD = """
import ctypes, os, sys
def state():
    status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
    keys = ("Threads", "SigBlk", "SigIgn", "SigCgt")
    return {key: status[key].strip() for key in keys}, sorted(os.listdir("/proc/self/fd")), dict(os.environ)
ctypes.CDLL(None)
before = state()
library = ctypes.CDLL(sys.argv[1])
library.warpool_version.restype = ctypes.c_char_p
version = library.warpool_version()
assert before == state(), (before, state())
sys.stderr.write(version.decode())
"""


def test_loading_changes_nothing_in_the_process() -> None:
    done = subprocess.run([sys.executable, "-c", LOAD, str(LIBRARY)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert done.stderr == (SOURCE / "VERSION").read_text().strip()


@pytest.mark.parametrize("standard", ["c99", "c11", "c17"])
def test_header_is_plain_c(standard: str, tmp_path: Path) -> None:
    source = tmp_path / "use.c"
    source.write_text("#include <warpool/warpool.h>\nint main(void) { return warpool_version() == 0; }\n")
    output(
        "gcc",
        f"-std={standard}",
        "-Wall",
        "-Wextra",
        "-Wpedantic",
        "-Werror",
        "-fsyntax-only",
        "-I",
        SOURCE / "include",
        source,
    )
