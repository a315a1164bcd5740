# SPDX-License-Identifier: Apache-2.0
"""Clients that mean harm. After each of them the broker serves a normal client within a second and has kept nothing of theirs."""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import random
import socket
import time
from collections.abc import Iterator

import brokers
import cwarpool
import pytest

import wire

SEED = int(os.environ.get("WARPOOL_SEED", "20261201"))
# A catalogue segment that is started meanwhile, and pages of the allocator that it keeps for itself.
FDS_SLACK = 1
KIB_SLACK = 6 * 1024


@pytest.fixture(scope="module")
def broker() -> Iterator[brokers.Broker]:
    with brokers.running("--max-memory", "256M", fd_limit=1024) as running:
        yield running


@pytest.fixture(autouse=True)
def unharmed(broker: brokers.Broker) -> Iterator[None]:
    """Everything that a hostile client could take is as it was before."""
    print("seed", SEED)
    with broker.connect("normal") as normal:
        before = normal.info()
        fds, kib = brokers.open_fds(broker.broker_pid), brokers.resident_kib(broker.broker_pid)
        yield
        for name in normal.list():
            normal.remove(name)
        brokers.wait_until(lambda: normal.info().sessions == before.sessions, 5, "end of the hostile sessions")
        after = broker.refresh(normal)
        assert after.restarts == before.restarts, "the broker was brought down:\n" + broker.log_text()[-2000:]
        assert after.memory_used == 0 and after.arrays == 0
        assert brokers.open_fds(broker.broker_pid) <= fds + FDS_SLACK
        assert brokers.resident_kib(broker.broker_pid) <= kib + KIB_SLACK
    assert_serves(broker)


def assert_serves(broker: brokers.Broker) -> None:
    """A client that connects now is served, end to end, within a second."""
    start = time.monotonic()
    with broker.connect("fresh") as fresh:
        data = os.urandom(100_000)
        fresh.put("served", data)
        with fresh.get("served") as array:
            assert array.bytes() == data
        fresh.remove("served")
    assert time.monotonic() - start < 1


def is_ended_by(broker: brokers.Broker, message: bytes, fds: list[int] | None = None, greet: bool = True) -> bool:
    with wire.Peer(broker.socket, greet=greet) as peer:
        try:
            peer.send(message, fds)
        except (BrokenPipeError, ConnectionResetError):
            return True
        peer.socket.settimeout(0.2)
        return peer.ended()


def make_memory(
    size: int, *, seals: int = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE, allocate: bool = True
) -> int:
    fd = os.memfd_create("hostile", os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
    os.ftruncate(fd, size)
    if allocate:
        os.posix_fallocate(fd, 0, size)
    if seals:
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
    return fd


VALID = [
    wire.publish(9, "a", 5, contents=b"hello"),
    wire.create(9, 3, "b", 70_000),
    wire.get(9, "a", wait=True),
    wire.request(9, wire.LIST, [(0, "s", "*"), (1, "I", 3)]),
    wire.named(9, wire.STAT, "a"),
    wire.named(9, wire.CHMOD, "a", (1, "I", 0o644)),
    wire.named(9, wire.EXPIRE, "a", (1, "q", 100)),
    wire.request(9, wire.WATCH, [(0, "Q", 1), (1, "s", "*"), (3, "B", 1)]),
    wire.request(9, wire.SESSIONS, [(0, "s", "")]),
    wire.request(9, wire.RELEASE, [(0, "l", [1, 2, 3])]),
    wire.request(9, wire.CANCEL, [(0, "Q", 9)]),
    wire.request(9, wire.SPARE, [(0, "Q", 4096)]),
    wire.hello(9, held=[1, 2], drafts=[(1, 70_000, "c")]),
]


def test_random_bytes(broker: brokers.Broker) -> None:
    source = random.Random(SEED)
    for greet in (False, True):
        for _ in range(150):
            message = source.randbytes(source.choice([1, 4, 8, 60, 500, 20_000]))
            assert is_ended_by(broker, message, greet=greet)


def test_truncated_messages(broker: brokers.Broker) -> None:
    for message in VALID:
        for length in range(1, len(message), max(1, len(message) // 12)):
            # A cut that removes padding alone leaves a message that is whole; it must then be answered or ignored, not more.
            with wire.Peer(broker.socket) as peer, contextlib.suppress(ConnectionError):
                peer.send(message[:length])


def test_changed_messages(broker: brokers.Broker) -> None:
    source = random.Random(SEED + 1)
    peer = wire.Peer(broker.socket)
    for _ in range(3000):
        message = bytearray(source.choice(VALID))
        for _ in range(source.choice([1, 1, 2, 8])):
            message[source.randrange(len(message))] = source.choice([0, 1, 0x7F, 0x80, 0xFF, source.randrange(256)])
        try:
            peer.send(bytes(message))
        except ConnectionError:
            peer.close()
            peer = wire.Peer(broker.socket)
        # What was answered is read, so that the changes reach the broker and not its patience with readers.
        peer.socket.setblocking(False)
        with contextlib.suppress(BlockingIOError, EOFError, ConnectionError):
            while True:
                peer.receive().close()
        peer.socket.settimeout(5)
    peer.close()


def test_oversized_messages(broker: brokers.Broker) -> None:
    for size in (wire.MESSAGE_BYTES_MAX + 1, 200_000):
        whole = wire.request(9, wire.PING)
        assert is_ended_by(broker, whole.ljust(size, b"\0"))
    # The largest that is allowed is only a ping with a long tail.
    with wire.Peer(broker.socket) as peer:
        assert peer.ask(wire.request(9, wire.PING).ljust(wire.MESSAGE_BYTES_MAX, b"\0")).code == cwarpool.OK


def test_replayed_requests(broker: brokers.Broker) -> None:
    with wire.Peer(broker.socket) as peer:
        draft = wire.create(2, 5, "d", 70_000)
        assert peer.ask(draft).code == cwarpool.OK
        # The same once more is a repetition, charged once; another size under this number is a mistake.
        assert peer.ask(draft).code == cwarpool.OK
        assert peer.ask(wire.create(2, 5, "d", 80_000)).code == cwarpool.INVALID_ARGUMENT
        with broker.connect("reader") as reader:
            assert reader.info().memory_drafts == 73_728
        # One number for many waiting requests: refused each time, never queued.
        peer.send(wire.get(3, "never", wait=True))
        for i in range(3000):
            assert peer.ask(wire.get(3, f"never{i}", wait=True)).code == cwarpool.PROTOCOL_ERROR
        assert peer.ask(wire.request(0, wire.CANCEL, [(0, "Q", 3)])).code == cwarpool.INTERRUPTED
        # A publish that claims to be a repetition of one that never was is a first one.
        assert peer.ask(wire.publish(4, "x", 1, contents=b"1", repeated=True, token=77)).code == cwarpool.OK


def test_more_waiting_requests_than_allowed(broker: brokers.Broker) -> None:
    with wire.Peer(broker.socket) as peer:
        for i in range(1024):
            peer.send(wire.get(10 + i, f"w{i}", wait=True))
        assert peer.ask(wire.get(5000, "one-more", wait=True)).code == cwarpool.LIMIT_REACHED


def test_reordered_requests(broker: brokers.Broker) -> None:
    assert is_ended_by(broker, wire.request(1, wire.PING), greet=False)
    assert is_ended_by(broker, wire.hello(2))
    with wire.Peer(broker.socket) as peer:
        memory = make_memory(69_632)
        assert peer.ask(wire.publish(2, "d", 69_632, draft=5), [memory]).code == cwarpool.LOST
        os.close(memory)
        peer.send(wire.request(0, wire.RELEASE, [(0, "l", [1, (1 << 63) + 1, 0])]))
        peer.send(wire.request(0, wire.DISCARD, [(0, "Q", 5)]))
        peer.send(wire.request(0, wire.CANCEL, [(0, "Q", 5)]))
        peer.send(wire.request(0, wire.UNWATCH, [(0, "Q", 5)]))
        assert peer.ask(wire.request(3, wire.GET_MEMORY, [(0, "Q", 1)])).code == cwarpool.LOST
        assert peer.ask(wire.request(4, wire.PING)).code == cwarpool.OK


def test_wrong_versions(broker: brokers.Broker) -> None:
    with wire.Peer(broker.socket, greet=False) as peer:
        reply = peer.ask(wire.hello(protocol=99))
        assert reply.code == cwarpool.VERSION_MISMATCH and "update the broker" in reply.message
        reply = peer.ask(wire.hello(protocol=0))
        assert reply.code == cwarpool.VERSION_MISMATCH and "update the library" in reply.message
        # A newer library asks something unknown.
        assert peer.ask(wire.hello()).code == cwarpool.OK
        reply = peer.ask(wire.request(2, 200))
        assert reply.code == cwarpool.VERSION_MISMATCH


SIZE = 69_632  # 17 pages


def wrong_memory() -> dict[str, int]:
    read_end, write_end = os.pipe()
    os.close(write_end)
    with open(__file__) as file:
        regular = os.dup(file.fileno())
    pair = socket.socketpair()
    pair[1].close()
    folder = os.open("/", os.O_RDONLY)
    return {
        "regular file": regular,
        "pipe": read_end,
        "socket": pair[0].detach(),
        "folder": folder,
        "not sealed": make_memory(SIZE, seals=0),
        "write not sealed": make_memory(SIZE, seals=fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW),
        "shrink not sealed": make_memory(SIZE, seals=fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW),
        "grow not sealed": make_memory(SIZE, seals=fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK),
        "too small": make_memory(SIZE - 4096),
        "too large": make_memory(SIZE + 4096),
        "holes": make_memory(SIZE, allocate=False),
    }


def test_wrong_descriptors(broker: brokers.Broker) -> None:
    with wire.Peer(broker.socket) as peer:
        assert peer.ask(wire.create(2, 5, "d", SIZE)).code == cwarpool.OK
        for name, fd in wrong_memory().items():
            reply = peer.ask(wire.publish(3, "d", SIZE, draft=5), [fd])
            os.close(fd)
            assert reply.code == cwarpool.INVALID_ARGUMENT, name
        assert peer.ask(wire.publish(3, "d", SIZE, draft=5)).code == cwarpool.INVALID_ARGUMENT, "no descriptor"
        good = make_memory(SIZE)
        assert peer.ask(wire.publish(3, "d", SIZE, draft=5), [good, good]).code == cwarpool.INVALID_ARGUMENT
        assert peer.ask(wire.publish(3, "d", SIZE + 4096, draft=5), [good]).code == cwarpool.INVALID_ARGUMENT
        assert peer.ask(wire.publish(3, "d", 5, contents=b"hello"), [good]).code == cwarpool.INVALID_ARGUMENT
        # The draft has survived all of it.
        assert peer.ask(wire.publish(3, "d", SIZE, draft=5), [good]).code == cwarpool.OK
        os.close(good)


def test_memory_that_was_written_through_an_old_mapping(broker: brokers.Broker) -> None:
    """A writable shared mapping makes the seal impossible, so that nobody can change what is published."""
    fd = os.memfd_create("hostile", os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, SIZE)
    os.posix_fallocate(fd, 0, SIZE)
    with mmap.mmap(fd, SIZE) as mapping, wire.Peer(broker.socket) as peer:
        with pytest.raises(OSError):
            fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        mapping[0] = 1
        assert peer.ask(wire.create(2, 5, "d", SIZE)).code == cwarpool.OK
        assert peer.ask(wire.publish(3, "d", SIZE, draft=5), [fd]).code == cwarpool.INVALID_ARGUMENT
    os.close(fd)


def test_descriptors_where_none_belong(broker: brokers.Broker) -> None:
    fd = make_memory(4096)
    with wire.Peer(broker.socket) as peer:
        for count in (1, 4, 5, 100, 253):
            assert peer.ask(wire.request(2, wire.PING), [fd] * count).code == cwarpool.OK
    # A message without bytes but with descriptors is the end of a connection, and they are closed.
    with wire.Peer(broker.socket) as peer:
        peer.send(b"", [fd, fd])
        assert peer.ended()
    os.close(fd)


def test_readers_that_stop(broker: brokers.Broker) -> None:
    with broker.connect("maker") as maker, wire.Peer(broker.socket) as peer:
        for i in range(300):
            maker.put(f"listed/{i:03}", b"x" * 100)
        kib = brokers.resident_kib(broker.broker_pid)
        peer.socket.settimeout(0.5)
        sent = 0
        with contextlib.suppress(TimeoutError, BrokenPipeError, ConnectionResetError):
            for _ in range(2000):
                peer.send(wire.request(5, wire.LIST, [(0, "s", "*")]))
                sent += 1
                if sent % 20 == 0:
                    start = time.monotonic()
                    maker.ping()
                    assert time.monotonic() - start < 1
        assert brokers.resident_kib(broker.broker_pid) < kib + 16 * 1024
        assert peer.ended()


def test_gets_that_are_never_read(broker: brokers.Broker) -> None:
    """Each answer carries a descriptor; neither these nor the answers may pile up in the broker."""
    with broker.connect("maker") as maker, wire.Peer(broker.socket) as peer:
        maker.put("big", b"x" * 100_000)
        fds = brokers.open_fds(broker.broker_pid)
        peer.socket.settimeout(0.5)
        with contextlib.suppress(TimeoutError, BrokenPipeError, ConnectionResetError):
            for i in range(20_000):
                peer.send(wire.get(5, "big"))
                if i % 500 == 0:
                    maker.ping()
                    assert brokers.open_fds(broker.broker_pid) <= fds + 16
        with maker.get("big") as array:
            assert array.size == 100_000


def test_thousand_waiting_gets_answered_at_once(broker: brokers.Broker) -> None:
    """More answers with descriptors at one moment than the broker has descriptors left."""
    with broker.connect("maker") as maker, wire.Peer(broker.socket) as peer:
        for i in range(1000):
            peer.send(wire.get(10 + i, "soon", wait=True))
        maker.put("soon", b"x" * 100_000)
        maker.ping()
        for got in range(1, 1001):
            reply = peer.receive()
            assert reply.code == cwarpool.OK and len(reply.fds) == 1
            reply.close()
            if got % 4 == 0:
                peer.send(wire.request(0, wire.ACKNOWLEDGE, fds_received=got))


def test_releases_before_the_answer_was_read(broker: brokers.Broker) -> None:
    """The answers that wait in the broker name an array that is gone by the time they go."""
    with broker.connect("maker") as maker, wire.Peer(broker.socket) as peer:
        maker.put("big", b"x" * 100_000)
        with maker.get("big") as array:
            identity = array.id
        for i in range(20):
            peer.send(wire.get(10 + i, "big"))
        for _ in range(20):
            peer.send(wire.request(0, wire.RELEASE, [(0, "l", [identity])]))
        peer.send(wire.request(5, wire.PING))
        # Eight answers and that to the ping: all requests have been handled, twelve answers wait.
        replies = [peer.receive() for _ in range(9)]
        maker.remove("big")
        peer.send(wire.request(0, wire.ACKNOWLEDGE, fds_received=8))
        replies += [peer.receive() for _ in range(12)]
        assert sum(len(reply.fds) for reply in replies) == 8
        for reply in replies:
            reply.close()


def test_watchers_that_do_not_read(broker: brokers.Broker) -> None:
    with broker.connect("maker") as maker, wire.Peer(broker.socket) as peer:
        for i in range(64):
            assert peer.ask(wire.request(2, wire.WATCH, [(0, "Q", i), (1, "s", "*")])).code == cwarpool.OK
        assert peer.ask(wire.request(2, wire.WATCH, [(0, "Q", 99), (1, "s", "*")])).code == cwarpool.LIMIT_REACHED
        kib = brokers.resident_kib(broker.broker_pid)
        start = time.monotonic()
        for i in range(400):
            maker.put(f"e{i % 4}", b"x")
        assert time.monotonic() - start < 5
        assert brokers.resident_kib(broker.broker_pid) < kib + 8 * 1024


def test_programs_that_never_greet(broker: brokers.Broker) -> None:
    silent = [wire.Peer(broker.socket, greet=False) for _ in range(100)]
    assert_serves(broker)
    for peer in silent:
        peer.close()


def test_more_connections_than_allowed(broker: brokers.Broker) -> None:
    """The connected go on being served; the first that comes after the crowd has gone is served too."""
    with broker.connect("early") as early:
        peers = []
        for i in range(1500):
            peers.append(wire.Peer(broker.socket, greet=False))
            if i % 100 == 0:
                start = time.monotonic()
                early.ping()
                assert time.monotonic() - start < 1
        assert early.info().sessions <= 256, "a quarter of the descriptors is for sessions"
        for peer in peers:
            peer.close()


def test_drafts_of_others(broker: brokers.Broker) -> None:
    with wire.Peer(broker.socket) as owner, wire.Peer(broker.socket) as thief:
        assert owner.ask(wire.create(2, 5, "mine", SIZE)).code == cwarpool.OK
        good = make_memory(SIZE)
        assert thief.ask(wire.publish(3, "mine", SIZE, draft=5), [good]).code == cwarpool.LOST
        thief.send(wire.request(0, wire.DISCARD, [(0, "Q", 5)]))
        assert thief.ask(wire.request(4, wire.PING)).code == cwarpool.OK
        assert owner.ask(wire.publish(3, "mine", SIZE, draft=5), [good]).code == cwarpool.OK
        os.close(good)


def test_requests_of_others(broker: brokers.Broker) -> None:
    with wire.Peer(broker.socket) as waiter, wire.Peer(broker.socket) as thief:
        waiter.send(wire.get(5, "soon", wait=True))
        thief.send(wire.request(0, wire.CANCEL, [(0, "Q", 5)]))
        assert thief.ask(wire.publish(3, "soon", 2, contents=b"ok")).code == cwarpool.OK
        reply = waiter.receive()
        assert (reply.number, reply.code) == (5, cwarpool.OK)


def test_huge_lists(broker: brokers.Broker) -> None:
    many = list(range(1, 20_000))
    with wire.Peer(broker.socket, greet=False) as peer:
        assert peer.ask(wire.hello(held=many)).code == cwarpool.OK
        peer.send(wire.request(0, wire.RELEASE, [(0, "l", many)]))
        hard = ("*a" * 127).encode().decode()
        for i in range(200):
            assert peer.ask(wire.request(5, wire.LIST, [(0, "s", hard), (2, "s", f"0:{'z' * i}")])).code == cwarpool.OK
        assert peer.ask(wire.request(5, wire.LIST, [(0, "s", "x" * 256)])).code == cwarpool.INVALID_ARGUMENT


def test_claims_of_drafts_that_never_were(broker: brokers.Broker) -> None:
    """A greeting after a lost connection says which drafts there are; nobody can have more than the budget."""
    budget = 256 << 20
    claims = [(i, 1 << 46, f"d{i}") for i in range(1, 500)] + [
        (0, 4096, "zero"),
        (900, budget - 4096, "most"),
        (901, 8192, "over"),
    ]
    with broker.connect("normal") as normal, wire.Peer(broker.socket, greet=False) as peer:
        assert peer.ask(wire.hello(drafts=claims, spare=1 << 63)).code == cwarpool.OK
        assert normal.info().memory_drafts == budget - 4096
        assert normal.info().memory_spare <= budget


def test_spare_of_any_size(broker: brokers.Broker) -> None:
    with wire.Peer(broker.socket) as peer:
        for size in (1 << 63, (1 << 64) - 1, 256 << 20):
            assert peer.ask(wire.request(2, wire.SPARE, [(0, "Q", size)])).code == cwarpool.OUT_OF_MEMORY
        assert peer.ask(wire.request(2, wire.SPARE, [(0, "Q", 1 << 20)])).code == cwarpool.OK


def test_names_of_other_users(broker: brokers.Broker) -> None:
    denied = (cwarpool.PERMISSION_DENIED, cwarpool.NOT_FOUND, cwarpool.INVALID_ARGUMENT)
    names = [
        "nobody:a",
        "daemon:a",
        "4294967295:a",
        "4294967296:a",
        "-1:a",
        "1:2:a",
        ":a",
        "nobody:",
        "nobody:../a",
        "a" * 64 + ":a",
    ]
    with wire.Peer(broker.socket) as peer:
        for name in names:
            assert peer.ask(wire.publish(2, name, 1, contents=b"x")).code in denied, name
            assert peer.ask(wire.create(2, 5, name, SIZE)).code in denied, name
            for kind in (wire.REMOVE, wire.CHMOD, wire.EXPIRE, wire.STAT):
                assert peer.ask(wire.named(2, kind, name)).code in denied, name
            assert peer.ask(wire.get(2, name)).code in denied, name


def test_users_that_do_not_exist(broker: brokers.Broker) -> None:
    """What the broker remembers about numbers of users has a bound."""
    kib = brokers.resident_kib(broker.broker_pid)
    with wire.Peer(broker.socket) as peer:
        for uid in range(100_000, 140_000):
            assert peer.ask(wire.get(2, f"{uid}:a")).code == cwarpool.NOT_FOUND
    assert brokers.resident_kib(broker.broker_pid) < kib + 2048


def test_expiry_set_again_and_again(broker: brokers.Broker) -> None:
    with wire.Peer(broker.socket) as peer:
        assert peer.ask(wire.publish(2, "a", 1, contents=b"x")).code == cwarpool.OK
        for i in range(100_000):
            peer.send(wire.named(0, wire.EXPIRE, "a", (1, "q", 10_000_000 + i)))
        assert peer.ask(wire.request(3, wire.PING)).code == cwarpool.OK


def test_descriptions_of_any_size(broker: brokers.Broker) -> None:
    """What was accepted can be read and listed again; what could not be is refused, with the reason."""
    ones = [1] * 32

    def parts(count: int) -> list[list[wire.Field]]:
        struct: list[wire.Field] = [(0, "s", ""), (1, "B", 3), (2, "B", 6), (3, "l", []), (4, "l", [])]
        fields = [
            [(0, "s", f"f{i}"), (1, "B", 0), (2, "B", 6), (3, "l", ones), (4, "l", ones), (5, "Q", 0)] for i in range(count)
        ]
        return [struct, *fields]

    contents = b"x" * 65536
    accepted, refused = 0, 0
    memory = make_memory(SIZE)
    with wire.Peer(broker.socket) as peer, broker.connect("reader", reconnect_ms=1000) as reader:
        for count in range(10, 250, 10):
            for small in (True, False):
                name, size, draft = f"many{small}{count:03}", len(contents) if small else SIZE, 0 if small else count
                message = wire.publish(
                    3, name, size, contents=contents if small else None, draft=draft, parts=parts(count), attributes=" " * 16384
                )
                if len(message) > wire.MESSAGE_BYTES_MAX:
                    continue
                if not small:
                    assert peer.ask(wire.create(4, draft, name, size)).code == cwarpool.OK
                reply = peer.ask(message, None if small else [memory])
                if reply.code != cwarpool.OK:
                    assert reply.code == cwarpool.LIMIT_REACHED and "description" in reply.message
                    refused += 1
                    continue
                accepted += 1
                with reader.get(name) as array:
                    assert array.size == size
                assert name in reader.list()
        assert accepted >= 10 and refused >= 5
    os.close(memory)
