# SPDX-License-Identifier: Apache-2.0
"""A program that does what it is told, one JSON line a command: for tests that need other users, limits or containers.

usage: actor.py SOCKET LABEL
"""

from __future__ import annotations

import json
import os
import resource
import sys
from typing import Any

import cwarpool


def perform(connection: cwarpool.Connection, command: str, arguments: list[Any], options: dict[str, Any]) -> Any:
    if command == "get":
        with connection.get(*arguments, **options) as array:
            return array.bytes().hex()
    if command == "hold":
        # Kept until the program ends; says where the memory is: device and inode of the mapping.
        array = connection.get(*arguments, **options)
        with open("/proc/self/maps") as maps:
            for line in maps:
                words = line.split()
                start, end = (int(word, 16) for word in words[0].split("-"))
                if start <= array.data < end:
                    return {"inode": int(words[4]), "device": words[3], "path": " ".join(words[5:])}
        return None
    if command == "put":
        return connection.put(arguments[0], bytes.fromhex(arguments[1]), **options)
    if command == "create":
        return connection.create(*arguments, **options).publish()
    if command == "watched":
        watch = connection.watch(arguments[0], arguments[1])
        print(json.dumps({"value": "watching"}), flush=True)
        events = []
        try:
            while True:
                events.append(watch.next(arguments[2]))
        except cwarpool.WarpoolError as error:
            if error.code != cwarpool.TIMED_OUT:
                raise
        watch.close()
        return events
    if command == "limit_fds":
        # So many more than are open now.
        limit = len(os.listdir("/proc/self/fd")) - 1 + arguments[0]
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
        return limit
    if command == "info":
        info = connection.info()
        return {name: getattr(info, name) for name in ("sessions", "memory_used", "memory_drafts", "arrays")}
    return getattr(connection, command)(*arguments, **options)


def main() -> None:
    connection = cwarpool.Connection(sys.argv[1], label=sys.argv[2])
    print(json.dumps({"value": os.getpid()}), flush=True)
    for line in sys.stdin:
        command, arguments, options = json.loads(line)
        try:
            answer = {"value": perform(connection, command, arguments, options)}
        except cwarpool.WarpoolError as error:
            answer = {"code": error.code, "message": error.message}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
