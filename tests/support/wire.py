# SPDX-License-Identifier: Apache-2.0
"""Messages of src/wire/protocol.fbs made by hand, so that tests can also send what the library never would."""

from __future__ import annotations

import array
import os
import socket
import struct
from pathlib import Path
from typing import Any

MESSAGE_BYTES_MAX = 160 * 1024

(HELLO, PING, STATUS, CREATE, DISCARD, PUBLISH, GET, GET_MEMORY, RELEASE, CANCEL, REMOVE) = range(1, 12)
(CHMOD, EXPIRE, LIST, STAT, WATCH, UNWATCH, SESSIONS, SPARE, ACKNOWLEDGE, SHUTDOWN) = range(12, 22)

Field = tuple[int, str, Any]
"""Number of the field in its table, kind, value. Kinds: struct characters for scalars; "s" text, "v" bytes, "l" list of 64-bit
numbers, "t" table (a list of fields), "a" list of tables."""


def build(root: list[Field]) -> bytes:
    """A FlatBuffer with this root table. Everything starts on a multiple of 16, which the format allows everywhere."""
    out = bytearray(8)

    def align(to: int = 16) -> None:
        out.extend(b"\0" * (-len(out) % to))

    def patch(place: int, target: int) -> None:
        struct.pack_into("<I", out, place, target - place)

    def put_counted(count: int, payload: bytes) -> int:
        # The count lies right before the payload, which is aligned.
        align()
        out.extend(b"\0" * 12)
        place = len(out)
        out.extend(struct.pack("<I", count) + payload)
        return place

    def put_value(kind: str, value: Any) -> int:
        if kind == "t":
            return put_table(value)
        if kind == "s":
            data = value.encode() if isinstance(value, str) else value
            return put_counted(len(data), data + b"\0")
        if kind == "v":
            return put_counted(len(value), bytes(value))
        if kind == "l":
            return put_counted(
                len(value), struct.pack(f"<{len(value)}q", *[v - (1 << 64) if v >= 1 << 63 else v for v in value])
            )
        assert kind == "a", kind
        place = put_counted(len(value), b"\0" * 4 * len(value))
        for i, one in enumerate(value):
            patch(place + 4 + 4 * i, put_table(one))
        return place

    def put_table(fields: list[Field]) -> int:
        align()
        slots = max([number for number, _, _ in fields], default=-1) + 1
        offsets = [0] * slots
        for i, (number, _, _) in enumerate(fields):
            offsets[number] = 8 + 8 * i
        vtable = len(out)
        out.extend(struct.pack(f"<HH{slots}H", 4 + 2 * slots, 8 + 8 * len(fields), *offsets))
        align()
        table = len(out)
        out.extend(struct.pack("<i", table - vtable) + b"\0" * (4 + 8 * len(fields)))
        for i, (_, kind, value) in enumerate(fields):
            place = table + 8 + 8 * i
            if len(kind) == 1 and kind in "bBhHiIqQ":
                struct.pack_into("<" + kind, out, place, value)
            else:
                patch(place, put_value(kind, value))
        return table

    patch(0, put_table(root))
    return bytes(out)


def request(number: int, kind: int, body: list[Field] | None = None, *, repeated: bool = False, fds_received: int = 0) -> bytes:
    fields: list[Field] = [
        (0, "Q", number),
        (1, "B", kind),
        (2, "t", body or []),
        (3, "B", int(repeated)),
        (4, "Q", fds_received),
    ]
    return build(fields)


def hello(
    number: int = 1,
    *,
    protocol: int = 1,
    label: str = "hostile",
    held: list[int] | None = None,
    drafts: list[tuple[int, int, str]] | None = None,
    spare: int = 0,
) -> bytes:
    claims = [[(0, "Q", draft), (1, "Q", size), (2, "s", name)] for draft, size, name in drafts or []]
    return request(
        number,
        HELLO,
        [
            (0, "H", protocol),
            (1, "H", protocol),
            (2, "s", "0.1.0"),
            (3, "s", "test"),
            (4, "s", label),
            (5, "s", ""),
            (6, "i", os.getpid()),
            (7, "l", held or []),
            (8, "a", claims),
            (9, "Q", spare),
        ],
    )


def part(size: int, path: str = "") -> list[Field]:
    return [(0, "s", path), (1, "B", 0), (2, "B", 6), (3, "l", [size]), (4, "l", [1]), (5, "Q", 0)]


def create(number: int, draft: int, name: str, size: int, *, wait: bool = False) -> bytes:
    return request(number, CREATE, [(0, "Q", draft), (1, "s", name), (2, "Q", size), (3, "B", int(wait))])


def publish(
    number: int,
    name: str,
    size: int,
    *,
    draft: int = 0,
    contents: bytes | None = None,
    parts: list[list[Field]] | None = None,
    repeated: bool = False,
    flags: int = 0,
    attributes: str = "",
    token: int = 0,
) -> bytes:
    fields: list[Field] = [
        (0, "Q", draft),
        (1, "s", name),
        (2, "Q", size),
        (3, "a", parts if parts is not None else [part(size)]),
        (4, "s", attributes),
        (5, "I", 0),
        (6, "I", flags),
        (9, "Q", token),
    ]
    if contents is not None:
        fields.append((8, "v", contents))
    return request(number, PUBLISH, fields, repeated=repeated)


def get(number: int, name: str, *, wait: bool = False, version: int = 0) -> bytes:
    return request(number, GET, [(0, "s", name), (1, "Q", version), (2, "B", int(wait))])


def named(number: int, kind: int, name: str, *more: Field) -> bytes:
    return request(number, kind, [(0, "s", name), *more])


class Reply:
    """Only what tests look at."""

    def __init__(self, data: bytes, fds: list[int]) -> None:
        self.data = data
        self.fds = fds
        table = struct.unpack_from("<I", data, 0)[0]
        self.number: int = self._scalar(table, 0, "<Q")
        self.code: int = self._scalar(table, 1, "<i")
        self.kind: int = self._scalar(table, 3, "<B")
        self.message = ""
        place = self._field(table, 2)
        if place:
            text = place + struct.unpack_from("<I", data, place)[0]
            length = struct.unpack_from("<I", data, text)[0]
            self.message = data[text + 4 : text + 4 + length].decode(errors="replace")

    def _field(self, table: int, number: int) -> int:
        vtable = table - struct.unpack_from("<i", self.data, table)[0]
        if 4 + 2 * number >= struct.unpack_from("<H", self.data, vtable)[0]:
            return 0
        offset = struct.unpack_from("<H", self.data, vtable + 4 + 2 * number)[0]
        return table + offset if offset else 0

    def _scalar(self, table: int, number: int, kind: str) -> int:
        place = self._field(table, number)
        return int(struct.unpack_from(kind, self.data, place)[0]) if place else 0

    def close(self) -> None:
        for fd in self.fds:
            os.close(fd)
        self.fds = []


class Peer:
    """A plain socket to a broker."""

    def __init__(self, path: str | Path, *, greet: bool = True) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.connect(str(path))
        self.socket.settimeout(5)
        if greet:
            self.send(hello())
            assert self.receive().code == 0

    def send(self, message: bytes, fds: list[int] | None = None) -> None:
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        self.socket.sendmsg([message], rights)

    def receive(self) -> Reply:
        data, rights, _, _ = self.socket.recvmsg(MESSAGE_BYTES_MAX, socket.CMSG_SPACE(4 * 8))
        if not data:
            raise EOFError
        fds: list[int] = []
        for _, _, payload in rights:
            fds.extend(struct.unpack(f"{len(payload) // 4}i", payload[: len(payload) // 4 * 4]))
        return Reply(data, fds)

    def ask(self, message: bytes, fds: list[int] | None = None) -> Reply:
        self.send(message, fds)
        return self.receive()

    def ended(self) -> bool:
        """Has the broker closed the connection? Reads away what was sent before."""
        try:
            while True:
                self.receive().close()
        except (EOFError, ConnectionResetError):
            return True
        except TimeoutError:
            return False

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
