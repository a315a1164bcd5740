# SPDX-License-Identifier: Apache-2.0
"""From Python objects to the parts of an item: everything that is not one plain NumPy array, number or text.

Imported at the first such put. An object that cannot be shared is refused with a TypeError that says how to split it.
"""

from __future__ import annotations

import re

import numpy as np

from warpool._errors import InvalidArgumentError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    # (path, kind, object or None, dtype, shape), as Session.put_parts takes them.
    Part = tuple[str, int, Any, str, tuple[int, ...]]

ARRAY, TEXT, CHARS, STRUCT, SPARSE = range(5)

_FIELD = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}\Z")
_MAX_PARTS = 256
_MAX_NDIM = 32
_LAST_UNIT = 0xFFFF  # of UTF-16
_DTYPES = frozenset([
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
])  # fmt: skip


class Packer:
    """Collects the parts of one item, and the bytes that had to be converted on the way."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.converted_bytes = 0

    def add(self, path: str, value: Any) -> None:
        """Adds `value` and everything below it, parents before children."""
        if isinstance(value, dict):
            self._add_struct(path, value)
        elif _is_sparse(value):
            self._add_sparse(path, value)
        elif type(value) is str or isinstance(value, str):
            self._append(path, TEXT, str(value))
        elif type(value) in (bool, int, float, complex):
            self._append(path, ARRAY, _number(path, value))
        else:
            self._add_array(path, value)

    def _append(self, path: str, kind: int, value: Any, dtype: str = "uint8", shape: tuple[int, ...] = ()) -> None:
        if len(self.parts) == _MAX_PARTS:
            raise InvalidArgumentError(
                f"more than {_MAX_PARTS} fields in one item: put groups of fields under names of their own, such as 'run1/a'"
            )
        self.parts.append((path, kind, value, dtype, shape))

    def _add_struct(self, path: str, fields: dict[Any, Any]) -> None:
        self._append(path, STRUCT, None)
        for field, value in fields.items():
            if not isinstance(field, str) or not _FIELD.match(field):
                raise InvalidArgumentError(
                    f"{_at(path)}the key {field!r} cannot be a field: use a letter, then up to 62 letters, digits or _, so that it "
                    "is valid in every language"
                )
            self.add(_join(path, field), value)

    def _add_sparse(self, path: str, matrix: Any) -> None:
        if matrix.ndim != 2:
            raise TypeError(
                f"{_at(path)}a sparse array of {matrix.ndim} dimensions cannot be shared: reshape it to a matrix first"
            )
        columns = matrix.tocsc()
        if not columns.has_canonical_format:
            columns = columns.copy() if columns is matrix else columns
            columns.sum_duplicates()
        if columns is not matrix:
            self.converted_bytes += columns.data.nbytes + columns.indices.nbytes + columns.indptr.nbytes
        data = self._shareable(path, np.asarray(columns.data))
        self._append(path, SPARSE, None, data.dtype.name, tuple(map(int, matrix.shape)))
        self._append(_join(path, "data"), ARRAY, data)
        for name in ("indices", "indptr"):
            self._append(_join(path, name), ARRAY, self._as_type(getattr(columns, name), "int64"))

    def _add_array(self, path: str, value: Any) -> None:
        array = _to_array(path, value)
        if array.dtype.kind == "U":
            self._append(path, CHARS, self._characters(path, array))
        else:
            self._append(path, ARRAY, self._shareable(path, array))

    def _characters(self, path: str, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """A character array as UTF-16 units, in one byte each where they fit."""
        if array.dtype.itemsize != 4:
            raise TypeError(
                f"{_at(path)}an array of texts of up to {array.dtype.itemsize // 4} characters cannot be shared: put each text under "
                "a name or field of its own, or split it into single characters (dtype '<U1')"
            )
        array = self._as_type(array, "<U1")
        units = np.asarray(array.view(np.uint32))
        largest = int(units.max()) if units.size else 0
        if largest > _LAST_UNIT:
            raise TypeError(
                f"{_at(path)}the character U+{largest:X} is not one UTF-16 unit, which arrays of characters need in MATLAB: put the "
                "text as str instead"
            )
        return self._as_type(units, "uint8" if largest < 128 else "uint16")

    def _shareable(self, path: str, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """`array` in native byte order as a plain ndarray; refused if its elements are no plain numbers."""
        if array.ndim > _MAX_NDIM:
            raise InvalidArgumentError(f"{_at(path)}{array.ndim} dimensions: at most {_MAX_NDIM} are possible")
        if array.dtype.name not in _DTYPES:
            raise TypeError(f"{_at(path)}{_remedy(array)}")
        return self._as_type(array, array.dtype.newbyteorder("="))

    def _as_type(self, array: np.ndarray[Any, Any], dtype: Any) -> np.ndarray[Any, Any]:
        if array.dtype == dtype:
            return array
        self.converted_bytes += array.size * np.dtype(dtype).itemsize
        return array.astype(dtype)


def pack(value: Any) -> Packer:
    packer = Packer()
    packer.add("", value)
    return packer


def _join(path: str, field: str) -> str:
    return f"{path}/{field}" if path else field


def _at(path: str) -> str:
    return f"field '{path}': " if path else ""


def _number(path: str, value: complex) -> complex:
    if type(value) is int and not -(2**63) <= value < 2**64:
        raise InvalidArgumentError(
            f"{_at(path)}the number {value} needs more than 64 bits: put it as float, or as text with str()"
        )
    return value


def _is_sparse(value: Any) -> bool:
    # Asked without importing SciPy: an object can be one of its matrices only if the program has imported it.
    return type(value).__module__.startswith("scipy.sparse") and hasattr(value, "tocsc")


def _to_array(path: str, value: Any) -> np.ndarray[Any, Any]:
    """The elements of `value` as a plain ndarray, without a copy where it has a buffer, DLPack or `__array__`."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(
            f"{_at(path)}a masked array would lose its mask: put its pieces, {{'data': x.data, 'mask': numpy.ma.getmaskarray(x)}}, "
            "or filled values, x.filled(0)"
        )
    if isinstance(value, np.ndarray):
        return np.asarray(value)
    if isinstance(value, (bytes, bytearray)):
        raise TypeError(
            f"{_at(path)}{type(value).__name__} is neither text nor numbers: put b.decode() for text, or "
            "numpy.frombuffer(b, numpy.uint8) for the numbers"
        )
    if value is None:
        raise TypeError(f"{_at(path)}None cannot be shared: leave it out, or put an empty array")
    if isinstance(value, (set, frozenset)):
        raise TypeError(f"{_at(path)}a {type(value).__name__} has no order: put a sorted list of numbers")
    if hasattr(value, "columns") and hasattr(value, "to_numpy"):
        raise TypeError(
            f"{_at(path)}a table would lose the names of its columns: put {{c: t[c].to_numpy() for c in t.columns}}, a struct with "
            "one array a column"
        )
    return _converted(path, value)


def _converted(path: str, value: Any) -> np.ndarray[Any, Any]:
    if _lies_elsewhere(value):
        raise TypeError(
            f"{_at(path)}the {type(value).__name__} is not in CPU memory: bring it there first, such as x.cpu() or numpy.asarray(x)"
        )
    try:
        only_dlpack = hasattr(value, "__dlpack__") and not hasattr(value, "__array__")
        array = np.from_dlpack(value) if only_dlpack else np.asarray(value)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise TypeError(f"{_at(path)}{type(value).__name__} cannot be shared ({error}); {_SPLIT}") from error
    if array.dtype.kind == "O":
        raise TypeError(f"{_at(path)}{type(value).__name__} cannot be shared; {_SPLIT}")
    return array


_SPLIT = (
    "split it into arrays, numbers and text, and put those under names of their own or as the fields of a dict: "
    "warpool.put('name', {'x': x, 'label': 'text'})"
)


def _lies_elsewhere(value: Any) -> bool:
    if not hasattr(value, "__dlpack_device__"):
        return False
    # 1 is the CPU, 3 memory of the CPU that is pinned for CUDA.
    return int(value.__dlpack_device__()[0]) not in (1, 3)


def _remedy(array: np.ndarray[Any, Any]) -> str:
    """Why elements of this type cannot be shared, and what to put instead."""
    name = array.dtype.name
    if array.dtype.kind == "V" and array.dtype.names:
        fields = ", ".join(f"{field!r}: x[{field!r}]" for field in array.dtype.names[:3])
        more = ", ..." if len(array.dtype.names) > 3 else ""
        return f"a structured dtype cannot be shared: put its fields as a struct, {{{fields}{more}}}"
    if array.dtype.kind in "mM":
        return (
            f"{name} cannot be shared: put x.astype('int64'), and the unit as an attribute: attrs={{'unit': "
            f"{np.datetime_data(array.dtype)[0]!r}}}"
        )
    if array.dtype.kind == "O":
        return f"an array of Python objects cannot be shared; {_SPLIT}"
    if array.dtype.kind == "S":
        return "an array of bytes cannot be shared: put x.view('uint8'), or text as str"
    if array.dtype.type is np.void:
        return "raw bytes without a type cannot be shared: put x.view('uint8'), or the type they stand for"
    # Longer floats than float64, and the short ones of machine learning (bfloat16, float8), which NumPy does not know.
    target = {"c": "complex128", "f": "float64"}.get(array.dtype.kind, "float32")
    return f"{name} cannot be shared, as not every language has it: put x.astype('{target}')"
