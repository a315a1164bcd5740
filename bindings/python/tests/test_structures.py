# SPDX-License-Identifier: Apache-2.0
"""Structs, sparse matrices and characters, and what is refused, with the remedy."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import warpool
from values import numbers, same_bytes, shared_pages
from warpool import _pack


def test_a_nested_struct_comes_back_as_dicts() -> None:
    value = {
        "rate": 360.0,
        "name": "record 208",
        "x": np.asfortranarray(numbers((30, 40), "float64")),
        "inner": {"flags": np.array([True, False]), "deeper": {"z": 1j, "none": np.zeros((0, 2), np.int8)}},
        "empty": {},
    }
    warpool.put("s", value)
    got = warpool.get("s")
    assert list(got) == ["rate", "name", "x", "inner", "empty"]
    assert float(got["rate"]) == 360.0
    assert got["name"] == "record 208"
    assert same_bytes(got["x"], value["x"])
    assert got["x"].strides == value["x"].strides
    assert got["x"].field == "x"
    assert got["inner"]["flags"][:].tolist() == [True, False]
    assert complex(got["inner"]["deeper"]["z"][()]) == 1j
    assert got["inner"]["deeper"]["none"].shape == (0, 2)
    assert got["inner"]["deeper"]["none"].field == "inner/deeper/none"
    assert got["empty"] == {}


def test_one_field_keeps_the_memory_of_its_struct() -> None:
    warpool.put("s", {"a": np.zeros(10_000), "b": np.arange(10_000.0)})
    b = warpool.get("s")["b"].numpy()
    warpool.rm("s")
    assert b[-1] == 9999


@pytest.mark.parametrize("key", ["a/b", "", "1x", "_x", "a b", "ä", "x" * 64, 3])
def test_field_names_that_other_languages_lack_are_refused(key: Any) -> None:
    with pytest.raises(warpool.InvalidArgumentError, match="every language"):
        warpool.put("s", {key: 1})


def test_the_longest_field_name_and_the_most_fields_pass_and_one_more_does_not() -> None:
    warpool.put("s", {"x" * 63: 1})
    assert list(warpool.get("s")) == ["x" * 63]
    warpool.put("s", {f"f{i}": i for i in range(255)})
    assert int(warpool.get("s")["f254"]) == 254
    with pytest.raises(warpool.InvalidArgumentError, match="256"):
        warpool.put("s", {f"f{i}": i for i in range(256)})


@pytest.mark.parametrize("make", ["csc_matrix", "csr_matrix", "coo_matrix", "csc_array", "csr_array", "lil_array"])
@pytest.mark.parametrize("dtype", ["float64", "bool", "complex128"])
def test_sparse_matrices_come_back_equal(make: str, dtype: str) -> None:
    dense = (np.arange(35).reshape(5, 7) % 4 == 0) * np.arange(1, 36).reshape(5, 7)
    matrix = getattr(scipy.sparse, make)(dense.astype(dtype))
    warpool.put("m", matrix)
    got = warpool.get("m")
    assert got.shape == (5, 7)
    assert got.dtype == np.dtype(dtype)
    assert same_bytes(got.toarray(), dense.astype(dtype))
    assert warpool.info("m").kind == "sparse"
    assert warpool.info("m").shape == (5, 7)


def test_sparse_matrices_share_their_arrays_and_work() -> None:
    matrix = scipy.sparse.random_array((2000, 1500), density=0.01, format="csc", rng=np.random.default_rng(1))
    warpool.put("m", {"k": matrix})
    got = warpool.get("m")["k"]
    parts = warpool.get("m", sparse="parts")["k"]
    assert parts["shape"] == (2000, 1500)
    for name in ("data", "indices", "indptr"):
        assert shared_pages(getattr(got, name)) == shared_pages(parts[name].numpy())
    assert got.indices.dtype == np.int64
    v = np.arange(1500.0)
    assert np.array_equal(got @ v, matrix @ v)
    assert abs((got.T @ got) - (matrix.T @ matrix)).max() == 0
    assert abs(got + matrix - 2 * matrix).max() == 0
    with pytest.raises(ValueError, match="read-only"):
        got.data[0] = 1


def test_unsorted_columns_and_duplicates_are_put_in_order_without_touching_the_original() -> None:
    data, rows, starts = np.array([1.0, 2.0, 3.0]), np.array([2, 0, 2]), np.array([0, 3, 3])
    matrix = scipy.sparse.csc_array((data, rows, starts), shape=(3, 2))
    warpool.put("m", matrix)
    parts = warpool.get("m", sparse="parts")
    assert parts["indices"][:].tolist() == [0, 2]
    assert parts["data"][:].tolist() == [2.0, 4.0]
    assert matrix.indices.tolist() == [2, 0, 2]


def test_an_empty_sparse_matrix_comes_back() -> None:
    warpool.put("m", scipy.sparse.csc_array((0, 4)))
    got = warpool.get("m")
    assert (got.shape, got.nnz) == ((0, 4), 0)


def test_without_scipy_a_sparse_matrix_says_how_to_get_its_parts(
    run_python: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    warpool.put("m", scipy.sparse.eye_array(3, format="csc"))
    run_python(
        "import sys; sys.modules['scipy'] = None; sys.modules['scipy.sparse'] = None\n"
        "import warpool\n"
        "try: warpool.get('m')\n"
        "except warpool.UnsupportedError as error: assert \"sparse='parts'\" in str(error), error\n"
        "else: raise AssertionError\n"
        "assert warpool.get('m', sparse='parts')['indptr'][:].tolist() == [0, 1, 2, 3]\n"
    )


@pytest.mark.parametrize(
    ("indices", "indptr"),
    [([0, 3], [0, 1, 2]), ([-1, 0], [0, 1, 2]), ([0, 1], [0, 5, 2]), ([0, 1], [1, 1, 2]), ([0, 1], [0, 1, 1])],
)
def test_a_matrix_whose_indices_point_outside_is_refused(indices: list[int], indptr: list[int]) -> None:
    parts = [
        ("", _pack.SPARSE, None, "float64", (3, 2)),
        ("data", _pack.ARRAY, np.ones(2), "", ()),
        ("indices", _pack.ARRAY, np.array(indices, np.int64), "", ()),
        ("indptr", _pack.ARRAY, np.array(indptr, np.int64), "", ()),
    ]
    warpool._default()._session.put_parts("m", parts, 0, 0, None, 0)
    with pytest.raises(warpool.ProtocolError, match="3 x 2"):
        warpool.get("m")
    assert warpool.get("m", sparse="parts")["indices"][:].tolist() == indices


def test_an_unknown_way_to_give_sparse_matrices_is_refused() -> None:
    warpool.put("m", scipy.sparse.eye_array(3, format="csc"))
    with pytest.raises(warpool.InvalidArgumentError, match="'parts'"):
        warpool.get("m", sparse="csr")


@pytest.mark.parametrize("order", ["C", "F"])
def test_characters_come_back_and_their_copy_is_counted(order: Any) -> None:
    for text in ("abcdef", "äöü世界x"):
        x = np.array([list(text[:3]), list(text[3:])], order=order)
        warpool.put("c", x)
        got = warpool.get("c")
        assert got.dtype == np.dtype("<U1")
        assert got.tolist() == x.tolist()
        assert got.strides == x.strides
    assert warpool.stats()["copies"]["convert"]["count"] >= 2
    warpool.put("c", np.array("x"))
    assert warpool.get("c").shape == ()
    warpool.put("c", np.empty((0, 3), "<U1"))
    assert warpool.get("c").shape == (0, 3)


REFUSED: list[tuple[Any, str]] = [
    (b"bytes", r"b\.decode\(\)"),
    (bytearray(b"bytes"), "frombuffer"),
    (None, "leave it out"),
    ({1, 2}, "sorted list"),
    (object(), "split it"),
    ([1, "a", None], "split it"),
    ([[1], [1, 2]], "split it"),
    (np.array([1, "a"], dtype=object), "split it"),
    (np.array(["one", "two"]), "<U1"),
    (np.array([b"one"]), "uint8"),
    (np.array(["🚗"]), "UTF-16"),
    (np.zeros(3, dtype=[("t", "f8"), ("v", "i4")]), r"'t': x\['t'\]"),
    (np.array(["2026-12-01"], dtype="datetime64[D]"), "int64"),
    (np.datetime64("2026-12-01"), "int64"),
    (np.array([1], dtype="timedelta64[s]"), "unit"),
    (np.zeros(3, dtype=np.longdouble), r"astype\('float64'\)"),
    (np.zeros(3, dtype=np.clongdouble), r"astype\('complex128'\)"),
    (np.void(b"abc"), "uint8"),
    (np.ma.masked_array([1.0, 2.0], mask=[True, False]), "getmaskarray"),
    (lambda: None, "split it"),
]


@pytest.mark.parametrize(("value", "remedy"), REFUSED, ids=lambda value: type(value).__name__)
def test_what_cannot_be_shared_is_refused_with_the_remedy(value: Any, remedy: str) -> None:
    with pytest.raises(TypeError, match=remedy):
        warpool.put("x", value)
    with pytest.raises(TypeError, match=f"field 'a/b': .*{remedy}"):
        warpool.put("x", {"a": {"b": value}})
    assert warpool.ls() == []


def test_numbers_of_more_than_64_bits_are_refused() -> None:
    for value in (2**64, -(2**63) - 1):
        with pytest.raises(warpool.InvalidArgumentError, match="64 bits"):
            warpool.put("x", value)


def test_short_floats_of_other_libraries_are_refused_with_the_remedy() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    with pytest.raises(TypeError, match=r"bfloat16.*astype\('float32'\)"):
        warpool.put("x", np.zeros(3, ml_dtypes.bfloat16))


def test_tables_are_refused_with_the_struct_to_put() -> None:
    class Table:
        columns = ("a", "b")

        def to_numpy(self) -> Any:
            raise AssertionError

    with pytest.raises(TypeError, match=r"to_numpy\(\) for c in t.columns"):
        warpool.put("x", Table())


def test_memory_of_a_device_is_refused() -> None:
    class OnDevice:
        def __dlpack_device__(self) -> tuple[int, int]:
            return (2, 0)

    with pytest.raises(TypeError, match=r"x\.cpu\(\)"):
        warpool.put("x", OnDevice())


def test_sparse_vectors_are_refused() -> None:
    with pytest.raises(TypeError, match="reshape"):
        warpool.put("x", scipy.sparse.coo_array(np.array([0, 1, 2])))
