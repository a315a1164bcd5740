# SPDX-License-Identifier: Apache-2.0
"""Installs below a temporary prefix, uses every part from there as a user would, uninstalls, and finds nothing left.

Programs run with the installed tree only: nothing in their environment points to the build.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(os.environ["WARPOOL_SOURCE_DIR"])
BUILD = Path(os.environ["WARPOOL_BUILD_DIR"])
VERSION = (SOURCE / "VERSION").read_text().strip()

C_PROGRAM = r"""
#include <stdio.h>
#include <warpool/warpool.h>

int main(void) {
  warpool_error error;
  warpool_connection* connection = NULL;
  if (warpool_connect(NULL, &connection, &error) != WARPOOL_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  double values[3] = {1, 2, 3};
  int64_t shape[1] = {3};
  warpool_part part;
  warpool_array* array = NULL;
  int code = 1;
  if (warpool_part_init(&part, WARPOOL_FLOAT64, 1, shape, WARPOOL_ORDER_C, &error) == WARPOOL_OK &&
      (part.data = values, warpool_put(connection, "from/c", &part, 1, NULL, NULL, &error)) == WARPOOL_OK &&
      warpool_get(connection, "from/c", 0, NULL, &array, &error) == WARPOOL_OK) {
    printf("%s %g\n", warpool_version(), ((const double*)warpool_array_get_info(array)->data)[2]);
    code = 0;
  } else {
    fprintf(stderr, "%s\n", error.message);
  }
  warpool_array_release(array);
  warpool_close(connection);
  return code;
}
"""


class Installation:
    """A prefix with Warpool in it, and programs run from there on a broker of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.prefix = folder / "prefix"
        self.work = folder / "work"
        self.work.mkdir()
        self.environment = {
            "PATH": f"{self.prefix}/bin:/usr/bin:/bin",
            "HOME": str(self.work),
            "TMPDIR": str(self.work),
            "LANG": "C.UTF-8",
        }

    def run(self, *command: str | Path, **environment: str) -> str:
        done = subprocess.run(
            [str(word) for word in command], cwd=self.work, env={**self.environment, **environment}, capture_output=True,
            text=True, check=False, timeout=120, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def files(self) -> set[str]:
        return {str(path.relative_to(self.prefix)) for path in self.prefix.rglob("*") if not path.is_dir()}

    def python_folder(self) -> Path:
        (folder,) = self.prefix.glob("lib/python3.*/site-packages")
        return folder


def script(name: str, installation: Installation) -> subprocess.CompletedProcess[str]:
    # The scripts look into build/release of their tree; the test looks at the build that it belongs to.
    tree = installation.folder / "tree"
    if not tree.exists():
        tree.mkdir()
        shutil.copytree(SOURCE / "scripts", tree / "scripts")
        (tree / "build").mkdir()
        (tree / "build/release").symlink_to(BUILD)
    command = [str(tree / "scripts" / name), str(installation.prefix)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    # Short, because the broker's socket lies in it.
    folder = Path(tempfile.mkdtemp(prefix="wp-inst-", dir="/tmp"))
    made = Installation(folder)
    done = script("install", made)
    assert done.returncode == 0, done.stdout + done.stderr
    yield made
    subprocess.run([str(BUILD / "bin/warpool"), "down", "--force"], env=made.environment, capture_output=True, check=False)
    shutil.rmtree(folder)


def test_everything_is_in_its_place(installation: Installation) -> None:
    expected = {
        "bin/warpool", "bin/warpoold", "libexec/warpool/warpool-keeper", "lib/libwarpool.so", "lib/libwarpool.so.0",
        f"lib/libwarpool.so.{VERSION}", "include/warpool/warpool.h", "include/warpool/warpool.hpp", "lib/pkgconfig/warpool.pc",
        "lib/cmake/warpool/warpool-config.cmake", "share/man/man1/warpool.1", "share/man/man1/warpool-ls.1",
        "share/bash-completion/completions/warpool", "share/zsh/site-functions/_warpool",
        "share/fish/vendor_completions.d/warpool.fish", "lib/warpool/octave/packages/+warpool/put.m",
        "share/warpool/installed-files.txt",
    }  # fmt: skip
    assert expected <= installation.files()


def test_a_c_program_finds_it_by_pkg_config(installation: Installation) -> None:
    (installation.work / "use.c").write_text(C_PROGRAM)
    flags = installation.run(
        "pkg-config", "--cflags", "--libs", "warpool", PKG_CONFIG_PATH=f"{installation.prefix}/lib/pkgconfig"
    )
    installation.run(
        "gcc", "-Wall", "-Wextra", "-Werror", "use.c", "-o", "use", *flags.split(), f"-Wl,-rpath,{installation.prefix}/lib"
    )
    assert installation.run("./use") == f"{VERSION} 3\n"


def test_a_cmake_project_finds_it(installation: Installation) -> None:
    project = installation.work / "project"
    project.mkdir()
    (project / "use.c").write_text(C_PROGRAM)
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(use C)\nfind_package(warpool 0.1 REQUIRED)\n"
        "add_executable(use use.c)\ntarget_link_libraries(use PRIVATE warpool::warpool)\n"
    )
    installation.run("cmake", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={installation.prefix}")
    installation.run("cmake", "--build", project / "build")
    assert installation.run(project / "build/use") == f"{VERSION} 3\n"


def test_python_and_octave_and_the_command_meet(installation: Installation) -> None:
    # The Python that runs the tests, since it has NumPy; the package comes from the installed tree.
    code = "import warpool, numpy; warpool.put('from/python', numpy.arange(4.0)); print(warpool.__file__)"
    where = installation.run(sys.executable, "-c", code, PYTHONPATH=str(installation.python_folder()))
    assert where.startswith(str(installation.prefix))
    sum_of_it = installation.run(
        "octave-cli", "--quiet", "--no-history", "--eval",
        f"addpath('{installation.prefix}/lib/warpool/octave'); printf('%g', sum(warpool.get('from/python')));",
    )  # fmt: skip
    assert sum_of_it == "6"
    assert "from/python" in installation.run("warpool", "ls")
    assert str(installation.prefix) in os.readlink(f"/proc/{broker_pid(installation)}/exe")


def broker_pid(installation: Installation) -> int:
    code = "import warpool; print(warpool.status()['broker_pid'])"
    return int(installation.run(sys.executable, "-c", code, PYTHONPATH=str(installation.python_folder())))


def test_installing_again_changes_nothing_and_removes_what_is_gone(installation: Installation) -> None:
    before = installation.files()
    record = installation.prefix / "share/warpool/installed-files.txt"
    # As if an older version had installed one file more.
    (installation.prefix / "bin/warpool-old").write_text("")
    record.write_text(record.read_text() + "bin/warpool-old\n")
    assert script("install", installation).returncode == 0
    assert installation.files() - before <= set()
    assert before <= installation.files() | {name for name in before if "__pycache__" in name}


def test_a_prefix_that_is_no_absolute_path_is_refused(installation: Installation) -> None:
    done = subprocess.run([str(SOURCE / "scripts/install"), "here"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "absolute path" in done.stderr


def test_uninstalling_leaves_what_others_put_there_and_nothing_else(installation: Installation) -> None:
    installation.run("warpool", "down", "--force")
    foreign = installation.prefix / "lib/of-somebody-else.txt"
    foreign.write_text("keep")
    done = script("uninstall", installation)
    assert done.returncode == 0, done.stdout + done.stderr
    assert installation.files() == {"lib/of-somebody-else.txt"}
    assert {path.name for path in installation.prefix.iterdir()} == {"lib"}
    done = script("uninstall", installation)
    assert done.returncode == 1
    assert "nothing is recorded as installed" in done.stderr
