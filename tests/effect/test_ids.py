"""Ids are unique in all threads and processes, and grow in the order in which they were made."""

import multiprocessing
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from random import Random
from uuid import RFC_4122, UUID

import pytest

from chatmemory.effect import Success
from chatmemory.effect.context import Context
from chatmemory.effect.effect import Effect
from chatmemory.effect.services.clock import ClockTag, SystemClock, TestClock
from chatmemory.effect.services.ids import Ids, IdsTag, SequentialIds, TimeOrderedIds
from chatmemory.effect.services.schedule import RandomTag


def test_ids_are_unique_and_sort_in_the_order_in_which_they_were_made() -> None:
    ids, others = TimeOrderedIds(), TimeOrderedIds()
    made = [ids.message_id() for _ in range(100_000)]
    assert made == sorted(set(made))
    assert not {others.next_id() for _ in range(1000)} & {ids.next_id() for _ in range(1000)}


def test_an_id_is_a_uuid_of_version_7_with_the_time_of_its_making() -> None:
    earliest = time.time_ns() // 1_000_000
    uuid = UUID(TimeOrderedIds().next_id())
    assert (uuid.version, uuid.variant) == (7, RFC_4122)
    assert earliest <= uuid.int >> 80 <= time.time_ns() // 1_000_000


def test_ids_go_on_in_order_when_the_clock_of_the_machine_is_set_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ids, now = TimeOrderedIds(), time.time_ns()
    before = ids.next_id()
    monkeypatch.setattr(time, "time_ns", lambda: now - 3600 * 10**9)
    assert before < ids.next_id()


def test_ids_go_on_in_order_when_the_counter_of_a_millisecond_is_used_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ids, now = TimeOrderedIds(), time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: now)
    before = ids.next_id()
    ids._count = 0xFFFF_FFFE
    last, after = ids.next_id(), ids.next_id()
    assert before < last < after
    assert len(after) == len(last) == 36


def test_many_threads_share_one_maker() -> None:
    ids = TimeOrderedIds()

    def make(_: int) -> list[str]:
        return [ids.next_id() for _ in range(5000)]

    with ThreadPoolExecutor(4) as pool:
        batches = list(pool.map(make, range(4)))
    assert all(batch == sorted(batch) for batch in batches)
    assert len({made for batch in batches for made in batch}) == 20_000


@pytest.mark.skipif(sys.platform == "win32", reason="no fork on Windows")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_forked_child_makes_other_ids_than_its_parent() -> None:
    ids = TimeOrderedIds()
    ids.next_id()
    fork = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    child = fork.Process(target=lambda: sender.send([ids.next_id() for _ in range(1000)]))
    with ids._lock:  # as if another thread were making an id at the moment of the fork
        child.start()
    ours = [ids.next_id() for _ in range(1000)]
    assert receiver.poll(10), "the child hangs"
    assert not set(receiver.recv()) & set(ours)
    child.join()


def test_sequential_ids_can_be_foreseen() -> None:
    ids: Ids = SequentialIds()
    made = [ids.message_id(), ids.message_id(), ids.next_id(), ids.message_id()]
    assert made == ["message-0001", "message-0002", "id-0001", "message-0003"]


def test_ids_random_and_the_clock_are_references_that_a_test_may_replace() -> None:
    ids, random, clock = SequentialIds(), Random(7), TestClock()
    assert isinstance(Effect.service(IdsTag).run_sync().unwrap(), TimeOrderedIds)
    assert Effect.service(IdsTag).provide(Context.of(IdsTag, ids)).run_sync() == Success(ids)
    assert 0 <= Effect.service(RandomTag).run_sync().unwrap().random() < 1
    assert Effect.service(RandomTag).provide(Context.of(RandomTag, random)).run_sync() == Success(random)
    assert isinstance(Effect.service(ClockTag).run_sync().unwrap(), SystemClock)
    assert Effect.service(ClockTag).provide(Context.of(ClockTag, clock)).run_sync() == Success(clock)
