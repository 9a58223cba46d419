"""What every memory repository does with batches, and with a key and its value, where no law says it."""

from functools import partial

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Failure, Success
from chatmemory.errors import RepositoryError
from chatmemory.input.first_answers import RequestKey, under
from chatmemory.input.made_id import made_id
from chatmemory.laws.kit.samples import DAY, HOUR, START
from chatmemory.laws.memories.memory_witness import PUT, remembered
from chatmemory.longterm.memories import Stored
from chatmemory.longterm.memory_repository import MemoryRepository
from tests.contract.noted import EXCEL, MING, listed, note, stored

LATER = START + HOUR


async def test_a_value_replaces_that_of_its_key_in_the_very_namespace_and_no_label_with_the_place_of_another(
    memories: MemoryRepository,
) -> None:
    await memories.store(
        (
            note("old", key="城市", **PUT),
            note("label", key="城市"),
            note("of another key", key="城", **PUT),
            note("another", created_at=LATER),
            remembered("of an app", key="城市", **PUT, namespace=EXCEL),
        )
    ).or_raise()
    taking = note("newest", key="城市", **PUT, replaces="another", created_at=LATER)
    outcomes = await memories.store((taking,)).or_raise()
    assert outcomes == (Stored("newest", superseded=("another", "old")),)
    assert await listed(memories) == ["newest", "of another key", "of an app", "label"]


async def test_no_truth_ends_before_it_began_and_what_will_be_true_is_true_now(
    memories: MemoryRepository,
) -> None:
    await memories.store((note("1"), note("2", replaces="1", created_at=START - HOUR))).or_raise()
    assert (await stored(memories, "1")).superseded_at == START
    await memories.store((note("3", key="城市", **PUT, created_at=LATER),)).or_raise()
    assert await memories.value(MING, "城市").or_raise() is not None
    assert await memories.value(MING, "城市", as_of=START).or_raise() is None
    assert await memories.retire(MING, "城市", now=START).or_raise()
    assert (await stored(memories, "3")).superseded_at == LATER


async def test_of_equally_new_ones_the_last_id_comes_first_and_a_cursor_stays_good_without_its_memory(
    memories: MemoryRepository,
) -> None:
    # By code points: a locale would put "a" before "B", and "茶" elsewhere.
    drafts = [note(name) for name in ("B", "a", "茶", "🙂", "b", "﹏")]
    await memories.store((note("old", created_at=START - DAY), *drafts)).or_raise()
    await memories.store((note("new", created_at=START + DAY),)).or_raise()
    assert await listed(memories) == ["new", "🙂", "﹏", "茶", "b", "a", "B", "old"]
    assert await listed(memories, after=(START, "aa")) == ["a", "B", "old"]
    assert await listed(memories, limit=0) == []


async def test_a_walk_reaches_so_far_as_it_is_told(memories: MemoryRepository) -> None:
    """It counts what the namespace sees, true now or not, and says when the last one was created."""
    drafts = [note(f"{number}", created_at=START + number * DAY) for number in range(4)]
    other = note("other", namespace=EXCEL, created_at=START + 9 * DAY)
    await memories.store((*drafts, other)).or_raise()
    await memories.store((note("new", created_at=START + 4 * DAY, replaces="3"),)).or_raise()
    reach = partial(memories.reach, Namespace("小明", "word"))
    assert await reach(1).or_raise() == START + 4 * DAY
    assert await reach(2).or_raise() == START + 3 * DAY  # which has ended
    assert await reach(5).or_raise() == START
    assert await reach(6).or_raise() is None
    assert await memories.reach(MING, 6).or_raise() == START  # who asks for no app sees them all
    assert await reach(2, after=(START + 3 * DAY, "3")).or_raise() == START + DAY
    assert await reach(2, after=(START + 3 * DAY, "\x01")).or_raise() == START + DAY


async def test_the_key_of_a_request_that_stored_nothing_is_refused_to_another_one(
    memories: MemoryRepository,
) -> None:
    async def asked(request: str, *names: str) -> object:
        with under(RequestKey(user=MING.user, name=made_id("k"), request=request, now=START)):
            return await memories.store(tuple(map(note, names)))

    assert await asked("first") == await asked("first", "echo") == Success(())
    assert await asked("other", "1") == Failure(RepositoryError("store memories", "key_reused"))
    assert await listed(memories) == []
