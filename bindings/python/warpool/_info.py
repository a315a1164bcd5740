# SPDX-License-Identifier: Apache-2.0
"""Facts about published items, and events on names."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    PartFacts = tuple[str, int, str, tuple[int, ...], tuple[int, ...]]

_KINDS = ("array", "text", "chars", "struct", "sparse")
_INLINE, _REMOVED, _WHILE_USED = 1, 2, 4


class Info:
    """Facts about one published item, as of the moment it was asked for."""

    __slots__ = (
        "_attrs_json",
        "_parts",
        "created",
        "expires_in",
        "flags",
        "id",
        "maker_alive",
        "maker_label",
        "maker_language",
        "maker_pid",
        "mode",
        "name",
        "nbytes",
        "owner",
        "owner_uid",
        "version",
        "viewers",
    )

    def __init__(
        self,
        name: str,
        owner: str,
        owner_uid: int,
        version: int,
        id: int,
        nbytes: int,
        mode: int,
        created: float,
        expires_in: float | None,
        viewers: int,
        parts: tuple[PartFacts, ...],
        attrs_json: str,
        maker_pid: int,
        maker_alive: bool,
        maker_language: str,
        maker_label: str,
        flags: int,
    ) -> None:
        self.name = name
        self.owner = owner
        self.owner_uid = owner_uid
        self.version = version
        self.id = id
        self.nbytes = nbytes
        self.mode = mode
        self.created = created
        self.expires_in = expires_in
        self.viewers = viewers
        self._parts = parts
        self._attrs_json = attrs_json
        self.maker_pid = maker_pid
        self.maker_alive = maker_alive
        self.maker_language = maker_language
        self.maker_label = maker_label
        self.flags = flags

    @property
    def kind(self) -> str:
        """ "array", "text", "chars", "struct" or "sparse"."""
        return _kind(self._parts[0][1])

    @property
    def dtype(self) -> str:
        """Name of the element type of an array or sparse matrix ("uint8" for others)."""
        return self._parts[0][2]

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of an array or sparse matrix, bytes of a text, () for a struct."""
        return self._parts[0][3]

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one index to the next along each dimension of an array."""
        return self._parts[0][4]

    @property
    def fields(self) -> dict[str, tuple[str, str, tuple[int, ...]]]:
        """For a struct or sparse matrix: path of each part -> (kind, dtype, shape)."""
        return {path: (_kind(kind), dtype, shape) for path, kind, dtype, shape, _ in self._parts if path}

    @property
    def attrs(self) -> dict[str, Any]:
        """Attributes it was published with, as a new dict."""
        if not self._attrs_json:
            return {}
        import json

        result: dict[str, Any] = json.loads(self._attrs_json)
        return result

    @property
    def inline(self) -> bool:
        """Whether the bytes travel in messages (items of up to 64 KiB)."""
        return bool(self.flags & _INLINE)

    @property
    def removed(self) -> bool:
        """Removed or replaced, but still viewed by a program."""
        return bool(self.flags & _REMOVED)

    def __repr__(self) -> str:
        what = f"{self.dtype} {self.shape}" if self.kind in ("array", "sparse") else self.kind
        kind = "sparse " if self.kind == "sparse" else ""
        facts = f"{kind}{what}, {self.nbytes} bytes, mode {self.mode:04o}, owner {self.owner}"
        return f"<warpool.Info {self.name!r} version {self.version}: {facts}>"


class Event:
    """Something that happened to a name: ``kind`` is "published", "removed" or "overflow".

    After "overflow" events are missing, because this program read too slowly: list the names again.
    """

    __slots__ = ("kind", "name", "owner_uid", "version")

    def __init__(self, kind: str, name: str, version: int, owner_uid: int) -> None:
        self.kind = kind
        self.name = name
        self.version = version
        self.owner_uid = owner_uid

    def __repr__(self) -> str:
        return f"<warpool.Event {self.kind} {self.name!r} version {self.version}>"


def _kind(number: int) -> str:
    return _KINDS[number] if number < len(_KINDS) else f"kind {number}"
