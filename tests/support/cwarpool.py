# SPDX-License-Identifier: Apache-2.0
"""libwarpool through ctypes: what tests need that must not depend on the Python package. Items are one array of bytes."""

from __future__ import annotations

import ctypes as c
import os
from collections.abc import Callable, Sequence
from pathlib import Path

MAX_NDIM = 32
UINT8 = 6
NO_START = 1
NO_RESTORE = 2
ADMIN = 4
WHILE_USED = 4
ALL_USERS = 1

OK, INVALID_ARGUMENT, NOT_FOUND, PERMISSION_DENIED, TIMED_OUT, INTERRUPTED, OUT_OF_MEMORY, LIMIT_REACHED, NO_BROKER = range(9)
VERSION_MISMATCH, PROTOCOL_ERROR, IO_ERROR, UNSUPPORTED, LOST, CONFLICT = range(9, 15)

INTERRUPTED_FUNCTION = c.CFUNCTYPE(c.c_int, c.c_void_p)


class Error(c.Structure):
    _fields_ = [("code", c.c_int32), ("message", c.c_char * 1024)]


class Part(c.Structure):
    _fields_ = [
        ("path", c.c_char_p),
        ("kind", c.c_uint32),
        ("dtype", c.c_uint32),
        ("ndim", c.c_uint32),
        ("reserved", c.c_uint32),
        ("shape", c.c_int64 * MAX_NDIM),
        ("strides", c.c_int64 * MAX_NDIM),
        ("offset", c.c_uint64),
        ("data", c.c_void_p),
    ]


class Wait(c.Structure):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("reserved", c.c_uint32),
        ("timeout_ms", c.c_int64),
        ("interrupted", INTERRUPTED_FUNCTION),
        ("context", c.c_void_p),
    ]


class ConnectOptions(c.Structure):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("flags", c.c_uint32),
        ("socket_path", c.c_char_p),
        ("language", c.c_char_p),
        ("label", c.c_char_p),
        ("reconnect_ms", c.c_int64),
        ("interrupted", c.c_void_p),
        ("context", c.c_void_p),
    ]


class CreateOptions(c.Structure):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("mode", c.c_uint32),
        ("ttl_ms", c.c_int64),
        ("flags", c.c_uint32),
        ("reserved", c.c_uint32),
        ("attributes", c.c_char_p),
        ("wait", c.POINTER(Wait)),
    ]


class BrokerInfo(c.Structure):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("protocol", c.c_uint32),
        ("epoch", c.c_uint64),
        ("session", c.c_uint64),
        ("broker_pid", c.c_int32),
        ("keeper_pid", c.c_int32),
        ("restarts", c.c_uint64),
        ("memory_limit", c.c_uint64),
        ("memory_used", c.c_uint64),
        ("memory_published", c.c_uint64),
        ("memory_drafts", c.c_uint64),
        ("memory_spare", c.c_uint64),
        ("memory_viewed", c.c_uint64),
        ("arrays", c.c_uint64),
        ("sessions", c.c_uint64),
        ("uptime_ms", c.c_uint64),
        ("lost", c.c_uint64),
        ("is_private", c.c_uint32),
        ("reserved", c.c_uint32),
        ("broker_version", c.c_char * 32),
        ("socket_path", c.c_char * 108),
    ]


class ArrayInfo(c.Structure):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("flags", c.c_uint32),
        ("name", c.c_char_p),
        ("owner", c.c_char_p),
        ("id", c.c_uint64),
        ("version", c.c_uint64),
        ("owner_uid", c.c_uint32),
        ("mode", c.c_uint32),
        ("size", c.c_uint64),
        ("created_unix_ns", c.c_int64),
        ("expires_in_ms", c.c_int64),
        ("viewers", c.c_uint32),
        ("part_count", c.c_uint32),
        ("parts", c.POINTER(Part)),
        ("data", c.c_void_p),
        ("attributes", c.c_char_p),
        ("maker_pid", c.c_int32),
        ("maker_alive", c.c_uint32),
        ("maker_language", c.c_char_p),
        ("maker_label", c.c_char_p),
    ]


class Event(c.Structure):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("kind", c.c_uint32),
        ("version", c.c_uint64),
        ("owner_uid", c.c_uint32),
        ("reserved", c.c_uint32),
        ("name", c.c_char * 256),
    ]


class SessionInfo(c.Structure):
    """The first fields; the library owns the objects, so the rest need not be described."""

    _fields_ = [
        ("struct_size", c.c_uint32),
        ("pid", c.c_int32),
        ("session", c.c_uint64),
        ("uid", c.c_uint32),
        ("alive", c.c_uint32),
        ("user", c.c_char_p),
        ("language", c.c_char_p),
        ("label", c.c_char_p),
        ("command", c.c_char_p),
        ("container", c.c_char_p),
        ("waiting_for", c.c_char_p),
    ]


class WarpoolError(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


def library_path() -> Path:
    build = os.environ.get("WARPOOL_BUILD_DIR")
    folder = Path(build) if build else Path(__file__).resolve().parents[2] / "build" / "release"
    return folder / "lib" / "libwarpool.so.0"


_pointer_results = {
    "warpool_array_get_info": c.POINTER(ArrayInfo),
    "warpool_listing_get": c.POINTER(ArrayInfo),
    "warpool_sessions_get": c.POINTER(SessionInfo),
    "warpool_draft_data": c.c_void_p,
}
_lib: c.CDLL | None = None


def library() -> c.CDLL:
    global _lib
    if _lib is None:
        _lib = c.CDLL(str(library_path()))
        for name, result in _pointer_results.items():
            getattr(_lib, name).restype = result
        for name in ("warpool_listing_count", "warpool_sessions_count"):
            getattr(_lib, name).restype = c.c_size_t
        for name in ("warpool_interrupt", "warpool_close", "warpool_array_release", "warpool_discard"):
            getattr(_lib, name).restype = None
    return _lib


def _check(status: int, error: Error) -> None:
    if status != OK:
        raise WarpoolError(status, error.message.decode(errors="replace"))


def _wait(timeout_ms: int | None, interrupted: Callable[[], bool] | None = None) -> Wait | None:
    if timeout_ms is None:
        return None
    function = INTERRUPTED_FUNCTION((lambda _: int(interrupted())) if interrupted else 0)
    return Wait(c.sizeof(Wait), 0, timeout_ms, function, None)


class Array:
    """A published array; `view` shows the shared bytes themselves."""

    def __init__(self, handle: c.c_void_p) -> None:
        self.handle: c.c_void_p | None = handle
        info = library().warpool_array_get_info(handle).contents
        self.name: str = info.name.decode()
        self.version: int = info.version
        self.id: int = info.id
        self.size: int = info.size
        self.flags: int = info.flags
        self.attributes: str = info.attributes.decode()
        self.data: int = info.data or 0

    def view(self) -> memoryview:
        if self.size == 0:
            return memoryview(b"")
        return memoryview((c.c_uint8 * self.size).from_address(self.data)).cast("B").toreadonly()

    def bytes(self) -> bytes:
        return bytes(self.view())

    def release(self) -> None:
        if self.handle is not None:
            library().warpool_array_release(self.handle)
            self.handle = None

    def __enter__(self) -> Array:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


class Draft:
    def __init__(self, handle: c.c_void_p, size: int) -> None:
        self.handle: c.c_void_p | None = handle
        self.size = size
        self.data = library().warpool_draft_data(handle, 0)

    def view(self) -> memoryview:
        return memoryview((c.c_uint8 * self.size).from_address(self.data)).cast("B")

    def publish(self) -> int:
        error, version = Error(), c.c_uint64()
        _check(library().warpool_publish(self.handle, None, c.byref(version), c.byref(error)), error)
        self.handle = None
        return version.value

    def discard(self) -> None:
        library().warpool_discard(self.handle)
        self.handle = None


class Connection:
    def __init__(
        self, socket: str | Path | None = None, *, flags: int = NO_START, label: str = "", reconnect_ms: int = 0
    ) -> None:
        self.handle = c.c_void_p()
        options = ConnectOptions(
            c.sizeof(ConnectOptions),
            flags,
            str(socket).encode() if socket else None,
            b"test",
            label.encode(),
            reconnect_ms,
            None,
            None,
        )
        error = Error()
        _check(library().warpool_connect(c.byref(options), c.byref(self.handle), c.byref(error)), error)

    def close(self) -> None:
        if self.handle:
            library().warpool_close(self.handle)
            self.handle = c.c_void_p()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _call(self, name: str, *arguments: object) -> None:
        error = Error()
        _check(getattr(library(), name)(self.handle, *arguments, c.byref(error)), error)

    def _options(self, mode: int, ttl_ms: int, flags: int, wait: Wait | None, attributes: str) -> CreateOptions:
        pointer = c.pointer(wait) if wait is not None else None
        return CreateOptions(c.sizeof(CreateOptions), mode, ttl_ms, flags, 0, attributes.encode() or None, pointer)

    def _part(self, size: int, data: int | None = None) -> Part:
        part = Part(b"", 0, UINT8, 1, 0)
        part.shape[0], part.strides[0], part.data = size, 1, data
        return part

    def put(self, name: str, data: bytes, *, mode: int = 0, ttl_ms: int = 0, flags: int = 0, attributes: str = "") -> int:
        buffer = (c.c_char * max(len(data), 1)).from_buffer_copy(data or b"\0")
        part, version = self._part(len(data), c.addressof(buffer)), c.c_uint64()
        options = self._options(mode, ttl_ms, flags, None, attributes)
        self._call("warpool_put", name.encode(), c.byref(part), 1, c.byref(options), c.byref(version))
        return version.value

    def create(self, name: str, size: int, *, mode: int = 0, flags: int = 0, wait_ms: int | None = None) -> Draft:
        draft, part = c.c_void_p(), self._part(size)
        options = self._options(mode, 0, flags, _wait(wait_ms), "")
        self._call("warpool_create", name.encode(), c.byref(part), 1, c.byref(options), c.byref(draft))
        return Draft(draft, size)

    def get(
        self, name: str, version: int = 0, *, wait_ms: int | None = None, interrupted: Callable[[], bool] | None = None
    ) -> Array:
        handle, wait = c.c_void_p(), _wait(wait_ms, interrupted)
        pointer = c.byref(wait) if wait is not None else None
        self._call("warpool_get", name.encode(), c.c_uint64(version), pointer, c.byref(handle))
        return Array(handle)

    def remove(self, name: str, version: int = 0) -> None:
        self._call("warpool_remove", name.encode(), c.c_uint64(version))

    def chmod(self, name: str, mode: int) -> None:
        self._call("warpool_chmod", name.encode(), c.c_uint32(mode))

    def expire(self, name: str, ttl_ms: int) -> None:
        self._call("warpool_expire", name.encode(), c.c_int64(ttl_ms))

    def save(self, name: str, path: str | Path) -> None:
        self._call("warpool_save", name.encode(), c.c_uint64(0), str(path).encode())

    def load(self, path: str | Path, name: str) -> int:
        version = c.c_uint64()
        self._call("warpool_load", str(path).encode(), name.encode(), None, c.byref(version))
        return version.value

    def list(self, pattern: str = "", flags: int = 0) -> dict[str, int]:
        """Names ("owner number:name" for those of others) and versions."""
        handle, found = c.c_void_p(), {}
        self._call("warpool_list", pattern.encode() or None, c.c_uint32(flags), c.byref(handle))
        own = os.geteuid()
        for i in range(library().warpool_listing_count(handle)):
            info = library().warpool_listing_get(handle, c.c_size_t(i)).contents
            name = info.name.decode()
            found[name if info.owner_uid == own else f"{info.owner_uid}:{name}"] = info.version
        library().warpool_listing_free(handle)
        return found

    def sessions(self) -> Sequence[dict[str, object]]:
        handle = c.c_void_p()
        found = []
        self._call("warpool_list_sessions", None, c.byref(handle))
        for i in range(library().warpool_sessions_count(handle)):
            info = library().warpool_sessions_get(handle, c.c_size_t(i)).contents
            found.append(
                {
                    "pid": info.pid,
                    "uid": info.uid,
                    "label": info.label.decode(),
                    "container": info.container.decode(),
                    "waiting_for": info.waiting_for.decode(),
                }
            )
        library().warpool_sessions_free(handle)
        return found

    def info(self) -> BrokerInfo:
        info = BrokerInfo()
        self._call("warpool_get_broker_info", c.byref(info))
        return info

    def ping(self) -> None:
        self._call("warpool_ping")

    def interrupt(self) -> None:
        library().warpool_interrupt(self.handle)

    def watch(self, pattern: str = "*", flags: int = 0) -> Watch:
        handle = c.c_void_p()
        self._call("warpool_watch_open", pattern.encode(), c.c_uint32(flags), 0, c.byref(handle))
        return Watch(handle)


class Watch:
    def __init__(self, handle: c.c_void_p) -> None:
        self.handle = handle

    def next(self, timeout_ms: int) -> tuple[int, str, int]:
        """Kind, name and version of the next event."""
        wait, event, error = _wait(timeout_ms), Event(), Error()
        assert wait is not None
        _check(library().warpool_watch_next(self.handle, c.byref(wait), c.byref(event), c.byref(error)), error)
        return event.kind, event.name.decode(), event.version

    def close(self) -> None:
        library().warpool_watch_close(self.handle)
