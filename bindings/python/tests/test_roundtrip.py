# SPDX-License-Identifier: Apache-2.0
"""What is put is what is got: shapes, dtypes, memory order, scalars, text, versions."""

from __future__ import annotations

import array
from typing import Any

import numpy as np
import pytest
import warpool
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from values import DTYPES, OLD_NUMPY, SHAPES, numbers, same_bytes, views


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_shape_comes_back_in_the_same_order(dtype: str, order: str) -> None:
    for shape in SHAPES:
        x = np.array(numbers(shape, dtype), order=order)
        warpool.put("x", x)
        got = warpool.get("x")
        assert isinstance(got, warpool.Array)
        assert same_bytes(got, x), shape
        assert (got.shape, got.dtype, got.ndim, got.size, got.nbytes) == (x.shape, x.dtype, x.ndim, x.size, x.nbytes)
        view = np.asarray(got)
        assert view.flags.c_contiguous or not x.flags.c_contiguous, shape
        assert view.flags.f_contiguous or not x.flags.f_contiguous, shape
        if x.size > 1 and 1 not in x.shape:
            assert got.strides == x.strides


@pytest.mark.parametrize("dtype", ["uint8", "float64", "complex64"])
def test_views_with_any_strides_arrive_equal(dtype: str) -> None:
    for name, view in views(numbers((4, 5, 6), dtype)).items():
        warpool.put("view", view)
        assert same_bytes(warpool.get("view"), view), name


def test_a_large_array_is_shared_and_equal() -> None:
    x = np.asfortranarray(numbers((1000, 300), "float64"))
    warpool.put("large", x[::-1])
    got = warpool.get("large")
    assert not got.inline
    assert same_bytes(got, x[::-1])


def test_integers_beyond_the_precision_of_a_double_stay_exact() -> None:
    x = np.array([2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)], dtype=np.int64)
    warpool.put("big", x)
    assert warpool.get("big")[:].tolist() == x.tolist()
    y = np.array([2**64 - 1, 2**53 + 1], dtype=np.uint64)
    warpool.put("big", y)
    assert warpool.get("big")[:].tolist() == y.tolist()


def test_indices_mean_the_same_element_in_column_major_memory() -> None:
    x = np.zeros((3, 4, 5), order="F")
    for i, j, k in np.ndindex(x.shape):
        x[i, j, k] = 100 * i + 10 * j + k
    warpool.put("ijk", x)
    got = warpool.get("ijk")
    assert got.strides == (8, 24, 96)
    assert all(got[i, j, k] == 100 * i + 10 * j + k for i, j, k in np.ndindex(x.shape))


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (True, "bool"),
        (-(2**63), "int64"),
        (2**64 - 1, "uint64"),
        (-0.0, "float64"),
        (1 - 2j, "complex128"),
        (np.float16(0.5), "float16"),
        (np.uint8(200), "uint8"),
        (np.bool_(False), "bool"),
        (np.complex64(1j), "complex64"),
        (np.float64(2.5), "float64"),
    ],
)
def test_scalars_become_arrays_without_dimensions(value: Any, dtype: str) -> None:
    warpool.put("scalar", value)
    got = warpool.get("scalar")
    assert (got.shape, got.dtype) == ((), np.dtype(dtype))
    assert same_bytes(got, np.asarray(value, dtype=dtype))
    assert got[()] == value


def test_numbers_convert_back() -> None:
    warpool.put("n", 7)
    assert int(warpool.get("n")) == 7
    assert float(warpool.get("n")) == 7.0
    assert [10, 11][: warpool.get("n")] == [10, 11]
    assert bool(warpool.get("n"))
    with pytest.raises(TypeError, match="without dimensions"):
        len(warpool.get("n"))


@pytest.mark.parametrize("text", ["", "plain", "Grüße, 世界 🚗", "line\nline\0nul", "x" * 100_000])
def test_text_comes_back_as_str(text: str) -> None:
    warpool.put("text", text)
    got = warpool.get("text")
    assert type(got) is str
    assert got == text


def test_text_with_lone_surrogates_is_refused() -> None:
    with pytest.raises(UnicodeEncodeError):
        warpool.put("text", "\ud800")


@pytest.mark.parametrize(
    "source",
    [
        memoryview(np.arange(12, dtype=np.int16).reshape(3, 4)[:, ::-2]),
        array.array("d", [1.5, 2.5]),
        [[1, 2], [3, 4]],
        (1.5, 2),
        range(5),
        np.arange(3.0).view(type("Subclass", (np.ndarray,), {})),
        np.arange(6, dtype=">i4").reshape(2, 3),
    ],
    ids=lambda source: type(source).__name__,
)
def test_whatever_numpy_can_view_is_taken(source: Any) -> None:
    warpool.put("source", source)
    expected = np.asarray(source)
    assert same_bytes(warpool.get("source"), expected.astype(expected.dtype.newbyteorder("=")))


def test_objects_with_the_array_or_dlpack_protocol_are_taken() -> None:
    class WithArray:
        def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
            return np.arange(3.0)

    class WithDlpack:
        x = np.arange(4.0)

        def __dlpack__(self, **options: Any) -> Any:
            return self.x.__dlpack__(**options)

        def __dlpack_device__(self) -> tuple[int, int]:
            return (1, 0)

    warpool.put("a", WithArray())
    warpool.put("d", WithDlpack())
    assert warpool.get("a")[:].tolist() == [0, 1, 2]
    assert warpool.get("d")[:].tolist() == [0, 1, 2, 3]


def test_a_shared_array_can_be_put_again() -> None:
    warpool.put("first", np.arange(20.0).reshape(4, 5))
    warpool.put("second", warpool.get("first").T)
    assert same_bytes(warpool.get("second"), np.arange(20.0).reshape(4, 5).T)


def test_each_put_makes_the_next_version_and_old_views_stay() -> None:
    assert warpool.put("v", np.zeros(20_000)) == 1
    first = warpool.get("v")
    assert warpool.put("v", np.ones(20_000)) == 2
    second = warpool.get("v")
    assert (first.version, second.version) == (1, 2)
    assert (first[0], second[0]) == (0, 1)
    assert warpool.get("v", version=2)[0] == 1
    with pytest.raises(warpool.NotFoundError):
        warpool.get("v", version=1)
    with pytest.raises(warpool.NotFoundError):
        warpool.get("v", version=3)


def test_thirty_two_dimensions_are_possible_and_one_more_is_refused() -> None:
    warpool.put("deep", np.ones((1,) * 31 + (3,)))
    assert warpool.get("deep").ndim == 32
    if OLD_NUMPY:
        return
    with pytest.raises(warpool.InvalidArgumentError, match="at most 32"):
        warpool.put("deep", np.ones((1,) * 33))


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_view_of_any_array_arrives_equal(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(DTYPES))
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=6))
    x = numbers(shape, dtype)
    if x.ndim:
        x = x[data.draw(hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))]
        x = np.asarray(x)
        x = x.transpose(data.draw(st.permutations(range(x.ndim))))
    warpool.put("any", x)
    got = warpool.get("any")
    assert same_bytes(got, x)
    assert same_bytes(got.T, x.T)
    assert same_bytes(np.from_dlpack(got), x)
