"""Numbered turns, each one thing that an agent does to memories: the ids and contents of what is stored tell whether one is
torn, lost or back again after those who took turns were killed or cancelled.
"""

import random
import sqlite3
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import closing
from datetime import timedelta
from typing import Final

import pytest

from chatmemory import Embedding, LongTermMemory, Memory, MemoryChanges, Namespace, NewMemory
from chatmemory.effect import Success
from chatmemory_layers.embedding.local import HASHED_MODEL
from tests.unit.postgres.beside import connected

ASKED: Final = 30  # memories of a run that are recalled when it is checked
BATCH_SIZE: Final = 3
OLDER: Final = Embedding("older", [0.6, 0.8])
COUNTER: Final = "计数"

Kept = dict[str, Memory]
Turn = Callable[[LongTermMemory, Namespace, int], Awaitable[object]]


def word(writer: str, number: int, part: int = 0) -> str:
    return f"{writer}x{number}x{part}"


def id_of(user: Namespace, writer: str, number: int, part: int = 0) -> str:
    """Return the id of a memory; ids are unique in the store, not in the namespace."""
    return f"{user.user}/{writer}/{number}/{part}"


def batch(user: Namespace, writer: str, number: int) -> list[NewMemory]:
    ids = [id_of(user, writer, number, part) for part in range(BATCH_SIZE)]
    said = [f"第{number}批 {word(writer, number, part)}" for part in range(BATCH_SIZE)]
    session = f"{writer}/{number}"
    return [NewMemory(words, id=id_, session_id=session) for id_, words in zip(ids, said, strict=True)]


async def remember(memory: LongTermMemory, user: Namespace, number: int) -> None:
    await memory.remember(user, batch(user, "remember", number)).or_raise()


async def forget(memory: LongTermMemory, user: Namespace, number: int) -> None:
    await memory.remember(user, batch(user, "forget", number)).or_raise()
    await memory.forget_where(user, session_id=f"forget/{number}").or_raise()


async def supersede(memory: LongTermMemory, user: Namespace, number: int) -> None:
    newer = NewMemory(word("supersede", number), id=id_of(user, "supersede", number))
    if number == 0:
        await memory.remember(user, [newer]).or_raise()
    else:
        await memory.supersede(user, id_of(user, "supersede", number - 1), newer).or_raise()


async def put(memory: LongTermMemory, user: Namespace, number: int) -> None:
    await memory.put_value(user, COUNTER, number, content=word("put", number)).or_raise()


async def re_embed(memory: LongTermMemory, user: Namespace, number: int) -> None:
    older = NewMemory(word("embed", number), id=id_of(user, "re_embed", number), embedding=OLDER)
    await memory.remember(user, [older]).or_raise()
    await memory.re_embed(user).or_raise()


async def use(memory: LongTermMemory, user: Namespace, number: int) -> None:
    used = id_of(user, "use", 0)
    if number == 0:
        await memory.remember(user, [NewMemory(word("use", 0), id=used)]).or_raise()
    await memory.record_use(user, [used], use_id=str(number), session_id=f"s{number}").or_raise()


async def retire(memory: LongTermMemory, user: Namespace, number: int) -> None:
    said = NewMemory(word("retire", number), id=id_of(user, "retire", number), attribute="residence")
    await memory.remember(user, [said]).or_raise()


async def forget_one(memory: LongTermMemory, user: Namespace, number: int) -> None:
    first, newer = (NewMemory(one.content, id=one.id) for one in batch(user, "forget_one", number)[:2])
    await memory.remember(user, [first]).or_raise()
    await memory.supersede(user, first.id or "", newer).or_raise()
    await memory.forget(user, newer.id or "").or_raise()


def of_all(user: Namespace) -> Namespace:
    return Namespace(f"{user.user} forget_all")


async def forget_all(memory: LongTermMemory, user: Namespace, number: int) -> None:
    await memory.remember(of_all(user), batch(user, "forget_all", number)).or_raise()
    await memory.forget_all(of_all(user)).or_raise()


async def correct(memory: LongTermMemory, user: Namespace, number: int) -> None:
    said, corrected = word("correct", number), id_of(user, "correct", 0)
    if number == 0:
        await memory.remember(user, [NewMemory(said, id=corrected)]).or_raise()
    else:
        await memory.update(user, corrected, MemoryChanges(content=said)).or_raise()


async def undo(memory: LongTermMemory, user: Namespace, number: int) -> None:
    undone = id_of(user, "undo", 0)
    if number == 0:
        await memory.remember(user, [NewMemory(word("undo", 0), id=undone)]).or_raise()
    else:
        await memory.update(user, undone, MemoryChanges(content=word("undo", number))).or_raise()
        await memory.undo(user, undone).or_raise()


async def restore(memory: LongTermMemory, user: Namespace, number: int) -> None:
    restored, newer = id_of(user, "restore", 0), id_of(user, "restored", number)
    if number == 0:
        await memory.remember(user, [NewMemory(word("restore", 0), id=restored)]).or_raise()
    else:
        replacement = NewMemory(word("restored", number), id=newer)
        await memory.supersede(user, restored, replacement).or_raise()
        await memory.restore(user, restored, instead_of=newer).or_raise()


TURNS: Final[tuple[Turn, ...]] = (
    remember,
    forget,
    forget_one,
    forget_all,
    supersede,
    retire,
    correct,
    undo,
    restore,
    put,
    re_embed,
    use,
)

CHECK_WORDS = "INSERT INTO memory_fts (memory_fts, rank) VALUES ('integrity-check', 1)"
# A vector belongs to a memory, which names its space, and has a number while it can be searched.
SQLITE_DISAGREEMENTS = """
SELECT 'vector', memory_key FROM memory_embedding AS vector LEFT JOIN atomic_memory AS memory ON memory.id = memory_key
    WHERE memory.space_key IS NOT vector.space_key OR (seq IS NOT NULL) IS NOT (memory_type = 'long_term')
UNION ALL
SELECT 'memory', id FROM atomic_memory
    WHERE space_key IS NOT NULL AND id NOT IN (SELECT memory_key FROM memory_embedding)
UNION ALL
SELECT 'use', memory_key FROM memory_use WHERE memory_key NOT IN (SELECT id FROM atomic_memory)
UNION ALL
SELECT 'number', user_key FROM memory_user
    WHERE next_vector <= (SELECT max(seq) FROM memory_embedding JOIN memory_space USING (space_key)
        WHERE memory_space.user_key = memory_user.user_key)
"""
POSTGRES_DISAGREEMENTS = """
SELECT 'vector', memory_key FROM memory_embedding AS vector LEFT JOIN atomic_memory AS memory USING (memory_key)
    WHERE memory.space_key IS DISTINCT FROM vector.space_key
UNION ALL
SELECT 'memory', memory_key FROM atomic_memory
    WHERE space_key IS NOT NULL AND memory_key NOT IN (SELECT memory_key FROM memory_embedding)
UNION ALL
SELECT 'use', memory_key FROM memory_use WHERE memory_key NOT IN (SELECT memory_key FROM atomic_memory)
"""


async def disagreements(address: str) -> list[tuple[object, ...]]:
    """Return where the rows, the index of words and the vectors of a store disagree."""
    if address.startswith("postgresql:"):
        async with connected(address) as server:
            return [tuple(row) for row in await server.fetch(POSTGRES_DISAGREEMENTS)]
    with closing(sqlite3.connect(address)) as connection:
        connection.execute(CHECK_WORDS)
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return connection.execute(SQLITE_DISAGREEMENTS).fetchall()


async def true_now(memory: LongTermMemory, user: Namespace) -> dict[str, Memory]:
    memories: dict[str, Memory] = {}
    after = None
    while True:
        page = await memory.list(user, limit=500, after=after).or_raise()
        memories |= {one.id: one for one in page.memories}
        after = page.next
        if after is None:
            return memories


def numbers(memories: dict[str, Memory], writer: str) -> list[int]:
    """Return the turns of *writer* that left memories, in order, each once."""
    return sorted({int(id_.split("/")[2]) for id_ in memories if f"/{writer}/" in id_})


async def check_turns(memory: LongTermMemory, user: Namespace, acknowledged: Counter[str]) -> None:
    """Assert that what is stored is what was acknowledged; a turn on its way may be there too, whole."""
    memories = await true_now(memory, user)

    def counts(writer: str) -> set[int]:
        return {acknowledged[writer], acknowledged[writer] + 1}

    remembered = numbers(memories, "remember")
    assert remembered == list(range(len(remembered)))
    assert len(remembered) in counts("remember")
    assert set(numbers(memories, "forget")) <= {acknowledged["forget"]}
    for writer in ("remember", "forget"):
        for number in numbers(memories, writer):
            whole = batch(user, writer, number)
            assert [memories[new.id].content for new in whole if new.id] == [new.content for new in whole]

    for writer in ("supersede", "retire"):
        if superseding := numbers(memories, writer):
            (newest,) = superseding
            assert newest + 1 in counts(writer)
            for number in range(newest):
                older = await memory.get(user, id_of(user, writer, number)).or_raise()
                assert older.superseded_by == id_of(user, writer, number + 1)
        assert superseding or not acknowledged[writer]

    await check_forgotten(memory, user, acknowledged, memories)
    await check_changed(memory, user, acknowledged, memories)

    value = await memory.get_value(user, COUNTER).or_raise()
    assert (0 if value is None else value.value + 1) in counts("put")
    if value is not None and value.value:
        moment = value.created_at - timedelta(microseconds=1)
        before = await memory.get_value(user, COUNTER, as_of=moment).or_raise()
        assert before is not None
        assert before.superseded_by == value.id

    embedded = numbers(memories, "re_embed")
    assert len(embedded) in counts("re_embed")
    for number in embedded:
        space = memories[id_of(user, "re_embed", number)].embedding
        assert space is not None
        assert space.model in (
            {HASHED_MODEL} if number < acknowledged["re_embed"] else {HASHED_MODEL, OLDER.model}
        )

    used = memories.get(id_of(user, "use", 0))
    assert (0 if used is None else used.access_count) in counts("use")

    for one in random.sample(sorted(memories.values(), key=lambda one: one.id), min(ASKED, len(memories))):
        recalled = await memory.recall(user, one.content).or_raise()
        (hit,) = [hit for hit in recalled.hits if hit.memory.id == one.id]
        assert hit.signals.lexical == 1
        if one.key is None and one.embedding is not None and one.embedding.model == HASHED_MODEL:
            assert hit.signals.similarity == pytest.approx(1, abs=1e-4)


async def check_forgotten(
    memory: LongTermMemory, user: Namespace, acknowledged: Counter[str], memories: Kept
) -> None:
    """Assert that of what was forgotten nothing is there, neither true nor superseded, but what is on its way, whole."""
    all_there = await true_now(memory, of_all(user))
    assert set(numbers(all_there, "forget_all")) <= {acknowledged["forget_all"]}
    assert len(all_there) in {0, BATCH_SIZE}
    assert set(numbers(memories, "forget_one")) <= {acknowledged["forget_one"]}
    for number in range(acknowledged["forget_one"] + 1):
        older, newer = (id_of(user, "forget_one", number, part) for part in range(2))
        kept = [isinstance(await memory.get(user, id_), Success) for id_ in (older, newer)]
        if number < acknowledged["forget_one"]:
            assert kept == [False, False]
        elif kept[1]:  # what a memory has superseded goes with it
            assert (await memory.get(user, older).or_raise()).superseded_by == newer


async def check_changed(
    memory: LongTermMemory, user: Namespace, acknowledged: Counter[str], memories: Kept
) -> None:
    """Assert that each correction has its version and what was said before, and that what was undone is as it was."""
    for writer in ("correct", "undo"):
        changed = memories.get(id_of(user, writer, 0))
        if changed is None:
            assert not acknowledged[writer]
            continue
        history = await memory.history(user, changed.id).or_raise()
        assert [event.version for event in history.events] == [*range(1, changed.version + 1)]
        said = [one.content for one in history.earlier] + [changed.content]
        assert len(said) == changed.version
        if writer == "correct":
            assert said == [word("correct", number) for number in range(changed.version)]
            assert changed.version in {acknowledged[writer], acknowledged[writer] + 1}
        else:
            for number, content in enumerate(said):
                assert content == word("undo", (number + 1) // 2 if number % 2 else 0)
            assert changed.version - 2 * acknowledged[writer] in {-1, 0, 1}

    older = memories.get(id_of(user, "restore", 0))
    (newer,) = numbers(memories, "restored") or (None,)
    assert not (older and newer)
    assert older or newer or not acknowledged["restore"]
    assert newer in {None, acknowledged["restore"]}
    for number in range(1, acknowledged["restore"]):
        restored = await memory.get(user, id_of(user, "restored", number)).or_raise()
        assert restored.superseded_by == id_of(user, "restore", 0)
