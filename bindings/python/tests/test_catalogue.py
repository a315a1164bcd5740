# SPDX-License-Identifier: Apache-2.0
"""Listing, facts, removal, permissions, time to live, files, sessions and counters."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import warpool
from conftest import Broker
from values import same_bytes


def test_ls_shows_names_sorted_and_by_pattern() -> None:
    for name in ("b", "a/x", "a/y", "c"):
        warpool.put(name, np.zeros((2, 3)))
    assert [item.name for item in warpool.ls()] == ["a/x", "a/y", "b", "c"]
    assert [item.name for item in warpool.ls("a/*")] == ["a/x", "a/y"]
    assert [item.name for item in warpool.ls("[bc]", all_users=True)] == ["b", "c"]
    assert warpool.ls("nothing*") == []


def test_ls_of_more_names_than_one_message_holds() -> None:
    for number in range(2000):
        warpool.put(f"many/{number:04}", number)
    assert [item.name for item in warpool.ls("many/*")] == [f"many/{number:04}" for number in range(2000)]


def test_info_tells_the_facts() -> None:
    before = time.time()
    warpool.put(
        "x", np.asfortranarray(np.zeros((300, 50))), mode="rw-r--r--", ttl=100, attrs={"unit": "mV", "gain": np.float64(2)}
    )
    facts = warpool.info("x")
    assert (facts.name, facts.version, facts.kind, facts.dtype) == ("x", 1, "array", "float64")
    assert (facts.shape, facts.strides) == ((300, 50), (8, 2400))
    assert (facts.mode, facts.owner_uid) == (0o644, os.getuid())
    assert facts.attrs == {"unit": "mV", "gain": 2.0}
    assert facts.nbytes >= 120_000
    assert before - 1 <= facts.created <= time.time() + 1
    assert facts.expires_in is not None
    assert 90 < facts.expires_in <= 100
    assert (facts.maker_pid, facts.maker_alive, facts.maker_language) == (os.getpid(), True, "python")
    assert (facts.inline, facts.removed, facts.fields) == (False, False, {})
    assert repr(facts).startswith("<warpool.Info 'x' version 1: float64 (300, 50), ")


def test_an_array_knows_what_it_was_published_with() -> None:
    warpool.put("x", 1.5, attrs={"unit": "mV"})
    a = warpool.get("x")
    assert (a.name, a.version, a.attrs) == ("x", 1, {"unit": "mV"})
    assert a.owner == warpool.info("x").owner
    warpool.put("y", 1.5)
    assert warpool.get("y").attrs == {}


def test_kinds_and_fields_of_items() -> None:
    warpool.put("t", "text")
    warpool.put("s", {"a": np.zeros((2, 3), "int8"), "b": {"c": "x"}})
    assert (warpool.info("t").kind, warpool.info("t").shape) == ("text", (4,))
    assert warpool.info("s").kind == "struct"
    assert warpool.info("s").fields == {
        "a": ("array", "int8", (2, 3)),
        "b": ("struct", "uint8", ()),
        "b/c": ("text", "uint8", (1,)),
    }


def test_rm_takes_the_name_away_and_views_stay() -> None:
    warpool.put("x", np.ones(100_000))
    a = warpool.get("x")
    warpool.rm("x")
    assert warpool.ls() == []
    assert a[99_999] == 1
    removed = warpool.ls(removed=True)
    assert [(item.name, item.removed) for item in removed] == [("x", True)]
    with pytest.raises(warpool.NotFoundError, match="x"):
        warpool.rm("x")


def test_rm_of_a_version_that_is_not_current_is_refused() -> None:
    warpool.put("x", 1)
    warpool.put("x", 2)
    with pytest.raises(warpool.WarpoolError):
        warpool.rm("x", version=1)
    assert int(warpool.get("x")) == 2
    warpool.rm("x", version=2)


@pytest.mark.parametrize("mode", [0o640, "0640", "640", "0o640", "rw-r-----"])
def test_every_way_to_write_a_mode_means_the_same(mode: Any) -> None:
    warpool.put("x", 1)
    assert warpool.info("x").mode == 0o600
    warpool.chmod("x", mode)
    assert warpool.info("x").mode == 0o640
    warpool.put("y", 1, mode=mode)
    assert warpool.info("y").mode == 0o640


@pytest.mark.parametrize(
    ("mode", "error", "message"),
    [
        (640, ValueError, "did you mean 0o640"),
        (-1, ValueError, "0o600"),
        (0, ValueError, "0o600"),
        ("rw", ValueError, "nine letters"),
        ("rw-rw-rwz", ValueError, "nine letters"),
        ("", ValueError, "nine letters"),
        (True, TypeError, "bool"),
        (6.4, TypeError, "float"),
        (None, TypeError, "None"),
    ],
)
def test_bad_modes_are_refused(mode: Any, error: type[Exception], message: str) -> None:
    warpool.put("x", 1)
    with pytest.raises(error, match=message):
        warpool.chmod("x", mode)


def test_write_permission_for_others_does_not_exist() -> None:
    warpool.put("x", 1)
    with pytest.raises(warpool.InvalidArgumentError):
        warpool.chmod("x", 0o666)


def test_expire_and_ttl_remove_in_time() -> None:
    warpool.put("short", 1, ttl=0.05)
    warpool.put("long", 1, ttl=1000)
    warpool.put("stays", 1)
    warpool.expire("stays", 0.05)
    warpool.expire("long", None)
    deadline = time.monotonic() + 10
    while len(warpool.ls()) > 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert [(item.name, item.expires_in) for item in warpool.ls()] == [("long", None)]


@pytest.mark.parametrize("ttl", [0, -1, float("nan"), float("inf")])
def test_bad_times_to_live_are_refused(ttl: float) -> None:
    with pytest.raises(warpool.InvalidArgumentError, match="ttl"):
        warpool.put("x", 1, ttl=ttl)
    with pytest.raises(TypeError, match="ttl"):
        warpool.put("x", 1, ttl="1")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("attrs", "error", "message"),
    [
        ([1], TypeError, "dict"),
        ({1: 2}, TypeError, "keys must be str"),
        ({"x": object()}, TypeError, "object"),
        ({"x": float("nan")}, ValueError, "NaN"),
        ({"x": "y" * 20_000}, warpool.LimitReachedError, "at most 16384"),
    ],
)
def test_bad_attributes_are_refused(attrs: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        warpool.put("x", 1, attrs=attrs)


@pytest.mark.parametrize("name", ["", "/x", "x/", "a//b", "a/../b", ".", "a b", "ä", "x" * 256, "a\nb"])
def test_bad_names_are_refused(name: str) -> None:
    with pytest.raises(warpool.InvalidArgumentError):
        warpool.put(name, 1)


def test_names_that_are_no_text_are_type_errors() -> None:
    with pytest.raises(TypeError, match="name must be a str, not int"):
        warpool.get(1)  # type: ignore[arg-type]
    with pytest.raises(warpool.InvalidArgumentError, match="NUL"):
        warpool.get("a\0b")
    with pytest.raises(TypeError, match="version must be an int"):
        warpool.get("a", version="1")  # type: ignore[arg-type]
    with pytest.raises(warpool.InvalidArgumentError, match="version is 0"):
        warpool.get("a", version=0)


def test_save_writes_what_numpy_reads_and_load_publishes_it(tmp_path: Path) -> None:
    x = np.asfortranarray(np.arange(60_000.0).reshape(200, 300))
    warpool.put("x", x, attrs={"unit": "mV"})
    warpool.save("x", tmp_path / "x.npy")
    loaded = np.load(tmp_path / "x.npy")
    assert same_bytes(loaded, x)
    assert loaded.flags.f_contiguous
    assert warpool.load(str(tmp_path / "x.npy"), "y", mode=0o640, ttl=100) == 1
    assert same_bytes(warpool.get("y"), x)
    assert warpool.info("y").mode == 0o640
    assert warpool.get("y").attrs == {"unit": "mV"}
    np.save(tmp_path / "other.npy", np.arange(5, dtype=np.int16))
    warpool.load(tmp_path / "other.npy", "z")
    assert same_bytes(warpool.get("z"), np.arange(5, dtype=np.int16))


def test_structs_travel_by_wpool_files(tmp_path: Path) -> None:
    warpool.put("s", {"x": np.arange(3), "t": "text", "inner": {"flag": True}})
    warpool.save("s", tmp_path / "s.wpool")
    warpool.load(tmp_path / "s.wpool", "t")
    got = warpool.get("t")
    assert (got["x"][:].tolist(), got["t"], bool(got["inner"]["flag"])) == ([0, 1, 2], "text", True)


def test_files_that_cannot_be_are_named(tmp_path: Path) -> None:
    warpool.put("x", 1)
    with pytest.raises(warpool.NotFoundError, match=r"absent\.npy"):
        warpool.load(tmp_path / "absent.npy", "y")
    with pytest.raises(warpool.WarpoolError, match="no folder"):
        warpool.save("x", tmp_path / "no folder" / "x.npy")
    (tmp_path / "bad.npy").write_bytes(b"not an array")
    with pytest.raises(warpool.WarpoolError, match=r"bad\.npy"):
        warpool.load(tmp_path / "bad.npy", "y")


def test_sessions_and_status_describe_what_runs(broker: Broker) -> None:
    with warpool.connect(label="second") as second:
        second.put("x", np.zeros(100_000))
        sessions = warpool.sessions()
        labels = [session["label"] for session in sessions]
        assert labels.count("second") == 1
        assert {session["language"] for session in sessions} == {"python"}
        assert all(session["pid"] == os.getpid() for session in sessions)
        status = warpool.status()
        assert status["sessions"] == len(sessions) == 2
    assert (status["arrays"], status["socket"]) == (1, str(broker.socket))
    assert status["memory_published"] >= 800_000
    assert status["memory_used"] <= status["memory_limit"]
    warpool.ping()


def test_stats_count_what_this_session_did() -> None:
    warpool.put("large", np.zeros(100_000))
    warpool.put("small", np.zeros(10))
    a, b = warpool.get("large"), warpool.get("small")
    stats = warpool.stats()
    assert (stats["arrays_published"], stats["arrays_got"]) == (2, 2)
    assert stats["bytes_shared"] >= a.nbytes
    assert stats["bytes_got"] >= a.nbytes + b.nbytes
    assert stats["copies"]["put"]["count"] == 1
    assert stats["copies"]["put"]["bytes"] >= 800_000
    assert stats["copies"]["inline"]["count"] >= 1


def test_conversions_are_counted() -> None:
    warpool.put("x", np.zeros(1000, ">f8"))
    assert warpool.stats()["copies"]["convert"] == {"count": 1, "bytes": 8000}


def test_a_closed_connection_says_so() -> None:
    session = warpool.connect()
    session.put("x", np.ones(100_000))
    a = session.get("x")
    session.close()
    session.close()
    assert session.closed
    assert repr(session) == "<warpool.Connection closed>"
    assert a[0] == 1
    with pytest.raises(warpool.ConflictError, match="closed"):
        session.get("x")


def test_the_default_connection_is_made_anew_after_it_was_closed() -> None:
    warpool.ping()
    warpool._default().close()
    warpool.ping()


@pytest.mark.broker(None)
def test_without_a_broker_and_without_starting_one_the_error_says_so(tmp_path: Path) -> None:
    with pytest.raises(warpool.NoBrokerError, match="nothing") as caught:
        warpool.connect(tmp_path / "nothing.sock", start=False)
    assert isinstance(caught.value, ConnectionError)


def test_every_status_has_its_exception() -> None:
    from warpool import _errors

    names = set()
    for code in range(1, 15):
        error = _errors.from_status(code, "message")
        assert (error.code, str(error)) == (code, "message")
        names.add(error.status)
    assert len(names) == 14
    unknown = _errors.from_status(99, "message")
    assert type(unknown) is warpool.WarpoolError
    assert unknown.code == 99
