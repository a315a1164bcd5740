# SPDX-License-Identifier: Apache-2.0
"""Every way out of an array: NumPy, the buffer protocol, bytes, DLPack with and without versions, frameworks."""

from __future__ import annotations

import gc
import importlib.util
from typing import Any

import numpy as np
import pytest
import warpool
from dlpack_abi import IS_COPIED, READ_ONLY, Capsule
from values import DTYPES, OLD_NUMPY, SHAPES, numbers, same_bytes, views

VERSIONED = {"max_version": (1, 0)}


def export(name: str, array: Any) -> Any:
    """The elements of `array` by way of the exporter `name`, as something that NumPy reads."""
    match name:
        case "numpy":
            return np.asarray(array)
        case "buffer":
            return np.asarray(memoryview(array))
        case "bytes":
            return np.frombuffer(bytes(array), np.asarray(array).dtype).reshape(array.shape)
        case "tobytes":
            return np.frombuffer(array.tobytes(), np.asarray(array).dtype).reshape(array.shape)
        case "dlpack versioned":
            return Capsule(array.__dlpack__(**VERSIONED)).copy()
        case "dlpack legacy":
            return Capsule(array.__dlpack__()).copy()
        case "dlpack copy":
            return Capsule(array.__dlpack__(copy=True, **VERSIONED)).copy()
        case "numpy.from_dlpack":
            return np.from_dlpack(array)
    raise AssertionError(name)


EXPORTERS = [
    "numpy", "buffer", "bytes", "tobytes", "dlpack versioned", "dlpack legacy", "dlpack copy", "numpy.from_dlpack",
]  # fmt: skip


@pytest.mark.parametrize("exporter", EXPORTERS)
def test_every_dtype_and_shape_leaves_equal(exporter: str) -> None:
    for dtype in DTYPES:
        if OLD_NUMPY and exporter == "numpy.from_dlpack" and dtype == "bool":
            continue  # that version cannot take it
        for shape in SHAPES:
            x = np.asfortranarray(numbers(shape, dtype))
            warpool.put("x", x)
            got = warpool.get("x")
            assert same_bytes(export(exporter, got), x), (dtype, shape)
            assert same_bytes(export(exporter, got.T), x.T), (dtype, shape)


@pytest.mark.parametrize("exporter", EXPORTERS)
def test_views_put_with_any_strides_leave_equal(exporter: str) -> None:
    for name, view in views(numbers((4, 5, 6), "float32")).items():
        warpool.put("view", view)
        assert same_bytes(export(exporter, warpool.get("view")), view), name


def test_views_of_a_shared_array_leave_equal() -> None:
    x = np.asfortranarray(numbers((40, 50, 6), "float64"))
    warpool.put("x", x)
    shared = np.asarray(warpool.get("x"))
    for (name, view), expected in zip(views(shared).items(), views(x).values(), strict=True):
        assert same_bytes(view, expected), name
        assert same_bytes(np.asarray(memoryview(view)), expected), name


@pytest.mark.parametrize("size", [10, 100_000])
def test_every_exported_address_is_aligned(size: int) -> None:
    for dtype in ("uint8", "float64"):
        warpool.put("a", np.ones(size, dtype))
        warpool.put("s", {"one": np.ones(3, dtype), "two": np.ones(size, dtype), "three": np.ones(5)})
        for array in (warpool.get("a"), *warpool.get("s").values()):
            assert array.numpy().ctypes.data % 256 == 0
            assert Capsule(array.__dlpack__(**VERSIONED)).address % 256 == 0
            assert Capsule(array.__dlpack__()).address % 256 == 0
            assert Capsule(array.__dlpack__(copy=True)).address % 256 == 0


def test_one_mapping_serves_all_read_only_views() -> None:
    warpool.put("a", np.ones(100_000))
    a = warpool.get("a")
    address = np.asarray(a).ctypes.data
    assert np.asarray(memoryview(a)).ctypes.data == address
    if not OLD_NUMPY:
        assert np.from_dlpack(a).ctypes.data == address
    assert Capsule(a.__dlpack__(**VERSIONED)).address == address
    assert a.T.numpy().ctypes.data == address


def test_views_keep_the_memory_after_the_array_and_its_name_are_gone() -> None:
    x = np.arange(100_000.0)
    warpool.put("a", x)
    view = np.asarray(warpool.get("a"))
    tensor = np.from_dlpack(warpool.get("a"))
    capsule = Capsule(warpool.get("a").__dlpack__())
    warpool.rm("a")
    gc.collect()
    assert same_bytes(view, x)
    assert same_bytes(tensor, x)
    assert same_bytes(capsule.array(), x)


@pytest.mark.parametrize("size", [10, 100_000])
def test_nothing_can_write_to_what_is_published(size: int) -> None:
    warpool.put("a", np.zeros(size))
    a = warpool.get("a")
    for view in (np.asarray(a), np.from_dlpack(a), np.asarray(memoryview(a)), a.T.numpy(), a[2:]):
        assert not view.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 1
        with pytest.raises(ValueError, match=r"WRITEABLE|writeable"):
            view.setflags(write=True)
    assert memoryview(a).readonly
    with pytest.raises(TypeError, match="read-only"):
        a[0] = 1
    with pytest.raises(TypeError, match="read-only"):
        memoryview(a)[0] = 1


def test_a_writable_buffer_is_refused() -> None:
    import io

    warpool.put("a", np.zeros(10))
    with pytest.raises(TypeError, match="read-write"):
        io.BytesIO(b"12345678").readinto(warpool.get("a"))
    assert warpool.get("a")[0] == 0


def test_a_simple_buffer_of_column_major_memory_is_refused() -> None:
    import hashlib

    x = np.asfortranarray(numbers((3, 4), "float64"))
    warpool.put("a", x)
    with pytest.raises(BufferError, match=r"a\.T"):
        hashlib.sha256(warpool.get("a"))
    assert hashlib.sha256(warpool.get("a").T).digest() == hashlib.sha256(x.T).digest()


def test_the_versioned_capsule_says_read_only() -> None:
    warpool.put("a", np.asfortranarray(numbers((3, 4), "complex64")))
    capsule = Capsule(warpool.get("a").__dlpack__(max_version=(2, 0)))
    assert capsule.version == (1, 1)
    assert capsule.flags == READ_ONLY
    assert (capsule.device, capsule.lanes, capsule.strides) == ((1, 0), 1, (1, 3))
    assert warpool.get("a").__dlpack_device__() == (1, 0)


@pytest.mark.parametrize("size", [10, 100_000])
def test_writes_by_a_legacy_consumer_stay_private(size: int) -> None:
    warpool.put("a", np.zeros(size))
    a = warpool.get("a")
    capsule = Capsule(a.__dlpack__())
    assert capsule.name == "dltensor"
    capsule.array()[:] = 7
    assert capsule.array()[-1] == 7
    assert not np.asarray(a).any()
    assert not np.asarray(warpool.get("a")).any()
    assert warpool.stats()["copies"]["legacy consumer"]["count"] >= 1


def test_an_old_maximum_version_means_a_legacy_capsule() -> None:
    warpool.put("a", np.zeros(3))
    assert Capsule(warpool.get("a").__dlpack__(max_version=(0, 8))).name == "dltensor"


def test_a_copy_is_writable_private_and_says_so() -> None:
    warpool.put("a", np.zeros(100_000))
    a = warpool.get("a")
    before = warpool.stats()["copies"].get("convert", {"count": 0, "bytes": 0})
    capsule = Capsule(a.__dlpack__(copy=True, **VERSIONED))
    assert capsule.flags == IS_COPIED
    capsule.array()[:] = 1
    assert not np.asarray(a).any()
    after = warpool.stats()["copies"]["convert"]
    assert (after["count"] - before["count"], after["bytes"] - before["bytes"]) == (1, 800_000)


def test_empty_tensors_have_no_address() -> None:
    warpool.put("a", np.zeros((0, 3)))
    assert Capsule(warpool.get("a").__dlpack__()).is_null
    assert Capsule(warpool.get("a").__dlpack__(**VERSIONED)).is_null


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stream": 1}, "stream"),
        ({"dl_device": (2, 0)}, "CPU memory"),
        ({"copy": False}, "copy=False"),
    ],
)
def test_what_cannot_be_right_is_a_buffer_error(options: dict[str, Any], message: str) -> None:
    warpool.put("small", np.zeros(3))
    with pytest.raises(BufferError, match=message):
        warpool.get("small").__dlpack__(**options)


def test_without_copy_large_arrays_serve_every_consumer_and_small_ones_those_that_know_read_only() -> None:
    warpool.put("large", np.zeros(100_000))
    warpool.put("small", np.zeros(3))
    assert Capsule(warpool.get("large").__dlpack__(copy=False)).array().shape == (100_000,)
    assert Capsule(warpool.get("small").__dlpack__(copy=False, **VERSIONED)).array().shape == (3,)


def test_a_malformed_version_is_a_type_error() -> None:
    warpool.put("a", np.zeros(3))
    with pytest.raises(TypeError, match="max_version"):
        warpool.get("a").__dlpack__(max_version=1)


def test_array_protocol_honours_dtype_and_copy() -> None:
    warpool.put("a", np.arange(20_000.0))
    a = warpool.get("a")
    assert a.__array__().ctypes.data == a.numpy().ctypes.data
    copied = a.__array__(copy=True)
    copied[0] = 5
    assert a[0] == 0
    assert a.__array__("float32").dtype == np.float32
    assert a.__array__("float64", copy=False).base is not None
    with pytest.raises(ValueError, match="copy=False"):
        a.__array__("float32", copy=False)
    assert np.asarray(a, dtype="int32")[7] == 7


def test_arithmetic_and_comparison_are_those_of_numpy() -> None:
    warpool.put("a", np.array([1, -2, 3]))
    a = warpool.get("a")
    x = np.asarray(a)
    results = [
        (a + 1, x + 1), (1 + a, 1 + x), (a - x, x - x), (2 * a, 2 * x), (a / 2, x / 2), (a // 2, x // 2), (a % 2, x % 2),
        (a**2, x**2), (2.0**a, 2.0**x), (a @ a, x @ x), (-a, -x), (+a, x), (abs(a), abs(x)), (~a, ~x), (a & 1, x & 1),
        (a | 1, x | 1), (a ^ a, x ^ x), (a << 1, x << 1), (a >> 1, x >> 1), (a == a, x == x), (a != 1, x != 1), (a < 2, x < 2),
        (a <= 1, x <= 1), (a > 1, x > 1), (a >= 3, x >= 3), (np.add(x, a), x + x), (np.sort(a), np.sort(x)),
    ]  # fmt: skip
    for got, expected in results:
        assert type(got) is type(expected)
        assert same_bytes(got, expected)
    assert list(a) == list(x)
    assert 3 in a
    with pytest.raises(ValueError, match="ambiguous"):
        bool(a)
    with pytest.raises(TypeError):
        hash(a)


def test_missing_methods_point_to_the_numpy_view() -> None:
    warpool.put("a", np.zeros(3))
    with pytest.raises(AttributeError, match=r"a\.numpy\(\)\.mean"):
        _ = warpool.get("a").mean
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = warpool.get("a").nonsense
    assert not hasattr(warpool.get("a"), "__cuda_array_interface__")


def test_the_text_forms_tell_what_it_is() -> None:
    warpool.put("lab/x", np.asfortranarray(np.zeros((300, 50))))
    assert repr(warpool.get("lab/x")) == (
        "<warpool.Array 'lab/x' version 1: float64 (300, 50), F order, 117.2 KiB shared, read-only>"
    )
    warpool.put("y", {"deep": np.array([1, 2])})
    assert repr(warpool.get("y")["deep"]) == "<warpool.Array 'y:deep' version 1: int64 (2,), 16 B inline, read-only>"
    assert str(warpool.get("y")["deep"]) == "[1 2]"


def test_pickling_says_what_to_do_instead() -> None:
    import pickle

    warpool.put("a", np.zeros(3))
    with pytest.raises(TypeError, match=r"warpool\.get\('a'\)"):
        pickle.dumps(warpool.get("a"))


def test_to_refuses_what_it_does_not_know_and_names_what_is_missing() -> None:
    warpool.put("a", np.arange(3.0))
    a = warpool.get("a")
    assert same_bytes(a.to("numpy"), np.arange(3.0))
    with pytest.raises(warpool.InvalidArgumentError, match="'torch'"):
        a.to("cupy")
    for framework in ("torch", "tensorflow", "jax"):
        if importlib.util.find_spec(framework) is None:
            with pytest.raises(warpool.UnsupportedError, match="pip install"):
                a.to(framework)


@pytest.mark.parametrize("order", ["C", "F"])
def test_to_torch_shares_and_keeps_writes_private(order: Any) -> None:
    torch = pytest.importorskip("torch")
    x = np.array(np.arange(60_000.0).reshape(200, 300), order=order)
    warpool.put("a", x)
    a = warpool.get("a")
    tensor = a.to("torch")
    assert tuple(tensor.shape) == x.shape
    assert same_bytes(tensor.numpy(), x)
    tensor[0, 0] = 5
    assert a[0, 0] == 0
    assert float(torch.sum(tensor)) == x.sum() + 5


def test_to_tensorflow_takes_row_major_and_explains_the_rest() -> None:
    pytest.importorskip("tensorflow")
    x = np.arange(60_000.0).reshape(200, 300)
    warpool.put("rows", x)
    assert same_bytes(warpool.get("rows").to("tensorflow").numpy(), x)
    warpool.put("columns", np.asfortranarray(x))
    with pytest.raises(warpool.UnsupportedError, match=r"a\.T"):
        warpool.get("columns").to("tensorflow")
    assert same_bytes(warpool.get("columns").T.to("tensorflow").numpy(), x.T)


@pytest.mark.parametrize("order", ["C", "F"])
def test_to_jax_gives_the_same_elements(order: Any) -> None:
    pytest.importorskip("jax")
    x = np.array(np.arange(60_000, dtype=np.float32).reshape(200, 300), order=order)
    warpool.put("a", x)
    assert same_bytes(np.asarray(warpool.get("a").to("jax")), x)
