# SPDX-License-Identifier: Apache-2.0
"""Named arrays shared between programs, in Python, MATLAB and Octave, without copies.

>>> import numpy as np
>>> import warpool
>>> warpool.put("tour/signal", np.arange(6.0).reshape(2, 3))
1
>>> a = warpool.get("tour/signal")
>>> a.shape, a[1, 2]
((2, 3), np.float64(5.0))

The functions here work over one connection, made at the first call; ``warpool.connect()`` gives others with the same methods.
"""

from __future__ import annotations

import atexit as _atexit
import os as _os
from _thread import allocate_lock as _allocate_lock

from warpool import _core
from warpool._connection import Connection, Watch
from warpool._core import Array
from warpool._draft import Draft
from warpool._errors import (
    BrokerVersionError,
    ConflictError,
    InterruptedCallError,
    InvalidArgumentError,
    LimitReachedError,
    LostError,
    NoBrokerError,
    NotFoundError,
    OutOfMemoryError,
    PermissionDeniedError,
    ProtocolError,
    StorageError,
    TimedOutError,
    TimeoutError_,
    UnsupportedError,
    WarpoolError,
)
from warpool._info import Event, Info

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import DTypeLike

    from warpool._options import Attributes, Mode, Wait

__all__ = [
    "Array",
    "BrokerVersionError",
    "ConflictError",
    "Connection",
    "Draft",
    "Event",
    "Info",
    "InterruptedCallError",
    "InvalidArgumentError",
    "LimitReachedError",
    "LostError",
    "NoBrokerError",
    "NotFoundError",
    "OutOfMemoryError",
    "PermissionDeniedError",
    "ProtocolError",
    "StorageError",
    "TimedOutError",
    "TimeoutError_",
    "UnsupportedError",
    "WarpoolError",
    "Watch",
    "chmod",
    "connect",
    "create",
    "expire",
    "get",
    "info",
    "load",
    "ls",
    "ping",
    "put",
    "rm",
    "save",
    "sessions",
    "stats",
    "status",
    "watch",
]

__version__: str = _core.version()

_default_connection: Connection | None = None
_default_lock = _allocate_lock()


def _default() -> Connection:
    """The connection of the module functions, made when first needed."""
    global _default_connection
    connection = _default_connection
    if connection is not None and not connection.closed:
        return connection
    with _default_lock:
        if _default_connection is None or _default_connection.closed:
            _default_connection = Connection()
        return _default_connection


def _after_fork() -> None:
    # Another thread of the parent may have held the lock; that thread does not exist here.
    global _default_lock
    _default_lock = _allocate_lock()


def _at_exit() -> None:
    _core.prepare_exit()
    if _default_connection is not None:
        _default_connection.close()


_os.register_at_fork(after_in_child=_after_fork)
_atexit.register(_at_exit)


def connect(
    socket: str | _os.PathLike[str] | None = None,
    label: str | None = None,
    *,
    start: bool = True,
    restore: bool = True,
    admin: bool = False,
    reconnect: float | None = None,
) -> Connection:
    """Makes a session of its own with the broker.

    Args:
        socket: The broker's socket; None finds it: WARPOOL_SOCKET, the system's, this user's.
        label: Shown to people beside the program, such as in `warpool ps`; None takes WARPOOL_LABEL.
        start: Start a private broker of this user when none runs.
        restore: Reconnect when the broker is lost; else calls fail with NoBrokerError.
        admin: Use the admin socket, which belongs to the broker's owner and is in a folder of its own.
        reconnect: Seconds a call tries to reach a lost broker (10 by default).

    >>> with warpool.connect(label="documentation") as session:
    ...     session.put("tour/one", 1.0)
    1
    """
    return Connection(socket, label, start=start, restore=restore, admin=admin, reconnect=reconnect)


def put(
    name: str,
    x: Any,
    *,
    mode: Mode = None,
    ttl: float | None = None,
    attrs: Attributes = None,
    wait: Wait = None,
) -> int:
    """Publishes a copy of `x` under `name` and returns its version: 1, 2, ... Programs that view an older version keep it.

    Args:
        name: A path of letters, digits and ``_.-``, such as "lab/session3/features".
        x: A NumPy array of numbers or bool with any strides, anything that NumPy can view as one (buffer, DLPack, ``__array__``),
            a number, bool or str, a sparse matrix of SciPy, an array of single characters (dtype "<U1"), or a dict of such
            values, nested as you like. Anything else is refused with a TypeError that shows how to split it.
        mode: Who may read: None only you; 0o640, "0640" or "rw-r-----" your group; 0o644 everybody.
        ttl: Seconds after which it is removed; None: it stays.
        attrs: A dict of JSON values that goes with it.
        wait: What to do while the memory budget is exhausted: None fails at once, True waits, a number waits so many seconds.

    To build an array in shared memory without that copy, use :func:`create`.

    >>> warpool.put("tour/run", {"rate": 360.0, "channel": "MLII", "x": np.zeros((3, 4))}, attrs={"record": 208})
    1
    >>> warpool.put("tour/object", object())
    Traceback (most recent call last):
        ...
    TypeError: object cannot be shared; split it into arrays, numbers and text, and put those under names of their own or as the \
fields of a dict: warpool.put('name', {'x': x, 'label': 'text'})
    """
    return _default().put(name, x, mode=mode, ttl=ttl, attrs=attrs, wait=wait)


def get(name: str, version: int | None = None, wait: Wait = None, *, sparse: str = "scipy") -> Any:
    """Gets what was published under `name`, without a copy (small items of up to 64 KiB travel in the message).

    Gives a :class:`warpool.Array`, which indexes like a read-only NumPy array and becomes one with ``numpy.asarray(a)``; a str for
    text; a dict for a struct; a ``scipy.sparse.csc_array`` for a sparse matrix; an array of dtype "<U1" for other characters.

    Args:
        name: One's own name, or "user:name" for somebody else's.
        version: None: the latest.
        wait: For a name that does not exist yet: None fails at once with NotFoundError, True waits, a number waits so many seconds
            and then raises TimedOutError, whose message says who made that name last. Ctrl-C ends a wait.
        sparse: "scipy", or "parts" for a dict of data, indices, indptr and shape, which needs no SciPy.

    >>> run = warpool.get("tour/run")
    >>> run["channel"], run["x"].shape, float(run["rate"])
    ('MLII', (3, 4), 360.0)
    >>> warpool.get("tour/absent")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    warpool._errors.NotFoundError: ...
    """
    return _default().get(name, version, wait, sparse=sparse)


def create(
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
    """Makes an array of zeros in shared memory, to be filled and published without a copy.

    In a ``with`` statement it is published at the end, and dropped if an exception ends the block; else call ``publish()`` or
    ``drop()``. `order` is "C" (the last index runs fastest) or "F" (the first one does, as MATLAB and Octave want it). The other
    arguments are those of :func:`put`.

    >>> with warpool.create("tour/squares", 5) as d:
    ...     np.multiply(np.arange(5), np.arange(5), out=d)
    ...     d[0] = -1
    array([ 0.,  1.,  4.,  9., 16.])
    >>> print(warpool.get("tour/squares"))
    [-1.  1.  4.  9. 16.]
    """
    return _default().create(name, shape, dtype, order, mode=mode, ttl=ttl, attrs=attrs, wait=wait)


def ls(pattern: str | None = None, all_users: bool = False, *, removed: bool = False) -> list[Info]:
    """Lists published items, sorted by owner and name.

    `pattern` is as in a shell, ``*`` also matches "/". `all_users` adds those of others that you may read, `removed` those that
    are removed or replaced but still viewed by some program.

    >>> [item.name for item in warpool.ls("tour/s*")]
    ['tour/signal', 'tour/squares']
    """
    return _default().ls(pattern, all_users, removed=removed)


def info(name: str, version: int | None = None) -> Info:
    """Facts about one published item, without getting it.

    >>> facts = warpool.info("tour/run")
    >>> facts.kind, facts.attrs, facts.fields["x"]
    ('struct', {'record': 208}, ('array', 'float64', (3, 4)))
    """
    return _default().info(name, version)


def rm(name: str, version: int | None = None) -> None:
    """Removes a name. Programs that view it keep what they have. With `version`, only if that is the current one.

    >>> warpool.rm("tour/squares")
    """
    _default().rm(name, version)


def chmod(name: str, mode: int | str) -> None:
    """Sets who may read the current and later versions: 0o600 only you, 0o640 or "rw-r-----" your group, 0o644 everybody.

    >>> warpool.chmod("tour/signal", "rw-r--r--")
    >>> oct(warpool.info("tour/signal").mode)
    '0o644'
    """
    _default().chmod(name, mode)


def expire(name: str, seconds: float | None) -> None:
    """Sets the time to live from now; None: it stays.

    >>> warpool.expire("tour/signal", 3600)
    """
    _default().expire(name, seconds)


def watch(pattern: str | None = None, existing: bool = False, *, timeout: Wait = True, all_users: bool = False) -> Watch:
    """An iterator over what happens to names that match `pattern`, from now on.

    With `existing`, what is published already comes first. `timeout` (seconds) ends the iteration when nothing happens for so long.

    >>> with warpool.watch("tour/s*", existing=True, timeout=0.1) as events:
    ...     for event in events:
    ...         print(event.kind, event.name)
    published tour/signal
    """
    return _default().watch(pattern, existing, timeout=timeout, all_users=all_users)


def save(name: str, path: str | _os.PathLike[str], version: int | None = None) -> None:
    """Writes an item to a file: a plain array as .npy, which any tool can read, anything else as .wpool.

    >>> warpool.save("tour/signal", folder / "signal.npy")
    >>> np.load(folder / "signal.npy").shape
    (2, 3)
    """
    _default().save(name, path, version)


def load(
    path: str | _os.PathLike[str],
    name: str,
    *,
    mode: Mode = None,
    ttl: float | None = None,
    attrs: Attributes = None,
    wait: Wait = None,
) -> int:
    """Publishes the content of a .npy or .wpool file under `name` and returns its version. Options as in :func:`put`.

    >>> warpool.load(folder / "signal.npy", "tour/again")
    1
    """
    return _default().load(path, name, mode=mode, ttl=ttl, attrs=attrs, wait=wait)


def sessions(run: str | None = None) -> list[dict[str, Any]]:
    """The programs connected to the broker, as far as you may see them. `run`: only those of one ``warpool run``, ended ones too.

    >>> [session["language"] for session in warpool.sessions()]
    ['python']
    """
    return _default().sessions(run)


def status() -> dict[str, Any]:
    """Facts about the broker: its socket, version, memory limit and use, number of arrays and sessions.

    >>> warpool.status()["arrays"] > 0
    True
    """
    return _default().status()


def stats() -> dict[str, Any]:
    """Counters of this session: what was published, got and shared, and each kind of copy with its reason.

    >>> sorted(warpool.stats()["copies"])
    ['inline']
    """
    return _default().stats()


def ping() -> None:
    """One empty exchange with the broker.

    >>> warpool.ping()
    """
    _default().ping()
