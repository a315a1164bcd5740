# SPDX-License-Identifier: Apache-2.0
"""Exceptions: one class for each status of libwarpool, each also a kind of the closest built-in exception."""

from warpool import _core

__all__ = [
    "BrokerVersionError",
    "ConflictError",
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
]


class WarpoolError(Exception):
    """Any failure that Warpool reports. The message says what failed, which object, why, and what to do.

    ``code`` is the number of the status in the C interface, ``status`` its name, such as ``"not_found"``.
    """

    code: int = 0

    @property
    def status(self) -> str:
        return _core.status_name(self.code)

    def __str__(self) -> str:
        # Some of the built-in classes beside this one quote their message or expect a number before it.
        return str(self.args[0]) if self.args else ""


class InvalidArgumentError(WarpoolError, ValueError):
    """The call itself is wrong: a bad name, shape or option."""

    code = 1


class NotFoundError(WarpoolError, KeyError):
    """No such array, version or session."""

    code = 2


class PermissionDeniedError(WarpoolError, PermissionError):
    """It exists, but is not yours to read or change."""

    code = 3


class TimedOutError(WarpoolError, TimeoutError):
    """The wait ended; the message says who was waited for."""

    code = 4


class InterruptedCallError(WarpoolError, InterruptedError):
    """The wait was ended from another thread. (Ctrl-C raises KeyboardInterrupt.)"""

    code = 5


class OutOfMemoryError(WarpoolError, MemoryError):
    """Over a memory budget, or the system has no memory; the message names the largest holders."""

    code = 6


class LimitReachedError(WarpoolError):
    """A cap other than memory: names, connections, file descriptors, message size."""

    code = 7


class NoBrokerError(WarpoolError, ConnectionError):
    """No broker runs and none could be started, or it was lost."""

    code = 8


class BrokerVersionError(WarpoolError):
    """Broker and library cannot talk to each other; the message says which to update."""

    code = 9


class ProtocolError(WarpoolError):
    """The other side broke the protocol."""

    code = 10


class StorageError(WarpoolError, OSError):
    """A file could not be read or written."""

    code = 11


class UnsupportedError(WarpoolError, NotImplementedError):
    """Not possible on this system, in this build or for this kind of array."""

    code = 12


class LostError(WarpoolError):
    """The array or draft no longer exists: broker and keeper died, or it was filled by a parent process."""

    code = 13


class ConflictError(WarpoolError):
    """The state does not allow it: already published, closed, being replaced."""

    code = 14


TimeoutError_ = TimedOutError

_CLASSES = {
    cls.code: cls
    for cls in (
        InvalidArgumentError,
        NotFoundError,
        PermissionDeniedError,
        TimedOutError,
        InterruptedCallError,
        OutOfMemoryError,
        LimitReachedError,
        NoBrokerError,
        BrokerVersionError,
        ProtocolError,
        StorageError,
        UnsupportedError,
        LostError,
        ConflictError,
    )
}


def from_status(code: int, message: str) -> WarpoolError:
    """The exception for a status; a status of a newer library becomes a plain WarpoolError with that code."""
    cls = _CLASSES.get(code, WarpoolError)
    error = cls(message)
    error.code = code
    return error
