# SPDX-License-Identifier: Apache-2.0
"""Two users and one broker for all of them. Needs root, which may become either."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import actors
import brokers
import cwarpool
import pytest

ANN, BEN, GROUP = 41_001, 41_002, 41_900
# One publishes under plain names only, so a name with a user before it is no name there.
DENIED = (cwarpool.PERMISSION_DENIED, cwarpool.NOT_FOUND, cwarpool.INVALID_ARGUMENT)

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to act as two other users")


@pytest.fixture(scope="module")
def installed() -> Iterator[Path]:
    with actors.installed() as folder:
        yield folder


@pytest.fixture
def broker() -> Iterator[brokers.Broker]:
    with brokers.running("--max-memory", "64M", private=False) as running:
        yield running


@pytest.fixture
def ann(broker: brokers.Broker, installed: Path) -> Iterator[actors.Actor]:
    with actors.Actor(installed, broker.socket, "ann", uid=ANN, groups=[GROUP]) as actor:
        yield actor


@pytest.fixture
def ben(broker: brokers.Broker, installed: Path) -> Iterator[actors.Actor]:
    with actors.Actor(installed, broker.socket, "ben", uid=BEN, groups=[GROUP]) as actor:
        yield actor


def test_private_arrays(ann: actors.Actor, ben: actors.Actor) -> None:
    ben.tell("watched", f"{ANN}:*", cwarpool.ALL_USERS, 500)
    assert ben.hear() == "watching"
    for size in (100, 100_000):
        ann.ask("put", f"secret{size}", os.urandom(size).hex())
    assert ben.hear() == [], "watching shows what may not be read"
    for size in (100, 100_000):
        name = f"{ANN}:secret{size}"
        assert ben.code("get", name) == cwarpool.NOT_FOUND, "even that it exists is private"
        assert ben.code("get", name, 1) == cwarpool.NOT_FOUND
        assert ben.code("get", f"secret{size}") == cwarpool.NOT_FOUND
        for command in (
            ("remove", name),
            ("chmod", name, 0o644),
            ("expire", name, 1),
            ("put", name, "00"),
            ("create", name, 10),
        ):
            assert ben.code(*command) in DENIED, command
    assert ben.ask("list") == {} and ben.ask("list", "*", cwarpool.ALL_USERS) == {}
    assert ben.ask("list", f"{ANN}:*") == {}
    # What a missing name and a hidden one say must not differ.
    with pytest.raises(cwarpool.WarpoolError) as hidden:
        ben.ask("get", f"{ANN}:secret100")
    with pytest.raises(cwarpool.WarpoolError) as missing:
        ben.ask("get", f"{ANN}:nothing00")
    assert hidden.value.message.replace("secret100", "nothing00") == missing.value.message
    assert [session["uid"] for session in ben.ask("sessions")] == [BEN]
    assert ann.ask("list") == {"secret100": 1, "secret100000": 1}


def test_arrays_for_all(ann: actors.Actor, ben: actors.Actor) -> None:
    data = os.urandom(100_000).hex()
    ann.ask("put", "open", data, mode=0o644)
    assert ben.ask("get", f"{ANN}:open") == data
    assert ben.ask("list", "*", cwarpool.ALL_USERS) == {f"{ANN}:open": 1}
    assert ben.code("get", "open") == cwarpool.NOT_FOUND, "a plain name is one's own"
    assert ben.code("put", f"{ANN}:open", "00") == cwarpool.INVALID_ARGUMENT
    for command in (("remove", f"{ANN}:open"), ("chmod", f"{ANN}:open", 0o600), ("expire", f"{ANN}:open", 1)):
        assert ben.code(*command) == cwarpool.PERMISSION_DENIED, command
    # The mode goes with the name: a new version is as open as the last.
    ann.ask("put", "open", data)
    assert ben.ask("get", f"{ANN}:open", 2) == data
    ann.ask("chmod", "open", 0o600)
    assert ben.code("get", f"{ANN}:open") == cwarpool.NOT_FOUND
    # Both may use one name.
    ben.ask("put", "open", "42")
    assert ben.ask("get", "open") == "42" and ann.ask("get", "open") == data


def test_arrays_for_a_group(broker: brokers.Broker, installed: Path) -> None:
    # The group of an array is the maker's own; the reader is in it by its list of groups.
    with (
        actors.Actor(installed, broker.socket, uid=ANN) as ann,
        actors.Actor(installed, broker.socket, uid=BEN, groups=[ANN]) as member,
        actors.Actor(installed, broker.socket, uid=BEN) as other,
    ):
        ann.ask("put", "shared", "0102", mode=0o640)
        assert member.ask("get", f"{ANN}:shared") == "0102"
        assert other.code("get", f"{ANN}:shared") == cwarpool.NOT_FOUND
        assert member.code("remove", f"{ANN}:shared") == cwarpool.PERMISSION_DENIED
        ann.ask("chmod", "shared", 0o600)
        assert member.code("get", f"{ANN}:shared") == cwarpool.NOT_FOUND


def test_waiting_for_somebody_else(ann: actors.Actor, ben: actors.Actor) -> None:
    ben.tell("get", f"{ANN}:later", wait_ms=5000)
    ann.ask("put", "later", "01")
    ann.ask("put", "later", "02", mode=0o644)
    assert ben.hear() == "02"
    ben.tell("get", f"{ANN}:never", wait_ms=300)
    ann.ask("put", "never", "01")
    with pytest.raises(cwarpool.WarpoolError) as caught:
        ben.hear()
    assert caught.value.code == cwarpool.TIMED_OUT


def test_login_names(broker: brokers.Broker, ben: actors.Actor) -> None:
    with broker.connect() as root:
        root.put("open", b"x", mode=0o644)
        assert ben.ask("get", "root:open") == "78" and ben.ask("get", "0:open") == "78"
        assert ben.code("get", "no-such-user-here:open") in (cwarpool.NOT_FOUND, cwarpool.INVALID_ARGUMENT)


def test_admin_socket_is_for_its_owner(broker: brokers.Broker, ann: actors.Actor, installed: Path) -> None:
    ann.ask("put", "mine", "01")
    admin = broker.folder.parent / f"{broker.folder.name}-admin" / broker.socket.name
    # A container that gets the socket's folder must not get this one with it.
    assert not any("admin" in entry.name for entry in broker.folder.iterdir())
    assert admin.stat().st_mode & 0o777 == 0o600
    script = "import socket, sys; socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect(sys.argv[1])"
    for uid, works in ((ANN, False), (0, True)):
        tried = subprocess.run(
            ["/usr/bin/python3", "-c", script, str(admin)], user=uid, capture_output=True, cwd="/", check=False
        )
        assert (tried.returncode == 0) == works, tried.stderr
    # Root on the users' socket, as a container's root would come, has no right that follows from the number alone.
    with broker.connect() as root:
        with pytest.raises(cwarpool.WarpoolError) as caught:
            root.get(f"{ANN}:mine")
        assert caught.value.code == cwarpool.NOT_FOUND
    with broker.connect(flags=cwarpool.ADMIN) as administrator:
        with administrator.get(f"{ANN}:mine") as array:
            assert array.bytes() == b"\x01"
        assert {session["uid"] for session in administrator.sessions()} >= {0, ANN}
        administrator.remove(f"{ANN}:mine")


@pytest.fixture
def temporary() -> Iterator[Path]:
    with actors.folder_for_all() as folder:
        folder.chmod(0o1777)
        yield folder


def test_folder_of_somebody_else_is_refused(installed: Path, temporary: Path) -> None:
    """Whoever makes /tmp/warpool-UID first must not become the broker of that user."""
    squatted = temporary / f"warpool-{ANN}"
    squatted.mkdir(mode=0o755)
    os.chown(squatted, BEN, BEN)
    script = f"import sys; sys.path.insert(0, {str(installed)!r}); import cwarpool; cwarpool.Connection(flags=0)"
    environment = {
        "PATH": os.environ["PATH"],
        "TMPDIR": str(temporary),
        "WARPOOL_BUILD_DIR": str(installed),
        "WARPOOL_BROKER": "/bin/true",
    }

    def attempt() -> str:
        done = subprocess.run(
            ["/usr/bin/python3", "-c", script],
            user=ANN,
            group=ANN,
            extra_groups=[],
            env=environment,
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode != 0
        return done.stderr

    if Path("/run/warpool/warpool.sock").exists():
        pytest.skip("a system broker runs on this machine and is found first")
    assert f"belongs to user {BEN}" in attempt()
    # One of the right user, into which others may write, is as bad.
    os.chown(squatted, ANN, ANN)
    squatted.chmod(0o777)
    assert "others may write" in attempt()
    squatted.rmdir()
    squatted.symlink_to("/tmp")
    assert "is not a folder" in attempt()
