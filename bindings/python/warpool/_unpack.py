# SPDX-License-Identifier: Apache-2.0
"""From the parts of an item to Python objects: structs, character arrays and sparse matrices."""

from __future__ import annotations

from importlib import import_module

from warpool._errors import InvalidArgumentError, ProtocolError, UnsupportedError
from warpool._pack import CHARS, SPARSE, STRUCT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Entry = tuple[str, int, str, tuple[int, ...], Any]

_CONVERT = 4  # WARPOOL_COPY_CONVERT


class Unpacker:
    """Builds the value of one item. `count_copy(reason, bytes)` hears of every copy."""

    def __init__(self, entries: list[Entry], sparse: str, count_copy: Callable[[int, int], None]) -> None:
        if sparse not in ("scipy", "parts"):
            raise InvalidArgumentError(
                f"sparse is {sparse!r}: write 'scipy' for a matrix of SciPy, or 'parts' for a dict of its arrays"
            )
        self._entries = {path: (kind, shape, value) for path, kind, _, shape, value in entries}
        self._children: dict[str, list[str]] = {}
        for path in self._entries:
            if path:
                self._children.setdefault(path.rpartition("/")[0], []).append(path)
        self._sparse = sparse
        self._count_copy = count_copy

    def build(self, path: str = "") -> Any:
        if path not in self._entries:
            raise ProtocolError(
                f"the item has no part {path!r}: it was published by a library that this one does not understand"
            )
        kind, shape, value = self._entries[path]
        if kind == STRUCT:
            return {child.rpartition("/")[2]: self.build(child) for child in self._children.get(path, ())}
        if kind == SPARSE:
            return self._matrix(path, shape)
        if kind == CHARS:
            return self._characters(value)
        return value

    def _matrix(self, path: str, shape: tuple[int, ...]) -> Any:
        prefix = f"{path}/" if path else ""
        parts = {name: self.build(prefix + name) for name in ("data", "indices", "indptr")}
        if self._sparse == "parts":
            return {**parts, "shape": shape}
        try:
            csc_array = import_module("scipy.sparse").csc_array
        except ImportError as error:
            raise UnsupportedError(
                f"a sparse matrix needs SciPy, which cannot be imported here ({error}): pip install scipy, or take its arrays with "
                "warpool.get(name, sparse='parts'), a dict of data, indices, indptr and shape"
            ) from error
        # The constructor may copy the indices into 32 bits; setting them keeps the shared memory.
        matrix = csc_array(shape, dtype=parts["data"].dtype)
        matrix.data, matrix.indices, matrix.indptr = (parts[name].numpy() for name in ("data", "indices", "indptr"))
        _check_columns(path, shape, matrix.data, matrix.indices, matrix.indptr)
        return matrix

    def _characters(self, units: Any) -> Any:
        import numpy as np

        view = units.numpy()
        self._count_copy(_CONVERT, 4 * view.size)
        wide = np.array(view, dtype=np.uint32, order="K")
        return wide.view("<U1")


def _check_columns(path: str, shape: tuple[int, ...], data: Any, indices: Any, indptr: Any) -> None:
    """Raises unless the arrays are a matrix: SciPy trusts them, and wrong ones from another program would end this one in a fault."""
    rows, columns = shape
    starts_fit = len(indptr) == columns + 1 and indptr[0] == 0 and indptr[-1] == len(indices) == len(data)
    ascending = not (indptr[1:] < indptr[:-1]).any()
    inside = len(indices) == 0 or (indices.min() >= 0 and indices.max() < rows)
    if starts_fit and ascending and inside:
        return
    raise ProtocolError(
        f"{f'field {path!r}' if path else 'the item'} is no valid sparse matrix of {rows} x {columns}: its indices point outside; look at "
        "its arrays with warpool.get(name, sparse='parts') and have it published again"
    )
