# SPDX-License-Identifier: Apache-2.0
"""Arrays that are born in shared memory: create, fill, publish, without a copy."""

from __future__ import annotations

from warpool import _core
from warpool._errors import InvalidArgumentError
from warpool._options import attributes_json, mode_bits, ttl_ms, wait_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Any

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from warpool._options import Attributes, Mode, Wait


class Draft(_core.Draft):
    """An array in shared memory that is being filled; see :func:`warpool.create`.

    Use it like a NumPy array: index it, hand it to NumPy functions, also as ``out=``, or take the array itself with
    :meth:`numpy`. Nobody else sees it before it is published. Views of it stay valid afterwards, but what is written to them
    then stays in this program.
    """

    _view: NDArray[Any] | None = None

    def __init__(
        self,
        session: _core.Session,
        name: str,
        shape: int | Sequence[int],
        dtype: DTypeLike,
        order: str,
        *,
        mode: Mode = None,
        ttl: float | None = None,
        attrs: Attributes = None,
        wait: Wait = None,
    ) -> None:
        if order not in ("C", "F"):
            raise InvalidArgumentError(
                f"order is {order!r}: write 'C' (the last index runs fastest) or 'F' (the first one does, as in MATLAB)"
            )
        super().__init__(
            session,
            name,
            _extents(shape),
            _dtype_name(dtype),
            order,
            mode_bits(mode),
            ttl_ms(ttl),
            attributes_json(attrs),
            wait_ms(wait),
        )
        self.name = name

    def numpy(self) -> NDArray[Any]:
        """The memory as a NumPy array: writable until it is published, read-only if asked for later."""
        import numpy as np

        if self.state != "filling":
            # NumPy would hide an error of the buffer behind an attempt to read this object as a sequence.
            memoryview(self).release()
            return np.asarray(self)
        self.check_filling()
        if self._view is None:
            self._view = np.asarray(self)
        return self._view

    def drop(self) -> None:
        """Gives the memory back without publishing. Nothing happens if that has been done, or if it is published."""
        self._view = None
        self.discard()

    def publish(self) -> int:
        """Seals the memory and gives it the next version of its name, which is returned. No copy, whatever the size."""
        # A cached view would keep the mapping alive as long as this object.
        self._view = None
        return super().publish()

    def __enter__(self) -> Draft:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is not None:
            self.drop()
        elif self.state == "filling":
            self.publish()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if "out" in options:
            options["out"] = tuple(_plain(value) for value in options["out"])
        return getattr(ufunc, method)(*map(_plain, inputs), **options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return function(*_plain_tree(args), **_plain_tree(kwargs))

    def __getitem__(self, key: Any) -> Any:
        return self.numpy()[key]

    def __setitem__(self, key: Any, value: ArrayLike) -> None:
        self.check_filling()
        self.numpy()[key] = value

    def __len__(self) -> int:
        return len(self.numpy())

    def __getattr__(self, name: str) -> Any:
        # Methods and properties of NumPy arrays: d.fill(0), d.dtype, d.T, d.sum().
        if name.startswith("_"):
            raise AttributeError(f"'Draft' object has no attribute {name!r}")
        return getattr(self.numpy(), name)

    def __repr__(self) -> str:
        version = f" as version {self.version}" if self.state == "published" else ""
        return f"<warpool.Draft {self.name!r} {self.state}{version}: shape {self.shape}>"


def _extents(shape: int | Sequence[int]) -> tuple[int, ...]:
    from operator import index

    try:
        extents = tuple(map(index, shape)) if hasattr(shape, "__iter__") else (index(shape),)
    except TypeError:
        raise TypeError(f"shape must be an int or a sequence of ints, not {shape!r}") from None
    for extent in extents:
        if not 0 <= extent < 2**63:
            raise InvalidArgumentError(f"shape {extents}: extents must be from 0 to 2**63 - 1")
    return extents


def _dtype_name(dtype: DTypeLike) -> str:
    import numpy as np

    resolved = np.dtype(dtype)
    if resolved.byteorder == ">":
        raise InvalidArgumentError(f"dtype {resolved.str!r} is big-endian: arrays are shared in the byte order of this machine")
    return resolved.name


def _plain(value: Any) -> Any:
    return value.numpy() if isinstance(value, Draft) else value


def _plain_tree(value: Any) -> Any:
    """`value` with the drafts in its tuples, lists and dicts replaced by their NumPy arrays."""
    if isinstance(value, (tuple, list)):
        return type(value)(map(_plain_tree, value))
    if isinstance(value, dict):
        return {key: _plain_tree(item) for key, item in value.items()}
    return _plain(value)
