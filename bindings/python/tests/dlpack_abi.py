# SPDX-License-Identifier: Apache-2.0
"""A DLPack consumer in ctypes, written from the public specification: what tensors lie in a capsule, bit for bit."""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from typing import Any

import numpy as np

READ_ONLY, IS_COPIED = 1, 2

_api = ctypes.pythonapi
_api.PyCapsule_GetPointer.restype = c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, c_char_p]
_api.PyCapsule_GetName.restype = c_char_p
_api.PyCapsule_GetName.argtypes = [ctypes.py_object]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", ctypes.POINTER(c_int64)),
        ("strides", ctypes.POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


class _Legacy(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("manager_ctx", c_void_p), ("deleter", c_void_p)]


class _Versioned(ctypes.Structure):
    _fields_ = [
        ("major", c_uint32),
        ("minor", c_uint32),
        ("manager_ctx", c_void_p),
        ("deleter", c_void_p),
        ("flags", c_uint64),
        ("tensor", _Tensor),
    ]


_KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}


class Capsule:
    """A capsule and what it says. Valid as long as this object lives: it is never consumed."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule
        self.name = _api.PyCapsule_GetName(capsule).decode()
        pointer = _api.PyCapsule_GetPointer(capsule, self.name.encode())
        self.version: tuple[int, int] | None = None
        self.flags = 0
        if self.name == "dltensor_versioned":
            managed = _Versioned.from_address(pointer)
            self.version = (managed.major, managed.minor)
            self.flags = managed.flags
        else:
            managed = _Legacy.from_address(pointer)
        tensor = managed.tensor
        self.device = (tensor.device_type, tensor.device_id)
        self.dtype = np.dtype(f"{_KINDS[tensor.code]}{tensor.bits // 8}")
        self.lanes = tensor.lanes
        self.shape = tuple(tensor.shape[: tensor.ndim])
        self.strides = tuple(tensor.strides[: tensor.ndim])
        self.address = (tensor.data or 0) + tensor.byte_offset
        self.is_null = tensor.data is None

    def copy(self) -> np.ndarray[Any, Any]:
        """The elements in memory of their own."""
        return self.array().copy()

    def array(self) -> np.ndarray[Any, Any]:
        """A writable NumPy view of the tensor, whatever it says about writing. Strides must not be negative."""
        if 0 in self.shape:
            return np.empty(self.shape, self.dtype)
        span = sum((extent - 1) * stride for extent, stride in zip(self.shape, self.strides, strict=True)) + 1
        size = span * self.dtype.itemsize
        memory = (ctypes.c_char * size).from_address(self.address)
        strides = tuple(stride * self.dtype.itemsize for stride in self.strides)
        return np.ndarray(self.shape, self.dtype, memory, 0, strides)
