# SPDX-License-Identifier: Apache-2.0
"""tools/check_layers finds each kind of violation in a small tree where it was planted, and nothing where there is none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(os.environ["WARPOOL_SOURCE_DIR"])
SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
TABLE = """
| folder | rank | sees | what lives there |
|---|---|---|---|
| `include/warpool/` | 0 | | the C header |
| `src/base/` | 0 | | basics |
| `src/os/` | 1 | base | system calls |
| `src/store/` | 2 | base os | state |
| `src/broker/` | 3 | base os store | decisions |
| `src/client/` | 3 | base os | the library |
| `src/engine/` | 3 | base store | planned: later |
| `bindings/python/` | 5 | | Python |
"""
FILES = {
    "ARCHITECTURE.md": TABLE,
    "include/warpool/warpool.h": SPDX,
    "src/base/text.h": SPDX,
    "src/os/fd.h": SPDX + '#include "base/text.h"\n',
    "src/os/fd.cc": SPDX + '#include "os/fd.h"\nvoid f(int fd) { ::close(fd); }\n',
    "src/os/socket.h": SPDX,
    "src/store/registry.h": SPDX + '#include "base/text.h"\n',
    "src/broker/broker.cc": SPDX + '#include "store/registry.h"\n#include "os/fd.h"\n// exit(1) in a comment is no call\n',
    "src/client/get.cc": SPDX + '#include "warpool/warpool.h"\nconst char* kText = "exit(1)";\nvoid g(S& s) { s.close(); }\n',
    "bindings/python/module.cc": SPDX + "#include <warpool/warpool.h>\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return tmp_path


def check(tree: Path) -> tuple[int, str]:
    command = [sys.executable, str(SOURCE / "tools/check_layers"), "--root", str(tree)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_a_clean_tree_passes(tree: Path) -> None:
    code, text = check(tree)
    assert code == 0, text
    assert "10 files follow the rules" in text


def test_ignored_files_are_not_read(tree: Path) -> None:
    (tree / ".gitignore").write_text("build/\n")
    (tree / "build").mkdir()
    (tree / "build/x.cc").write_text("no licence line\n")
    assert check(tree)[0] == 0


# What is written into which file, and a part of the message it must cause.
PLANTED = {
    "upward include": ("src/base/text.h", SPDX + '#include "os/fd.h"\n', 'src/base may not include "os/fd.h"'),
    "include of a folder of the same rank": (
        "src/broker/x.cc",
        SPDX + '#include "client/x.h"\n',
        'src/broker may not include "client/x.h"',
    ),
    "include with angle brackets": ("src/base/x.cc", SPDX + "#include <os/fd.h>\n", 'src/base may not include "os/fd.h"'),
    "binding that looks inside": (
        "bindings/python/module.cc",
        SPDX + '#include "base/text.h"\n',
        'bindings/python may not include "base/text.h"',
    ),
    "generated header of a folder not seen": (
        "src/base/x.cc",
        SPDX + '#include "store/made_at_build.h"\n',
        "src/base may not include",
    ),
    "sockets in the broker": ("src/broker/x.cc", SPDX + '#include "os/socket.h"\n', "sockets belong to src/daemon"),
    "exit in the library": ("src/client/x.cc", SPDX + "void f() { exit(1); }\n", "src/client/x.cc:2: banned call"),
    "std::abort in the library": ("src/client/x.cc", SPDX + "void f() { std::abort(); }\n", "banned call"),
    "system in the library": ("src/client/x.cc", SPDX + 'void f() { ::system("ls"); }\n', "banned call"),
    "close outside os": ("src/store/x.cc", SPDX + "void f(int fd) { close(fd); }\n", "closed by os::Fd only"),
    "long file": ("src/store/x.cc", SPDX + "int x;\n" * 600, "601 lines"),
    "no licence line": ("src/store/x.cc", "int x;\n", "SPDX-License-Identifier: Apache-2.0` is missing"),
    "path of one machine": ("docs/page.md", "see /ro" + "ot/notes\n", "path of one machine"),
    "registry host": ("scripts/get.sh", "# SPDX-License-Identifier: Apache-2.0\ncurl py" + "pi.org\n", "package registry"),
    "unfinished": ("src/store/x.cc", SPDX + "// TODO(n" + "ow): finish\n", "to be done before it lands"),
    "folder missing in the table": ("src/extra/x.cc", SPDX, "the table lacks src/extra"),
    "planned folder that is not marked": (
        "ARCHITECTURE.md",
        TABLE + "| `src/probe/` | 4 | base | helper |\n",
        "the table has src/probe, which does not exist",
    ),
    "table that sees upward": (
        "ARCHITECTURE.md",
        TABLE.replace("| `src/os/` | 1 | base |", "| `src/os/` | 1 | base store |"),
        "src/os (rank 1) may not see store (rank 2)",
    ),
}


@pytest.mark.parametrize("what", PLANTED)
def test_a_planted_violation_is_found(tree: Path, what: str) -> None:
    name, text, message = PLANTED[what]
    (tree / name).parent.mkdir(parents=True, exist_ok=True)
    (tree / name).write_text(text)
    if what == "include of a folder of the same rank":
        (tree / "src/client/x.h").write_text(SPDX)
    code, printed = check(tree)
    assert code == 1, printed
    assert message in printed


def test_six_hundred_lines_are_allowed(tree: Path) -> None:
    (tree / "src/store/x.cc").write_text(SPDX + "int x;\n" * 599)
    assert check(tree)[0] == 0


def test_a_unit_test_may_drive_several_layers(tree: Path) -> None:
    (tree / "src/base/text_test.cc").write_text(SPDX + '#include "store/registry.h"\n')
    assert check(tree)[0] == 0


def test_asio_in_four_units_is_one_too_many(tree: Path) -> None:
    (tree / "src/store/loop.h").write_text(SPDX + "#include <boost/asio/io_context.hpp>\n")
    for number in range(3):
        (tree / f"src/store/unit{number}.cc").write_text(SPDX + '#include "store/loop.h"\n')
    assert check(tree)[0] == 0
    (tree / "src/store/unit3.cc").write_text(SPDX + "#include <boost/beast.hpp>\n")
    code, printed = check(tree)
    assert code == 1
    assert "4 translation units" in printed
