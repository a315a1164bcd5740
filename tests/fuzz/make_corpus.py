#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of the fuzz targets to corpus/. Always the same bytes: run it again after a change of a format."""

from __future__ import annotations

import random
import struct
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import wire  # noqa: E402


def framed(*messages: tuple[int, bytes]) -> bytes:
    """Length, flags and bytes, as fuzz_request reads them."""
    return b"".join(struct.pack("<HB", len(message), flags) + message for flags, message in messages)


def requests() -> dict[str, bytes]:
    text = wire.named
    return {
        "put_get": framed((0, wire.publish(2, "a", 5, contents=b"hello")), (0, wire.get(3, "a")), (1, wire.get(4, "a"))),
        "draft": framed(
            (0, wire.create(2, 7, "big", 65537)), (2, wire.publish(3, "big", 65537, draft=7)), (0, wire.get(4, "big"))
        ),
        "wait_cancel": framed(
            (0, wire.get(2, "later", wait=True)),
            (1, wire.publish(3, "later", 1, contents=b"x")),
            (0, wire.get(4, "never", wait=True)),
            (0, wire.request(0, wire.CANCEL, [(0, "Q", 4), (1, "B", 1)])),
        ),
        "names": framed(
            (0, wire.publish(2, "a/b", 1, contents=b"x", attributes='{"a": 1}')),
            (0, text(3, wire.CHMOD, "a/b", (1, "I", 0o644))),
            (0, text(4, wire.EXPIRE, "a/b", (1, "q", 5))),
            (0, text(5, wire.STAT, "a/b")),
            (0, wire.request(6, wire.LIST, [(0, "s", "a*"), (1, "I", 1)])),
            (0, text(7, wire.REMOVE, "1000:a/b")),
        ),
        "watch": framed(
            (1, wire.request(2, wire.WATCH, [(0, "Q", 1), (1, "s", "*"), (2, "I", 1), (3, "B", 1)])),
            (0, wire.publish(3, "w", 1, contents=b"x")),
            (0, wire.request(4, wire.SESSIONS)),
            (0, wire.request(5, wire.STATUS)),
            (1, wire.request(0, wire.UNWATCH, [(0, "Q", 1)])),
        ),
        "memory": framed(
            (0, wire.request(2, wire.SPARE, [(0, "Q", 4096)])), (0, wire.request(0, wire.RELEASE, [(0, "l", [1, 2])]))
        ),
        "parts": framed(
            (
                0,
                wire.publish(
                    2,
                    "s",
                    1,
                    contents=b"x",
                    parts=[[(0, "s", ""), (1, "B", 3), (2, "B", 6), (3, "l", []), (4, "l", [])], wire.part(1, "f")],
                ),
            )
        ),
    }


def item(contents: bytes | None = b"hello", size: int = 5, parts: list[list[wire.Field]] | None = None) -> bytes:
    fields: list[wire.Field] = [
        (0, "s", "name"),
        (1, "I", 1000),
        (2, "Q", 1),
        (3, "Q", 1),
        (4, "Q", size),
        (6, "a", parts if parts is not None else [wire.part(size)]),
        (7, "s", "{}"),
        (10, "s", "python"),
    ]
    if contents is not None:
        fields.append((12, "v", contents))
    return wire.build(fields)


def state() -> list[wire.Field]:
    return [(0, "v", item()), (1, "I", 0o600), (4, "q", -1), (6, "s", "user")]


def replies() -> dict[str, bytes]:
    def reply(kind: int, body: list[wire.Field]) -> bytes:
        return wire.build([(0, "Q", 1), (3, "B", kind), (4, "t", body)])

    return {
        "welcome": reply(1, [(0, "H", 1), (1, "s", "0.1.0"), (5, "l", [3])]),
        "error": wire.build([(0, "Q", 1), (1, "i", 2), (2, "s", "there is no array")]),
        "item": reply(4, state()),
        "items": reply(5, [(0, "a", [state(), state()]), (1, "s", "1000:name")]),
        "sessions": reply(6, [(0, "a", [[(0, "Q", 1), (4, "s", "user")]])]),
        "event": reply(7, [(0, "Q", 1), (1, "B", 1), (2, "s", "name")]),
    }


def names_file() -> dict[str, bytes]:
    def entry(state_word: bytes, name: bytes) -> bytes:
        bytes_ = (24 + len(name) + 7) // 8 * 8
        return (state_word[::-1] + struct.pack("<IIIQ", bytes_, 1000, len(name), 3) + name).ljust(bytes_, b"\0")

    header = struct.pack("<QQQQ", 0x57504E414D455331, 7, 9, 0)
    return {"two": header + entry(b"LIVE", b"a") + entry(b"DEAD", b"lab/b") + entry(b"LIVE", b"c") + bytes(32), "empty": header}


def record(identity: int, blob: bytes, state_number: int = 1, version: int = 1) -> bytes:
    total = (80 + len(blob) + 15) // 16 * 16
    header = struct.pack(
        "<IIIIQQQQqQIIII", 0x57505243, state_number, total, len(blob), identity, version, 5, 85, 0, 0, 1000, 100, 0o600, 0
    )
    return (header + blob).ljust(total, b"\0")


def catalogues() -> dict[str, bytes]:
    memory = item(None, 4096)
    return {
        "two": record(4, item()) + record(5, item(), version=2),
        "removed": record(4, item(), 2) + record(5, item(), 3) + record(6, item(), version=3),
        "twice": record(4, item()) + record(4, item()),
        "memory": record(1, memory) + record(9, memory),
        "broken": record(4, b"no item") + record(5, b""),
    }


def files() -> dict[str, bytes]:
    def npy(header: str, version: int = 1) -> bytes:
        text = (header + "\n").encode()
        length = struct.pack("<H", len(text)) if version == 1 else struct.pack("<I", len(text))
        return b"\x93NUMPY" + bytes([version, 0]) + length + text

    description = item(None, 64)
    pool = b"WPOOLF01" + struct.pack("<Q", len(description)) + description
    prefix = bytes([200, 3])
    return {
        "c": prefix + npy("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }"),
        "f": prefix + npy("{'descr': '<c16', 'fortran_order': True, 'shape': (2, 3, 4), }", 2),
        "scalar": prefix + npy("{'descr': '|b1', 'fortran_order': False, 'shape': (), }", 3),
        "swapped": prefix + npy("{'descr': '>f8', 'fortran_order': False, 'shape': (3,), }"),
        "pool": prefix + pool,
    }


def random_bytes(seed: int, count: int, bytes_: int) -> dict[str, bytes]:
    source = random.Random(seed)
    return {f"random{i}": source.randbytes(bytes_) for i in range(count)}


def main() -> None:
    corpora: dict[str, dict[str, bytes]] = {
        "broker": random_bytes(1, 12, 300),
        "request": requests(),
        "reply": replies(),
        "names_file": names_file(),
        "catalogue": catalogues(),
        "file": files(),
        "names": {
            f"n{i}": text.encode()
            for i, text in enumerate(
                ["*\0a/b", "a?c\0abc", "[a-c]*\0bcd", "[!x]\0y", "**a*b\0xaxb", "[\0[", "a[]]b\0a]b", "lab/*/x\0lab/s3/x"]
            )
        },
        "layout": random_bytes(2, 8, 80),
        "size": {
            f"s{i}": text.encode() for i, text in enumerate(["512M", "4G", "1.5GiB", "80%", "1e3k", "-1", "inf", "0x10T"])
        },
    }
    for target, seeds in corpora.items():
        folder = HERE / "corpus" / target
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in seeds.items():
            (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
