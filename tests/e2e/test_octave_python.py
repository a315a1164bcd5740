# SPDX-License-Identifier: Apache-2.0
"""Octave and Python as two programs: the same pages in both, and the same values, in both directions and without any file."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
import warpool

BUILD = Path(os.environ["WARPOOL_BUILD_DIR"])
OCTAVE = ["octave-cli", "--norc", "--no-history", "--no-gui", "--eval"]
PREAMBLE = f"addpath('{BUILD}/octave'); "
DTYPES = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
CLASSES = {"bool": "logical", "float32": "single", "float64": "double", "complex64": "single", "complex128": "double"}
SHAPES = [(), (5,), (5, 1), (1, 5), (0, 3), (0,), (2, 3), (2, 3, 1, 1), (2, 3, 2, 1, 2), (300, 200), (200000,)]


@pytest.fixture(autouse=True)
def broker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A broker of its own for each test, and this process connected to it."""
    monkeypatch.setenv("WARPOOL_SOCKET", str(tmp_path / "w.sock"))
    session = warpool.connect(label="test")
    yield session
    session.close()
    subprocess.run([BUILD / "bin" / "warpool", "down", "--force"], check=False, capture_output=True)


def octave(code: str, timeout: float = 120) -> str:
    """Runs a program in Octave to its end and returns what it printed."""
    done = subprocess.run([*OCTAVE, PREAMBLE + code], capture_output=True, text=True, timeout=timeout, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


class RunningOctave:
    """An Octave that runs `code`, says "ready", and waits until it may end."""

    def __init__(self, code: str) -> None:
        self._process = subprocess.Popen(
            [*OCTAVE, PREAMBLE + code + "; disp('ready'); fflush(stdout); fgetl(stdin);"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.said = ""
        for line in self._process.stdout:
            if line.strip() == "ready":
                return
            self.said += line
        raise AssertionError(f"Octave ended early: {self.said}")

    @property
    def pid(self) -> int:
        return self._process.pid

    def __enter__(self) -> RunningOctave:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate("\n", timeout=60)


def shared_inodes(pid: int) -> set[int]:
    """Inodes of the memfd mappings of published arrays in a process."""
    maps = Path(f"/proc/{pid}/maps").read_text()
    return {int(line.split()[4]) for line in maps.splitlines() if "memfd:warpool-array" in line}


def inode_at(address: int) -> int:
    """The inode of the mapping of this process that an address lies in."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        first, last = (int(bound, 16) for bound in line.split()[0].split("-"))
        if first <= address < last:
            assert "memfd:" in line, line
            return int(line.split()[4])
    raise AssertionError("unmapped")


def values(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    count = int(np.prod(shape))
    n = np.arange(count)
    if dtype == "bool":
        return (n % 3 == 1).reshape(shape)
    if dtype.startswith("complex"):
        return (n - 0.25j * (n + 1)).astype(dtype).reshape(shape)
    if dtype.startswith("float"):
        return (n / 3 - 7).astype(dtype).reshape(shape)
    limits = np.iinfo(dtype)
    array = (n % 100).astype(dtype)
    array[: min(2, count)] = [limits.max, limits.min][: min(2, count)]
    return array.reshape(shape)


def test_octave_to_python_shares_the_pages(broker) -> None:
    code = "h = warpool.create('a', [300 400]); h(:) = 1:120000; warpool.publish(h); x = warpool.get('a');"
    with RunningOctave(code) as program:
        a = broker.get("a").numpy()
        assert inode_at(a.__array_interface__["data"][0]) in shared_inodes(program.pid)
        assert a.strides == (8, 2400) and not a.flags.writeable
        assert np.array_equal(a, np.arange(1.0, 120001).reshape(300, 400, order="F"))
        producer = next(session for session in broker.sessions() if session["pid"] == program.pid)
        assert producer["copies"] == {}


def test_python_to_octave_shares_the_pages(broker) -> None:
    with broker.create("a", (300, 400), "float64", order="F") as draft:
        draft[...] = np.arange(120000.0).reshape(300, 400)
    mine = broker.get("a").numpy()
    code = "x = warpool.get('a'); own = warpool.stats(); printf('%d %d %d\\n', x(2,3), own.bytes_shared, own.copied_bytes_convert);"
    with RunningOctave(code) as program:
        assert inode_at(mine.__array_interface__["data"][0]) in shared_inodes(program.pid)
        assert program.said.split() == ["402", str(mine.nbytes), "0"]


def test_one_dimension_is_shared_either_way(broker) -> None:
    broker.put("v", np.arange(50000.0))
    said = octave(
        "x = warpool.get('v'); own = warpool.stats(); printf('%d %d %d %d\\n', size(x), x(end), own.copied_bytes_convert);"
    )
    assert said.split() == ["50000", "1", "49999", "0"]


def test_no_file_is_written(broker, tmp_path: Path) -> None:
    """Neither program opens a file for writing below the folders where exchanged files would be."""
    work = tmp_path / "work"
    work.mkdir()
    before = {path for folder in (Path("/dev/shm"), work) for path in folder.iterdir()}
    subprocess.run(
        [*OCTAVE, PREAMBLE + "warpool.put('a', rand(1000));"],
        cwd=work,
        check=True,
        env={**os.environ, "TMPDIR": str(work)},
        capture_output=True,
    )
    assert broker.get("a").shape == (1000, 1000)
    after = {path for folder in (Path("/dev/shm"), work) for path in folder.iterdir()}
    assert after - before == set()


def test_producer_that_ended_before_the_consumer_starts(broker) -> None:
    octave("warpool.put('from/octave', magic(200));")
    subprocess.run(
        [sys.executable, "-c", "import warpool, numpy; warpool.put('from/python', numpy.arange(30000.0))"], check=True
    )
    assert broker.get("from/octave").numpy().sum() == 200 * 200 * (200 * 200 + 1) / 2
    assert octave("printf('%d', sum(warpool.get('from/python')))") == str(sum(range(30000)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_python_values_in_octave_and_back(broker, dtype: str) -> None:
    code = ""
    for k, shape in enumerate(SHAPES):
        for order in "CF":
            broker.put(f"in/{k}{order}", np.asarray(values(dtype, shape), order=order))
            code += f"x = warpool.get('in/{k}{order}'); warpool.put('out/{k}{order}', x); "
            code += "printf('%s %d %d|', class(x), iscomplex(x), ndims(x)); "
    said = octave(code).split("|")
    for k, shape in enumerate(SHAPES):
        for i, order in enumerate("CF"):
            back = np.asarray(broker.get(f"out/{k}{order}"))
            sent = values(dtype, shape)
            as_matrix = sent.reshape(shape if len(shape) > 1 else (*shape, 1) if shape else (1, 1))
            while as_matrix.ndim > 2 and as_matrix.shape[-1] == 1:
                as_matrix = as_matrix[..., 0]
            assert back.dtype == sent.dtype and back.shape == as_matrix.shape, (shape, order)
            assert back.tobytes() == as_matrix.tobytes(), (shape, order)
            name, is_complex, _ = said[2 * k + i].split()
            assert name == CLASSES.get(dtype, dtype)
            assert is_complex == str(int(dtype.startswith("complex")))


def test_float16_becomes_single(broker) -> None:
    sent = np.array([0, -0.0, 1, -2.5, 65504, 6e-8, 6.1e-5, np.inf, -np.inf, np.nan], np.float16)
    broker.put("h", sent)
    octave(
        "x = warpool.get('h'); assert(class(x), 'single'); own = warpool.stats(); assert(own.copied_bytes_convert, 20); "
        "warpool.put('s', x);"
    )
    back = broker.get("s").numpy().ravel()
    assert back.dtype == np.float32 and np.array_equal(back, sent.astype(np.float32), equal_nan=True)
    assert np.array_equal(np.signbit(back[:9]), np.signbit(sent[:9]))


@pytest.mark.parametrize("order", ["C", "F"])
def test_element_by_element(broker, order: str) -> None:
    """A(i,j,k) in Octave is a[i-1,j-1,k-1] in Python."""
    a = np.asarray(np.random.default_rng(1).random((40, 30, 20)), order=order)
    broker.put("a", a)
    said = octave(
        "x = warpool.get('a'); for k = 1:20, for j = 1:30, for i = 1:40, printf('%.17g\\n', x(i,j,k)); end, end, end; "
        "s = warpool.info('a'); printf('%d ', s.strides);"
    ).split()
    element = iter(said)
    for k in range(20):
        for j in range(30):
            for i in range(40):
                assert float(next(element)) == a[i, j, k]
    strides = tuple(int(word) for word in element)
    assert strides == a.strides == ((8, 320, 9600) if order == "F" else (4800, 160, 8))


def test_octave_strides_are_column_major(broker) -> None:
    octave("warpool.put('a', reshape(1:24000, 20, 30, 40));")
    a = broker.get("a").numpy()
    assert a.shape == (20, 30, 40) and a.strides == (8, 160, 4800)
    assert all(a[i, j, k] == 1 + i + 20 * j + 600 * k for i in range(20) for j in range(30) for k in range(40))


def test_integers_beyond_2_to_53(broker) -> None:
    octave("x = int64(2)^53 + int64(1); warpool.put('a', [x; -x]);")
    assert broker.get("a").numpy().ravel().tolist() == [2**53 + 1, -(2**53) - 1]
    broker.put("b", np.array([2**63 + 1], np.uint64))
    assert octave("printf('%d', warpool.get('b') - bitshift(uint64(1), 63))") == "1"


def test_text(broker) -> None:
    for text in ("hello", "", "größer, 日本, 😀", "x" * 100000):
        broker.put("t", text)
        octave("x = warpool.get('t'); assert(ischar(x)); warpool.put('u', x);")
        assert broker.get("u") == text
    octave("warpool.put('m', ['abc'; 'def']);")
    assert broker.get("m").tolist() == [["a", "b", "c"], ["d", "e", "f"]]


@pytest.mark.parametrize("dtype", ["float64", "complex128", "bool"])
def test_sparse(broker, dtype: str) -> None:
    matrix = scipy.sparse.random(400, 300, 0.05, format="csc", random_state=3)
    matrix.data = np.arange(1, matrix.nnz + 1).astype(dtype)
    broker.put("s", matrix)
    code = "x = warpool.get('s'); assert(issparse(x)); printf('%d %d %d %s', size(x), nnz(x), class(x)); warpool.put('t', x);"
    assert octave(code).split() == ["400", "300", str(matrix.nnz), CLASSES[dtype]]
    back = broker.get("t")
    assert back.dtype == matrix.dtype and back.shape == matrix.shape
    assert np.array_equal(back.toarray(), matrix.toarray())


def test_sparse_of_other_types(broker) -> None:
    matrix = scipy.sparse.csc_array(np.array([[0, 1], [2, 0]], np.int32))
    broker.put("s", matrix)
    octave("x = warpool.get('s'); assert(full(x), [0 1; 2 0]);")
    broker.put("s", scipy.sparse.csc_array(np.array([[2**53 + 1]], np.int64)))
    octave("try, warpool.get('s'); error('accepted'); catch e, assert(e.identifier, 'warpool:unsupported'); end")


def test_struct(broker) -> None:
    octave(
        "s.x = magic(4); s.name = 'run'; s.inner.flags = [true false]; s.inner.m = sparse([0 2; 1 0]); s.big = rand(200); "
        "s.empty = []; warpool.put('s', s);"
    )
    s = broker.get("s")
    assert list(s) == ["x", "name", "inner", "big", "empty"] and s["name"] == "run"
    assert s["inner"]["flags"].numpy().tolist() == [[True, False]] and s["inner"]["m"].toarray().tolist() == [[0, 2], [1, 0]]
    assert s["empty"].shape == (0, 0) and s["big"].shape == (200, 200)
    broker.put("d", {"rate": 360.0, "tags": {"a": "x", "n": np.arange(3)}, "w": np.asfortranarray(np.ones((200, 200)))})
    octave(
        "d = warpool.get('d'); assert(d.rate, 360); assert(d.tags.a, 'x'); assert(d.tags.n, int64([0; 1; 2])); "
        "assert(size(d.w), [200 200]);"
    )


def test_writing_in_one_program_changes_nothing_in_the_other(broker) -> None:
    broker.put("a", np.zeros((300, 300), order="F"))
    view = broker.get("a").numpy()
    octave(
        "x = warpool.get('a'); x(:) = 1; y = warpool.get('a'); y(1) = 2; assert(sum(warpool.get('a')(:)), 0);".replace(
            "warpool.get('a')(:)", "(z = warpool.get('a'))(:)"
        )
    )
    assert view.sum() == 0
    with pytest.raises(ValueError):
        view[0, 0] = 1


@pytest.mark.skipif(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") < 5 * 2**30, reason="needs 5 GiB of free memory")
def test_more_than_two_gib(broker) -> None:
    rows, columns = 2**16 + 1, 2**15 + 3
    with broker.create("big", (rows, columns), "uint8", order="F") as draft:
        draft[rows - 1, columns - 1] = 7
        draft[5, columns - 2] = 9
    said = octave(
        "x = warpool.get('big'); printf('%d %d %d %d %d', size(x), x(end), x(6, end - 1), numel(x) > 2^31);", timeout=300
    )
    assert said.split() == [str(rows), str(columns), "7", "9", "1"]
    broker.rm("big")
    code = f"h = warpool.create('big', [{rows} {columns}], 'uint8'); h(end, end) = 3; h(:, 2) = 1; warpool.publish(h);"
    octave(code, timeout=300)
    a = broker.get("big").numpy()
    assert a.shape == (rows, columns) and a[-1, -1] == 3 and a[:, 1].all() and not a[:, 2].any()


def test_interrupt_ends_a_wait(broker) -> None:
    """Ctrl-C during a wait of Octave is Octave's interrupt, and the session lives on."""
    program = subprocess.Popen(
        [
            *OCTAVE,
            PREAMBLE + "warpool.ping; disp('waiting'); fflush(stdout); "
            "unwind_protect, warpool.get('never', 'wait', true); unwind_protect_cleanup, warpool.ping; disp('cleaned up'); "
            "end_unwind_protect; disp('not interrupted');",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert program.stdout is not None and program.stdout.readline() == "waiting\n"
    for _ in range(100):
        if any(session["waiting_for"] for session in broker.sessions()):
            break
        subprocess.run(["sleep", "0.05"], check=True)
    program.send_signal(2)
    said, _ = program.communicate(timeout=20)
    assert re.search("cleaned up", said) and "not interrupted" not in said
