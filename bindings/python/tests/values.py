# SPDX-License-Identifier: Apache-2.0
"""Arrays that the tests share."""

from __future__ import annotations

from typing import Any

import numpy as np

DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip

# NumPy 1 knows neither versioned DLPack nor more than 32 dimensions.
OLD_NUMPY = np.lib.NumpyVersion(np.__version__) < "2.1.0"

SHAPES = [(), (7,), (5, 1), (1, 5), (0, 3), (3, 0), (2, 3, 1, 1), (2, 3, 4, 5, 6), (1,), (0,), (300, 50)]


def numbers(shape: tuple[int, ...], dtype: str) -> np.ndarray[Any, Any]:
    """Elements that differ from each other, extremes of the type among them."""
    size = int(np.prod(shape))
    kind = np.dtype(dtype).kind
    if kind == "b":
        return (np.arange(size) % 3 == 0).reshape(shape)
    if kind in "iu":
        limits = np.iinfo(dtype)
        values = np.arange(size, dtype=np.uint64).astype(dtype)
        if size > 1:
            values[0], values[1] = limits.min, limits.max
        return values.reshape(shape)
    values = np.linspace(-3, 3, size).astype(dtype)
    if kind == "c":
        values = (values + 1j * np.arange(size)).astype(dtype)
    if size > 2:
        values[1], values[2] = np.inf, np.nan
    return values.reshape(shape)


def views(array: np.ndarray[Any, Any]) -> dict[str, np.ndarray[Any, Any]]:
    """Views of a 3-d array with every kind of strides."""
    return {
        "whole": array,
        "column-major": np.asfortranarray(array),
        "slice": array[1:, ::2, 1:3],
        "transposed": array.T,
        "permuted": array.transpose(1, 2, 0),
        "negative": array[::-1, :, ::-1],
        "negative step": array[:, ::-2],
        "broadcast": np.broadcast_to(array[:, :1], array.shape),
        "empty slice": array[2:2],
        "one element": array[1:2, 1:2, 1:2],
    }


def same_bytes(left: Any, right: Any) -> bool:
    """Equal element by element in every bit, so that NaN and negative zero count too."""
    left, right = np.asarray(left), np.asarray(right)
    return left.shape == right.shape and left.dtype == right.dtype and left.tobytes() == right.tobytes()


def shared_pages(view: np.ndarray[Any, Any]) -> str:
    """Device, inode and offset of the memory under `view`: equal in two programs only if the pages are the same."""
    address = view.ctypes.data
    with open("/proc/self/maps") as maps:
        for line in maps:
            span, _, offset, device, inode, *_ = line.split()
            start, end = (int(part, 16) for part in span.split("-"))
            if start <= address < end:
                assert inode != "0", "the memory is private"
                return f"{device}:{inode}:{int(offset, 16) + address - start:#x}"
    raise AssertionError(hex(address))
