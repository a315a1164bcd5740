# SPDX-License-Identifier: Apache-2.0
"""What warpool.Array shows and converts to. Imported when first needed: `import warpool` must stay cheap."""

from __future__ import annotations

from importlib import import_module

from warpool._core import Array
from warpool._errors import InvalidArgumentError, UnsupportedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

_SIZES = ("B", "KiB", "MiB", "GiB", "TiB")


def attributes(text: str) -> dict[str, Any]:
    if not text:
        return {}
    import json

    result: dict[str, Any] = json.loads(text)
    return result


def size_text(size: float) -> str:
    for unit in _SIZES:
        if size < 1024 or unit == _SIZES[-1]:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    raise AssertionError("unreachable")


def order_text(array: Array) -> str:
    flags = array.numpy().flags
    if flags.c_contiguous and flags.f_contiguous:
        return ""
    if flags.c_contiguous:
        return ", C order"
    return ", F order" if flags.f_contiguous else f", strides {array.strides}"


def describe(array: Array) -> str:
    """The repr of an array: everything but its elements."""
    name = f"{array.name}:{array.field}" if array.field else array.name
    kind = "inline" if array.inline else "shared"
    return (
        f"<warpool.Array {name!r} version {array.version}: {array.dtype} {array.shape}{order_text(array)}, "
        f"{size_text(array.nbytes)} {kind}, read-only>"
    )


def missing(array: Array, name: str) -> NoReturn:
    """AttributeError that points to the NumPy view where that has what was asked for."""
    if not name.startswith("_"):
        import numpy

        if hasattr(numpy.ndarray, name):
            raise AttributeError(
                f"warpool.Array has no {name!r}; its NumPy view has: numpy.asarray(a).{name} or a.numpy().{name}, without a copy"
            )
    raise AttributeError(f"'Array' object has no attribute {name!r}")


def reduce(array: Array) -> NoReturn:
    raise TypeError(
        f"'{array.name}' is shared memory and is not pickled: send its name and call warpool.get({array.name!r}) in the other "
        "program, or pickle a copy: numpy.array(a)"
    )


def to(array: Array, framework: str) -> Any:
    """The array as a tensor of `framework`."""
    converters = {"numpy": Array.numpy, "torch": _to_torch, "tensorflow": _to_tensorflow, "jax": _to_jax}
    converter = converters.get(framework) if isinstance(framework, str) else None
    if converter is None:
        raise InvalidArgumentError(f"to({framework!r}): the frameworks are {', '.join(map(repr, converters))}")
    return converter(array)


def _absent(framework: str, package: str, error: ImportError) -> UnsupportedError:
    return UnsupportedError(
        f"to({framework!r}) needs {framework}, which cannot be imported here ({error}): pip install {package}, or use a.numpy()"
    )


def _to_torch(array: Array) -> Any:
    try:
        dlpack = import_module("torch.utils.dlpack")
    except ImportError as error:
        raise _absent("torch", "torch", error) from error
    # Tensors cannot be read-only, so they get the private copy-on-write view, as a capsule without a version: what is written to
    # the tensor stays in this program.
    return dlpack.from_dlpack(array.__dlpack__())


def _to_tensorflow(array: Array) -> Any:
    try:
        tensorflow = import_module("tensorflow")
    except ImportError as error:
        raise _absent("tensorflow", "tensorflow-cpu", error) from error
    if not array.numpy().flags.c_contiguous:
        raise UnsupportedError(
            f"TensorFlow takes row-major arrays only, and '{array.name}' {array.shape} is column-major: "
            "a.T.to('tensorflow') is the same memory with the dimensions reversed, "
            "tensorflow.constant(numpy.asarray(a)) is a copy"
        )
    if array.dtype.kind == "c":
        raise UnsupportedError(
            f"TensorFlow takes no complex arrays without a copy, and '{array.name}' is {array.dtype}: "
            "tensorflow.constant(numpy.asarray(a)) is a copy"
        )
    return tensorflow.experimental.dlpack.from_dlpack(array.__dlpack__())


def _to_jax(array: Array) -> Any:
    try:
        dlpack = import_module("jax.dlpack")
    except ImportError as error:
        raise _absent("jax", "jax", error) from error
    try:
        return dlpack.from_dlpack(array)
    except (BufferError, ValueError, RuntimeError) as error:
        raise UnsupportedError(
            f"this version of JAX cannot take '{array.name}' ({array.dtype} {array.shape}, strides {array.strides}): {error}; "
            "try a.T.to('jax'), the same memory with the dimensions reversed, or jax.numpy.array(numpy.asarray(a)), a copy"
        ) from error
