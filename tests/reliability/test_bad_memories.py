"""What no memory may be is refused with its place and without harm.

That the rest comes back exactly is law L1; what is large comes back as well.
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from chatmemory import (
    ChatContextBuilder,
    ChatContextService,
    DataValidationError,
    Effect,
    EffectFailed,
    Embedding,
    Failure,
    Instructions,
    LongTermMemory,
    ManagedRuntime,
    MemoryChanges,
    MemoryUpdate,
    Namespace,
    NewMemory,
    Provenance,
    StatedFact,
)
from chatmemory.effect.config.config_error import ConfigError
from chatmemory.input.rules import MAX_CONTENT_CHARACTERS
from chatmemory.longterm.memory_rules import MAX_TAGS
from chatmemory_layers import stacks
from chatmemory_layers.embedding.hashed import hashed
from tests.for_each import for_each
from tests.reliability.store import chat_store, open_memories

MEI = Namespace("小梅", "harbor")
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
NAIVE = datetime(2026, 3, 4, 12)  # noqa: DTZ001  that is what is wrong with it
SURROGATE = "好\ud800"
NAN = float("nan")


# By the field that is wrong; what is wrong inside one follows the dot.
BAD_FIELDS: dict[str, tuple[object, ...]] = {
    "id": ("", "x" * 513, b"x", 7, "a\0", SURROGATE),
    "content": (None, b"x", "", " \n\u3000", "a\0b", SURROGATE, "x" * (MAX_CONTENT_CHARACTERS + 1)),
    "key": ("", 7, SURROGATE),
    "value": ({"a"}, b"x", NAN, 2**1025),
    "value.a": ({"a": SURROGATE}, {"a": object()}),
    "category": ("opinion", "", 7, ["fact"]),
    "tags": ("tag", None, {"a"}, ("a", "a"), tuple(map(str, range(MAX_TAGS + 1)))),
    "tags[1]": (("a", ""), ("a", SURROGATE), ("a", 7)),
    "confidence": (NAN, -0.01, 1.01, float("inf"), True, "0.9", None),
    "source": (None, "rumour"),
    "role": (None, "robot"),
    "session_id": ("", b"x", SURROGATE),
    "memory_type": ("eternal", 7),
    "pinned": (None, 1, "false"),
    "provenance": (None, {"message_ids": ["m1"]}),
    "provenance.message_ids": (Provenance("m1"), Provenance(None), Provenance({"m1"})),
    "provenance.message_ids[0]": (Provenance(("",)), Provenance((SURROGATE,))),
    "provenance.extractor": (Provenance(extractor="\0"),),
    "provenance.path": (Provenance(path=SURROGATE),),
    "created_at": (NAIVE, "2026-03-04", datetime.min.replace(tzinfo=timezone(timedelta(hours=1)))),
    "embedding": ([1.0, 2.0],),
    "embedding.model": (Embedding("", [1.0]), Embedding(SURROGATE, [1.0])),
}
# Told only where vectors are made of them, which is not before the rest of the batch is as it should be.
BAD_VECTORS: tuple[Any, ...] = (None, 1.0, "1", [], [0.0], [NAN], [1e39], [[1.0]], ["x"], [1.0] * 16_001)

BAD_CALLS: dict[str, Callable[[LongTermMemory], Effect[object, object]]] = {
    "nobody's namespace": lambda memory: memory.recall("mei", "x"),
    "no user": lambda memory: memory.list(Namespace("")),
    "a user that is no text": lambda memory: memory.forget_all(Namespace(None)),
    "a lone surrogate as app": lambda memory: memory.recall(Namespace("mei", SURROGATE), "x"),
    "remembering a text": lambda memory: memory.remember(MEI, "hello"),
    "remembering JSON": lambda memory: memory.remember(MEI, [{"content": "x"}]),
    "an unknown dedup": lambda memory: memory.remember(MEI, [NewMemory("x")], dedup="fuzzy"),
    "a turn of bytes": lambda memory: memory.save_conversation_turn(MEI, b"x", "y", session_id="s"),
    "a turn of no session": lambda memory: memory.save_conversation_turn(MEI, "x", "y", session_id=""),
    "extracting nothing": lambda memory: memory.extract(None),
    "an unknown speaker": lambda memory: memory.auto_save(MEI, "x", role="robot"),
    "an update in JSON": lambda memory: memory.auto_save(MEI, "x", update={"shouldStore": True}),
    "the word false": lambda memory: memory.auto_save(MEI, "x", update=MemoryUpdate("false")),
    "an update of texts": lambda memory: memory.auto_save(MEI, "x", update=MemoryUpdate(True, "abc")),
    "a fact of nothing": lambda memory: save_fact(memory, StatedFact("", "v")),
    "a fact of unknown kind": lambda memory: save_fact(memory, StatedFact("k", "v", "opinion")),
    "a doubtless fact": lambda memory: save_fact(memory, StatedFact("k", "v", "fact", "high")),
    "a fact that is no JSON": lambda memory: save_fact(memory, StatedFact("k", object())),
    "asking nothing": lambda memory: memory.recall(MEI, None),
    "asking a lone surrogate": lambda memory: memory.recall(MEI, SURROGATE),
    "a negative limit": lambda memory: memory.recall(MEI, "x", limit=-1),
    "too many": lambda memory: memory.recall(MEI, "x", limit=201),
    "an unknown category": lambda memory: memory.recall(MEI, "x", category="opinion"),
    "one tag for several": lambda memory: memory.recall(MEI, "x", tags="tag"),
    "a naive instant": lambda memory: memory.recall(MEI, "x", as_of=NAIVE),
    "the use of one id": lambda memory: memory.record_use(MEI, "m1"),
    "the use of none": lambda memory: memory.record_use(MEI, None),
    "a use without id": lambda memory: memory.record_use(MEI, ["m1"], use_id=""),
    "a value without key": lambda memory: memory.put_value(MEI, "", 1),
    "a value that is no JSON": lambda memory: memory.put_value(MEI, "k", {1, 2}),
    "a value that says nothing": lambda memory: memory.put_value(MEI, "k", 1, content=" "),
    "a value that says a list": lambda memory: memory.put_value(MEI, "k", 1, content=[]),
    "values since a naive instant": lambda memory: memory.list_values(MEI, as_of=NAIVE),
    "values below a number": lambda memory: memory.list_values(MEI, prefix=7),
    "fewer than none": lambda memory: memory.list(MEI, limit=-1),
    "a cursor that is no text": lambda memory: memory.list(MEI, after=7),
    "a cursor of somebody else": lambda memory: memory.list(MEI, after="next"),
    "a cursor to a lone surrogate": lambda memory: memory.list(
        MEI, after=f"2026-03-04T12:00:00+00:00 {SURROGATE}"
    ),
    "containing nothing": lambda memory: memory.list(MEI, containing=""),
    "containing a number": lambda memory: memory.list(MEI, containing=7),
    "containing a lone surrogate": lambda memory: memory.list(MEI, containing=SURROGATE),
    "containing a novel": lambda memory: memory.list(MEI, containing="很" * 1001),
    "an empty tag": lambda memory: memory.list(MEI, tag=""),
    "reading without id": lambda memory: memory.get(MEI, ""),
    "changes in JSON": lambda memory: memory.update(MEI, "before", {"content": "x"}),
    "a change to nothing": lambda memory: memory.update(MEI, "before", MemoryChanges(content=" ")),
    "a change to no number": lambda memory: memory.update(MEI, "before", MemoryChanges(confidence=NAN)),
    "a negative version": lambda memory: memory.update(MEI, "before", MemoryChanges(), expected_version=-1),
    "superseding by a text": lambda memory: memory.supersede(MEI, "before", "x"),
    "promoting nothing": lambda memory: memory.promote(MEI, None),
    "pinned, perhaps": lambda memory: memory.pin(MEI, "before", pinned="no"),
    "forgetting nothing": lambda memory: memory.forget(MEI, ""),
    "forgetting from nowhere": lambda memory: memory.forget_where(MEI),
    "forgetting a path of bytes": lambda memory: memory.forget_where(MEI, session_id="s", path=b""),
    "the end of no session": lambda memory: memory.end_session(MEI, None),
    "re-embedding fewer than none": lambda memory: memory.re_embed(MEI, limit=-1),
    "re-embedding from nowhere": lambda memory: memory.re_embed(MEI, after=b"x"),
}

BAD_CONTEXTS: dict[str, Callable[[ChatContextBuilder], Effect[object, object]]] = {
    "nobody's": lambda contexts: contexts.build("mei", "c", "x"),
    "of no conversation": lambda contexts: contexts.build(MEI, "", "x"),
    "without a message": lambda contexts: contexts.build(MEI, "c", None),
    "instructions as text": lambda contexts: contexts.build(MEI, "c", "x", instructions="be kind"),
    "a system prompt of None": lambda contexts: contexts.build(
        MEI, "c", "x", instructions=Instructions(system=None)
    ),
    "a scenario that no model reads": lambda contexts: contexts.build(
        MEI, "c", "x", instructions=Instructions(scenario=SURROGATE)
    ),
    "a skill for skills": lambda contexts: contexts.build(
        MEI, "c", "x", instructions=Instructions(skills="be kind")
    ),
    "a skill of bytes": lambda contexts: contexts.build(
        MEI, "c", "x", instructions=Instructions(skills=("a", b"b"))
    ),
}


def save_fact(memory: LongTermMemory, fact: StatedFact) -> Effect[object, object]:
    return memory.auto_save(MEI, "x", update=MemoryUpdate(should_store=True, memories=(fact,)))


def new_memory(**fields: Any) -> NewMemory:
    return NewMemory(**{"content": "x", **fields})


async def test_a_bad_memory_is_refused_with_its_whole_batch_and_harms_nothing() -> None:
    async with open_memories("memory") as memory:
        await memory.remember(MEI, [NewMemory("先前的", id="before")]).or_raise()
        for place, values in BAD_FIELDS.items():
            for value in values:
                bad = new_memory(**{place.partition(".")[0].partition("[")[0]: value})
                refused = await memory.remember(MEI, [NewMemory("good"), bad])
                assert isinstance(refused, Failure), (place, value)
                error = refused.failure()
                assert isinstance(error, DataValidationError), (place, value)
                assert [problem.path for problem in error.problems] == [f"$.memories[1].{place}"], error
                replaced = await memory.supersede(MEI, "before", bad)
                assert replaced.failure().problems[0].path == f"$.replacement.{place}"
        assert [one.id for one in (await memory.list(MEI).or_raise()).memories] == ["before"]


@for_each("vector", BAD_VECTORS)
async def test_what_is_no_vector_is_refused_with_its_whole_batch(vector: Any) -> None:
    async with open_memories("memory") as memory:
        bad = NewMemory("x", embedding=Embedding("mine", vector))
        error = (await memory.remember(MEI, [NewMemory("good"), bad])).failure()
        assert [problem.path for problem in error.problems] == ["$.memories[1].embedding.vector"]
        assert (await memory.list(MEI).or_raise()).memories == ()


async def test_a_bad_argument_is_refused_by_every_method_and_changes_nothing() -> None:
    async with open_memories("memory") as memory:
        await memory.remember(MEI, [NewMemory("先前的", id="before")]).or_raise()
        before = await memory.list(MEI).or_raise()
        for name, call in BAD_CALLS.items():
            assert isinstance((await call(memory)).failure(), DataValidationError), name
        assert await memory.list(MEI).or_raise() == before


async def test_a_context_of_bad_parts_is_refused() -> None:
    async with ManagedRuntime(chat_store("memory")) as runtime:
        contexts = await runtime.service(ChatContextService)
        for name, call in BAD_CONTEXTS.items():
            assert isinstance((await call(contexts)).failure(), DataValidationError), name


@pytest.mark.parametrize("kind", ["字", "numbers"])
async def test_ten_megabytes_are_remembered_recalled_and_forgotten(address: str, kind: str) -> None:
    content = (
        " ".join(map(str, range(1_400_000)))
        if kind == "numbers"
        else kind * (10_500_000 // len(kind.encode()))
    )
    async with open_memories(address) as memory:
        await memory.remember(MEI, [NewMemory(content, id="large"), NewMemory("I like tea")]).or_raise()
        assert (await memory.get(MEI, "large").or_raise()).content == content
        hits = (await memory.recall(MEI, content).or_raise()).hits
        assert hits[0].memory.id == "large"
        assert (await memory.forget(MEI, "large").or_raise()).memories == 1


async def test_a_damaged_vector_costs_its_own_memory_the_similarity_and_no_other(tmp_path: Path) -> None:
    path = str(tmp_path / "chat.db")
    texts = [f"第{number}条 topic{number}" for number in range(50)]
    async with open_memories(path, embedder=hashed) as memory:
        await memory.remember(MEI, [NewMemory(text, id=text) for text in texts]).or_raise()
    damaged = 7
    with closing(sqlite3.connect(path)) as connection:
        noise = b"\xff" * 4 + bytes.fromhex("0000807f") * 2 + bytes.fromhex("ffff7f7f") * 4
        connection.execute(
            "UPDATE memory_embedding SET vector = ? || substr(vector, ?) WHERE seq = ?",
            (noise, len(noise) + 1, damaged + 1),
        )
        connection.execute("UPDATE memory_embedding SET vector = CAST(vector AS BLOB)")
        connection.commit()
    async with open_memories(path, embedder=hashed) as memory:
        for number, text in enumerate(texts):
            first = (await memory.recall(MEI, text).or_raise()).hits[0]
            assert first.memory.id == text
            assert first.signals.similarity == pytest.approx(0 if number == damaged else 1, abs=1e-4)


@pytest.mark.parametrize(
    ("section", "setting"),
    [
        ("retrieval", "limit = 201"),
        ("expiry", "shortTermDays = 800000.0"),
        ("context", "windowMessages = 1000001"),
    ],
)
async def test_a_setting_that_no_call_could_obey_is_refused_when_the_stack_opens(
    section: str, setting: str, tmp_path: Path
) -> None:
    file = tmp_path / "chatmemory.toml"
    file.write_text(f"[memory.{section}]\n{setting}\n")
    with pytest.raises(EffectFailed) as failed:
        async with ManagedRuntime(stacks.from_configuration(file, environment={})):
            pass
    assert isinstance(failed.value.error, ConfigError)
    assert f"memory.{section}.{setting.split(maxsplit=1)[0]}: " in str(failed.value.error)
