# SPDX-License-Identifier: Apache-2.0
"""Several programs: sharing pages, forks, ends of interpreters, other libraries."""

from __future__ import annotations

import importlib.util
import json
import multiprocessing
import os
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import warpool
from values import same_bytes, shared_pages

RunPython = Callable[..., "subprocess.CompletedProcess[str]"]


READER = """
import json, sys, numpy as np, warpool
sys.path.insert(0, sys.argv[1])
from values import shared_pages
a = warpool.get("x", wait=30)
v = np.asarray(a)
print(json.dumps([v.tolist()[:3], list(a.strides), shared_pages(v), warpool.stats()["copies"]]))
"""


def test_two_programs_see_the_same_pages(run_python: RunPython) -> None:
    with warpool.create("x", (1000, 30), order="F") as draft:
        draft[...] = np.arange(30_000.0).reshape(1000, 30)
    a = warpool.get("x")
    output = run_python(READER, os.path.dirname(__file__)).stdout
    rows, strides, pages, copies = json.loads(output)
    assert rows == a[:3].tolist()
    assert strides == [8, 8000]
    assert pages == shared_pages(a.numpy())
    assert copies == {}


def test_a_producer_may_end_before_the_consumer_starts(run_python: RunPython) -> None:
    run_python("import numpy as np, warpool; warpool.put('big', np.arange(50_000)); warpool.put('small', {'t': 'text'})")
    assert same_bytes(warpool.get("big"), np.arange(50_000))
    assert warpool.get("small") == {"t": "text"}


def test_a_forked_child_has_a_session_of_its_own() -> None:
    warpool.put("before", np.arange(100_000))
    view = np.asarray(warpool.get("before"))
    own = warpool.stats()["session"]
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            other = warpool.stats()["session"]
            warpool.put("child", np.arange(200_000))
            report = [other, int(view[-1]), int(warpool.get("before")[-1]), os.getpid() == warpool.stats()["pid"]]
            os.write(write_end, json.dumps(report).encode())
            os._exit(0)
        except BaseException as error:
            os.write(write_end, repr(error).encode())
            os._exit(1)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as reader:
        report = reader.read().decode()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, report
    other, last, again, own_pid = json.loads(report)
    assert other != own
    assert (last, again, own_pid) == (99_999, 99_999, True)
    assert warpool.stats()["session"] == own
    assert same_bytes(warpool.get("child"), np.arange(200_000))


def _double(name: str) -> int:
    x = np.asarray(warpool.get(name)) * 2
    return warpool.put(f"{name}/doubled", x)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing_works_with_every_start_method(method: str) -> None:
    for number in range(4):
        warpool.put(f"m{number}", np.full(20_000, number))
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(_double, [f"m{number}" for number in range(4)]) == [1, 1, 1, 1]
        pool.close()
        pool.join()
    assert [int(warpool.get(f"m{number}/doubled")[0]) for number in range(4)] == [0, 2, 4, 6]


ENDINGS = {
    "live arrays": "x = warpool.get('x'); v = np.asarray(x); c = x.__dlpack__(); s = warpool.get('s')",
    "an open draft": "d = warpool.create('d', 100_000); v = d.numpy()",
    "an open draft in with": "d = warpool.create('d', 100_000).__enter__()",
    "an open watch": "w = warpool.watch()",
    "a second connection": "c = warpool.connect(); x = c.get('x')",
    "cycles": "c = [warpool.get('x')]; c.append(c); warpool.keep = c",
    "daemon threads that wait": (
        "import threading, time\n"
        "for i in range(8): threading.Thread(target=warpool.get, args=('never',), kwargs={'wait': True}, daemon=True).start()\n"
        "time.sleep(0.2)"
    ),
    "daemon threads that work": (
        "import threading, time\n"
        "def work():\n"
        "    while True: warpool.put('busy', 1); warpool.get('busy')\n"
        "for i in range(4): threading.Thread(target=work, daemon=True).start()\n"
        "time.sleep(0.1)"
    ),
    "use in atexit": "import atexit; atexit.register(lambda: warpool.put('late', 1))",
    "use in a destructor": ("class Late:\n    def __del__(self, put=warpool.put): put('late', 1)\nlate = Late()"),
    "sys.exit in a thread": "import threading; t = threading.Thread(target=lambda: (warpool.ping(), sys.exit(3))); t.start(); t.join()",
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_interpreter_ends_cleanly_with(ending: str, run_python: RunPython) -> None:
    warpool.put("x", np.zeros(100_000))
    warpool.put("s", {"a": np.zeros(3), "b": "text"})
    result = run_python("import sys\nimport numpy as np\nimport warpool\n" + ENDINGS[ending], timeout=30)
    assert result.stderr == ""


@pytest.mark.parametrize("library", ["numpy", "scipy.sparse", "torch", "tensorflow", "jax"])
@pytest.mark.parametrize("first", ["warpool", "library"])
def test_the_order_of_imports_does_not_matter(library: str, first: str, run_python: RunPython) -> None:
    if importlib.util.find_spec(library.partition(".")[0]) is None:
        pytest.skip(f"{library} is not installed")
    imports = ["import warpool", f"import {library}"]
    if first == "library":
        imports.reverse()
    run_python("\n".join([*imports, "import numpy as np", "warpool.put('x', np.arange(9))", "assert warpool.get('x')[8] == 8"]))


def test_import_loads_little(run_python: RunPython) -> None:
    """What an `import warpool` must not cost: neither NumPy nor heavy parts of the standard library."""
    source = "import json, sys; before = set(sys.modules); import warpool; print(json.dumps(sorted(set(sys.modules) - before)))"
    loaded = {name for name in json.loads(run_python(source).stdout) if not name.startswith("warpool")}
    assert loaded <= {"__future__", "atexit"}


def test_the_module_needs_the_library_and_nothing_of_the_daemon() -> None:
    core: Any = warpool._core
    output = subprocess.run(["ldd", core.__file__], capture_output=True, text=True, check=True).stdout
    names = {line.split()[0] for line in output.splitlines()}
    assert any(name.startswith("libwarpool.so.0") for name in names)
    allowed = r"libwarpool\.so\.0|libstdc\+\+|libgcc_s|libc\.so|libm\.so|libpthread|linux-vdso|/lib(64)?/ld-linux"
    assert all(re.match(allowed, name) for name in names), names


def test_the_version_is_that_of_the_library() -> None:
    assert warpool.__version__.count(".") == 2
    assert sys.modules["warpool"].__version__ == warpool._core.version()
