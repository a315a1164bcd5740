# SPDX-License-Identifier: Apache-2.0
"""create, fill, publish: without a copy, read-only afterwards, dropped on failure."""

from __future__ import annotations

import gc
import os
import threading
from typing import Any

import numpy as np
import pytest
import warpool
from dlpack_abi import Capsule
from values import DTYPES, SHAPES, numbers, same_bytes


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_shape_can_be_filled_and_is_published_in_its_order(dtype: str, order: Any) -> None:
    for shape in SHAPES:
        x = np.array(numbers(shape, dtype), order=order)
        with warpool.create("d", shape, dtype, order) as draft:
            assert draft.numpy().flags[f"{order}_CONTIGUOUS"]
            assert not draft.numpy().any()
            draft[...] = x
        got = warpool.get("d")
        assert same_bytes(got, x), shape
        assert got.numpy().flags[f"{order}_CONTIGUOUS"]


def test_with_publishes_at_the_end_and_not_before() -> None:
    with warpool.create("d", (100, 200)) as draft:
        assert draft.state == "filling"
        assert draft.version is None
        assert warpool.ls() == []
    assert draft.state == "published"
    assert draft.version == 1
    assert warpool.get("d").version == 1


def test_an_exception_drops_the_draft() -> None:
    with pytest.raises(RuntimeError, match="mine"), warpool.create("d", 100_000) as draft:
        raise RuntimeError("mine")
    assert draft.state == "dropped"
    assert warpool.ls() == []
    with pytest.raises(warpool.ConflictError, match="dropped"):
        draft.publish()
    assert warpool.status()["memory_drafts"] == 0


def test_without_with_publish_returns_the_version() -> None:
    draft = warpool.create("d", 3, "int32", ttl=3600, mode=0o640, attrs={"unit": "mV"})
    draft[:] = [1, 2, 3]
    assert draft.publish() == 1
    facts = warpool.info("d")
    assert (facts.mode, facts.attrs) == (0o640, {"unit": "mV"})
    assert facts.expires_in is not None
    assert 3500 < facts.expires_in <= 3600
    with pytest.raises(warpool.ConflictError, match="published as version 1"):
        draft.publish()
    with pytest.raises(warpool.ConflictError, match="next version"):
        draft[0] = 5


def test_publishing_inside_with_is_enough() -> None:
    with warpool.create("d", 3) as draft:
        draft.publish()
    assert warpool.get("d").version == 1


@pytest.mark.parametrize("size", [100, 100_000])
def test_writes_after_publishing_stay_private(size: int) -> None:
    with warpool.create("d", size) as draft:
        view = draft.numpy()
        view[:] = 1
    view[:] = 2
    assert view[-1] == 2
    assert (warpool.get("d")[:] == 1).all()
    assert not np.asarray(draft).flags.writeable


def test_no_copy_is_made() -> None:
    with warpool.create("d", 100_000) as draft:
        draft[:] = 1
    got = warpool.get("d")
    assert not got.inline
    assert warpool.stats()["copies"] == {}
    assert warpool.stats()["bytes_shared"] == 800_000


def test_memory_is_aligned() -> None:
    for size in (1, 100_000):
        draft = warpool.create("d", size, "int8")
        assert draft.numpy().ctypes.data % 256 == 0
        draft.drop()


def test_it_works_where_an_array_is_expected() -> None:
    draft = warpool.create("d", (2, 3))
    np.add(np.ones((2, 3)), 1, out=draft)
    assert np.sum(draft) == 12
    np.copyto(draft, np.arange(6.0).reshape(2, 3))
    assert np.concatenate([draft, draft]).shape == (4, 3)
    draft += 1
    assert np.asarray(draft)[1].tolist() == [4, 5, 6]
    draft[0] = 9
    assert draft[0, 1] == 9
    assert (draft.dtype, draft.shape, draft.T.shape, draft.nbytes) == (np.float64, (2, 3), (3, 2), 48)
    assert len(draft) == 2
    assert [row.tolist() for row in draft] == [[9, 9, 9], [4, 5, 6]]
    memoryview(draft)[0, 0] = 1.5
    assert draft[0, 0] == 1.5
    draft.fill(7)
    assert draft.mean() == 7
    assert repr(draft) == "<warpool.Draft 'd' filling: shape (2, 3)>"
    draft.publish()
    assert repr(draft) == "<warpool.Draft 'd' published as version 1: shape (2, 3)>"
    assert not hasattr(draft, "nonsense")


def test_dlpack_gives_writable_memory_while_it_is_filled() -> None:
    draft = warpool.create("d", 100_000)
    for options in ({}, {"max_version": (1, 0)}):
        capsule = Capsule(draft.__dlpack__(**options))
        assert capsule.flags == 0
        assert capsule.address == draft.numpy().ctypes.data
    capsule.array()[:] = 3
    draft.publish()
    assert warpool.get("d")[99_999] == 3
    capsule.array()[:] = 4
    assert warpool.get("d")[99_999] == 3
    with pytest.raises(warpool.ConflictError, match="published"):
        draft.__dlpack__()


def test_a_forgotten_draft_is_dropped_although_a_view_lives() -> None:
    draft = warpool.create("d", 100_000)
    view = draft.numpy()
    assert warpool.status()["memory_drafts"] > 0
    del draft
    gc.collect()
    assert warpool.status()["memory_drafts"] == 0
    view[:] = 1
    assert view.sum() == 100_000


def test_views_outlive_drafts_and_connections() -> None:
    with warpool.connect() as session:
        draft = session.create("d", 100_000)
        view = draft.numpy()
    assert draft.state == "dropped"
    view[:] = 1
    assert view.sum() == 100_000
    with pytest.raises(warpool.ConflictError, match="closed"):
        session.create("d", 3)


@pytest.mark.parametrize("bad", ["f", "K", "", None])
def test_a_bad_order_is_refused(bad: Any) -> None:
    with pytest.raises(warpool.InvalidArgumentError, match="'F'"):
        warpool.create("d", 3, order=bad)


@pytest.mark.parametrize(
    ("shape", "dtype", "message"),
    [
        (-1, "float64", "extents"),
        ((2, 2**63), "float64", "extents"),
        ((1,) * 33, "float64", "at most 32"),
        (3, "datetime64[s]", "cannot be shared"),
        (3, "longdouble", "cannot be shared"),
        (3, ">f8", "big-endian"),
        (3, object, "cannot be shared"),
        (3, "U1", "cannot be shared"),
    ],
)
def test_bad_shapes_and_dtypes_are_refused(shape: Any, dtype: Any, message: str) -> None:
    with pytest.raises(warpool.InvalidArgumentError, match=message):
        warpool.create("d", shape, dtype)


def test_a_shape_of_the_wrong_type_is_a_type_error() -> None:
    for shape in (2.5, "12", (1.5, 2), None):
        with pytest.raises(TypeError, match="shape must be"):
            warpool.create("d", shape)  # type: ignore[arg-type]


def test_a_forked_child_cannot_fill_the_parents_draft() -> None:
    draft = warpool.create("d", 100_000)
    pid = os.fork()
    if pid == 0:
        failures = 0
        for attempt in (lambda: draft[0], draft.publish, lambda: draft.__setitem__(0, 1), lambda: memoryview(draft)):
            try:
                attempt()
            except warpool.LostError:
                failures += 1
        os._exit(0 if failures == 4 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    draft[:] = 1
    assert draft.publish() == 1


def test_two_threads_cannot_publish_the_same_draft() -> None:
    draft = warpool.create("d", 1_000_000)
    outcomes: list[Any] = []

    def publish() -> None:
        try:
            outcomes.append(draft.publish())
        except warpool.ConflictError as error:
            outcomes.append(type(error))

    threads = [threading.Thread(target=publish) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, outcomes)) == sorted(map(str, [1] + [warpool.ConflictError] * 3))


@pytest.mark.broker("--max-memory", "1M")
def test_beyond_the_budget_it_is_refused_and_the_message_names_the_holder() -> None:
    warpool.put("mine/big", np.zeros(100_000, np.uint8))
    with pytest.raises(warpool.OutOfMemoryError, match=rf"by .*pid {os.getpid()}"):
        warpool.create("d", 2_000_000, "uint8")
    with pytest.raises(MemoryError):
        warpool.put("d", np.zeros(2_000_000, np.uint8))


@pytest.mark.broker("--max-memory", "1M")
def test_waiting_for_the_budget_ends_when_memory_is_given_back() -> None:
    warpool.put("big", np.zeros(900_000, np.uint8))
    with pytest.raises(warpool.TimedOutError):
        warpool.create("d", 500_000, "uint8", wait=0.05)
    timer = threading.Timer(0.2, warpool.rm, ("big",))
    timer.start()
    draft = warpool.create("d", 500_000, "uint8", wait=20)
    timer.join()
    draft.drop()
