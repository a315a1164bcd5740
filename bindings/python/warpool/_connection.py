# SPDX-License-Identifier: Apache-2.0
"""Connections to the broker. The functions of the package are the methods of a connection made at the first call."""

from __future__ import annotations

from warpool import _core
from warpool._draft import Draft
from warpool._errors import InvalidArgumentError, TimedOutError
from warpool._info import Event, Info
from warpool._options import attributes_json, mode_bits, ttl_ms, wait_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Any

    from numpy.typing import DTypeLike

    from warpool._options import Attributes, Mode, Wait

_NO_START, _NO_RESTORE, _ADMIN = 1, 2, 4
_ALL_USERS, _LIST_REMOVED = 1, 2


class Connection:
    """One session with the broker; made by :func:`warpool.connect`. May be used by several threads at once."""

    def __init__(
        self,
        socket: str | os.PathLike[str] | None = None,
        label: str | None = None,
        *,
        start: bool = True,
        restore: bool = True,
        admin: bool = False,
        reconnect: float | None = None,
    ) -> None:
        flags = (0 if start else _NO_START) | (0 if restore else _NO_RESTORE) | (_ADMIN if admin else 0)
        path = None if socket is None else _path(socket)
        self._session = _core.Session(path, label, flags, ttl_ms(reconnect, "reconnect"))

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<warpool.Connection {'closed' if self.closed else 'open'}>"

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._session.closed

    def close(self) -> None:
        """Ends the session: drops its drafts and ends the waits of other threads. Arrays stay valid."""
        self._session.close()

    def put(
        self,
        name: str,
        x: Any,
        *,
        mode: Mode = None,
        ttl: float | None = None,
        attrs: Attributes = None,
        wait: Wait = None,
    ) -> int:
        """See :func:`warpool.put`."""
        bits = 0 if mode is None else mode_bits(mode)
        lifetime = 0 if ttl is None else ttl_ms(ttl)
        attributes = None if attrs is None else attributes_json(attrs)
        timeout = 0 if wait is None else wait_ms(wait)
        version = self._session.put(name, x, bits, lifetime, attributes, timeout)
        if version is not None:
            return version
        from warpool import _pack

        packed = _pack.pack(x)
        version = self._session.put_parts(name, packed.parts, bits, lifetime, attributes, timeout)
        if packed.converted_bytes:
            self._session.count_copy(_core.COPY_CONVERT, packed.converted_bytes)
        return version

    def get(self, name: str, version: int | None = None, wait: Wait = None, *, sparse: str = "scipy") -> Any:
        """See :func:`warpool.get`."""
        got = self._session.get(name, 0 if version is None else _version(version), 0 if wait is None else wait_ms(wait))
        if type(got) is not list:
            return got
        from warpool._unpack import Unpacker

        return Unpacker(got, sparse, self._session.count_copy).build()

    def create(
        self,
        name: str,
        shape: int | Sequence[int],
        dtype: DTypeLike = "float64",
        order: str = "C",
        *,
        mode: Mode = None,
        ttl: float | None = None,
        attrs: Attributes = None,
        wait: Wait = None,
    ) -> Draft:
        """See :func:`warpool.create`."""
        return Draft(self._session, name, shape, dtype, order, mode=mode, ttl=ttl, attrs=attrs, wait=wait)

    def ls(self, pattern: str | None = None, all_users: bool = False, *, removed: bool = False) -> list[Info]:
        """See :func:`warpool.ls`."""
        flags = (_ALL_USERS if all_users else 0) | (_LIST_REMOVED if removed else 0)
        return [Info(*facts) for facts in self._session.list_items(pattern, flags)]

    def info(self, name: str, version: int | None = None) -> Info:
        """See :func:`warpool.info`."""
        return Info(*self._session.stat(name, 0 if version is None else _version(version)))

    def rm(self, name: str, version: int | None = None) -> None:
        """See :func:`warpool.rm`."""
        self._session.remove(name, 0 if version is None else _version(version))

    def chmod(self, name: str, mode: int | str) -> None:
        """See :func:`warpool.chmod`."""
        if mode is None:
            raise TypeError("mode must be an int such as 0o640 or a str such as 'rw-r-----', not None")
        self._session.chmod(name, mode_bits(mode))

    def expire(self, name: str, seconds: float | None) -> None:
        """See :func:`warpool.expire`."""
        self._session.expire(name, ttl_ms(seconds, "seconds"))

    def watch(
        self, pattern: str | None = None, existing: bool = False, *, timeout: Wait = True, all_users: bool = False
    ) -> Watch:
        """See :func:`warpool.watch`."""
        return Watch(self._session, pattern, existing, timeout, all_users)

    def save(self, name: str, path: str | os.PathLike[str], version: int | None = None) -> None:
        """See :func:`warpool.save`."""
        self._session.save(name, 0 if version is None else _version(version), _path(path))

    def load(
        self,
        path: str | os.PathLike[str],
        name: str,
        *,
        mode: Mode = None,
        ttl: float | None = None,
        attrs: Attributes = None,
        wait: Wait = None,
    ) -> int:
        """See :func:`warpool.load`."""
        return self._session.load(_path(path), name, mode_bits(mode), ttl_ms(ttl), attributes_json(attrs), wait_ms(wait))

    def sessions(self, run: str | None = None) -> list[dict[str, Any]]:
        """See :func:`warpool.sessions`."""
        return self._session.sessions(run)

    def status(self) -> dict[str, Any]:
        """See :func:`warpool.status`."""
        return self._session.broker_info()

    def stats(self) -> dict[str, Any]:
        """See :func:`warpool.stats`."""
        own = self._session.broker_info()["session"]
        return next(session for session in self._session.sessions(None) if session["session"] == own)

    def ping(self) -> None:
        """See :func:`warpool.ping`."""
        self._session.ping()


class Watch:
    """Events on names that match a pattern, in order; made by :func:`warpool.watch`. One thread at a time may wait on it."""

    def __init__(self, session: _core.Session, pattern: str | None, existing: bool, timeout: Wait, all_users: bool) -> None:
        self._timeout_ms = wait_ms(timeout)
        self._watch = _core.Watch(session, pattern, _ALL_USERS if all_users else 0, existing)

    def __iter__(self) -> Watch:
        return self

    def __next__(self) -> Event:
        try:
            return Event(*self._watch.next(self._timeout_ms))
        except TimedOutError:
            raise StopIteration from None

    def next(self, timeout: Wait = True) -> Event:
        """The next event; TimedOutError when none comes within `timeout` seconds."""
        return Event(*self._watch.next(wait_ms(timeout)))

    def close(self) -> None:
        """Stops watching."""
        self._watch.close()

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _path(path: str | os.PathLike[str]) -> bytes:
    from os import fsencode

    return fsencode(path)


def _version(version: int) -> int:
    if isinstance(version, bool) or not isinstance(version, int):
        raise TypeError(f"version must be an int, not {type(version).__name__}")
    if not 1 <= version < 2**64:
        raise InvalidArgumentError(f"version is {version}: versions are 1, 2, ...; None means the latest")
    return version
