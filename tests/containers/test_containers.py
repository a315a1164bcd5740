# SPDX-License-Identifier: Apache-2.0
"""Two podman containers and a program outside share arrays over one mounted folder with the socket. Needs root and podman."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import actors
import brokers
import cwarpool
import pytest

ENGINE = ["podman", "--cgroup-manager", "cgroupfs"]
# No image and no network. The limits must be given where the test itself may not raise them.
RUN = ["run", "--rm", "--interactive", "--runtime", "runc", "--network", "none"]
LIMITS = ["--ulimit", "nofile=1024:4096", "--ulimit", "nproc=4096:4096"]
# The container's root is an overlay of this machine's, thrown away with it.
ROOT = ["--rootfs", "/:O"]


def podman(*arguments: str) -> list[str]:
    return [*ENGINE, *RUN, *LIMITS, *arguments]


@pytest.fixture(scope="module")
def why_not() -> str:
    if os.geteuid() != 0:
        return "needs root"
    if shutil.which("podman") is None or shutil.which("runc") is None:
        return "podman or runc is not installed"
    tried = subprocess.run(podman(*ROOT, "/bin/true"), capture_output=True, text=True, timeout=60, check=False)
    return "" if tried.returncode == 0 else f"podman cannot run a container here: {tried.stderr.strip()[-300:]}"


@pytest.fixture(scope="module")
def installed() -> Iterator[Path]:
    with actors.installed() as folder:
        yield folder


@pytest.fixture
def broker(why_not: str) -> Iterator[brokers.Broker]:
    if why_not:
        pytest.skip(why_not)
    with brokers.running("--max-memory", "256M", private=False) as running:
        yield running


def in_container(broker: brokers.Broker, installed: Path, label: str, *options: str) -> actors.Actor:
    mounts = ["-v", f"{broker.folder}:/run/x", "-v", f"{installed}:/opt/actor:ro", "-e", "WARPOOL_BUILD_DIR=/opt/actor"]
    prefix = podman(*mounts, *options, *ROOT)
    # What the actor sees are the paths inside.
    return actors.Actor(Path("/opt/actor"), Path("/run/x") / broker.socket.name, label, prefix=prefix)


def test_arrays_between_containers(broker: brokers.Broker, installed: Path) -> None:
    with (
        in_container(broker, installed, "first") as first,
        in_container(broker, installed, "second") as second,
        broker.connect("outside") as outside,
    ):
        data = os.urandom(300_000)
        assert first.ask("put", "from-first", data.hex()) == 1
        assert second.ask("get", "from-first") == data.hex()
        # The very same memory: one inode of one file system, seen from both containers and from outside.
        places = [actor.ask("hold", "from-first") for actor in (first, second)]
        with outside.get("from-first") as array:
            assert array.bytes() == data
            inode = memory_of(array.data)
        assert [place["inode"] for place in places] == [inode, inode] and places[0]["device"] == places[1]["device"]
        assert "memfd:warpool" in places[0]["path"]
        outside.put("from-outside", b"small")
        assert first.ask("get", "from-outside") == b"small".hex()
        # Waiting works across containers too.
        second.tell("get", "later", wait_ms=10_000)
        first.ask("put", "later", "07")
        assert second.hear() == "07"
        programs = {program["label"]: program for program in outside.sessions()}
        identities = {programs[label]["container"] for label in ("first", "second")}
        assert len(identities) == 2 and all(len(str(identity)) == 12 for identity in identities), programs
        assert programs["outside"]["container"] == ""
        assert {programs[label]["waiting_for"] for label in programs} == {""}
    # Containers that have gone leave their arrays.
    with broker.connect() as after, after.get("from-first") as array:
        assert array.bytes() == data


def memory_of(address: int) -> int:
    for line in Path("/proc/self/maps").read_text().splitlines():
        words = line.split()
        start, end = (int(word, 16) for word in words[0].split("-"))
        if start <= address < end:
            return int(words[4])
    raise AssertionError("not mapped")


def test_root_in_a_container_is_no_administrator(broker: brokers.Broker, installed: Path) -> None:
    """Only the users' socket belongs into a container; its root looks like uid 0 and is just that user."""
    with actors.Actor(installed, broker.socket, "user", uid=41_001) as user, in_container(broker, installed, "boxed") as boxed:
        user.ask("put", "secret", "01")
        assert boxed.code("get", "41001:secret") == cwarpool.NOT_FOUND
        assert boxed.code("remove", "41001:secret") in (cwarpool.NOT_FOUND, cwarpool.PERMISSION_DENIED)


def test_killed_container(broker: brokers.Broker, installed: Path) -> None:
    name = f"warpool-test-{os.getpid()}"
    actor = in_container(broker, installed, "doomed", "--name", name)
    with broker.connect() as outside:
        actor.ask("put", "kept", "00" * (1 << 20))
        subprocess.run([*ENGINE, "kill", name], capture_output=True, check=True, timeout=30)
        brokers.wait_until(lambda: outside.info().sessions == 1, 10, "end of the container's session")
        with outside.get("kept") as array:
            assert array.bytes() == bytes(1 << 20)
        assert outside.info().memory_drafts == 0 and outside.info().memory_spare == 0
    actor.process.wait(timeout=20)
