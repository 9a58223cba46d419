"""What may not be stored is refused with its whole batch, without harm, with the place and the cure named.

That the rest comes back exactly is law L1; what is large comes back as well.
"""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from chatmemory import (
    ChatContextService,
    ChatMemory,
    ConversationPage,
    DataValidationError,
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
    NewMessage,
    Provenance,
    StatedFact,
    Success,
)
from chatmemory.errors import ConfigError
from chatmemory.input.rules import MAX_CONTENT_CHARACTERS, MAX_METADATA_DEPTH
from chatmemory.longterm.memory_rules import MAX_TAGS
from chatmemory_layers import stacks
from chatmemory_layers.embedding.local import hashed
from tests.for_each import for_each
from tests.reliability.store import chat_store, open_memories, open_store

MEI = Namespace("小梅", "harbor")
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
NAIVE = datetime(2026, 3, 4, 12)  # noqa: DTZ001  that is what is wrong with it
SURROGATE = "好\ud800"
NAN = float("nan")


def nested(depth: int) -> dict[str, object]:
    value: dict[str, object] = {}
    for _ in range(depth):
        value = {"in": value}
    return value


def said(content: object = "x", role: object = "user", **fields: Any) -> NewMessage:
    return NewMessage(role, content, **fields)


# What is wrong, where in the message, and a word of the advice.
BAD_MESSAGES: dict[str, tuple[Any, str, str]] = {
    "unknown role": (said(role="robot"), ".role", "assistant"),
    "naive timestamp": (said(timestamp=NAIVE), ".timestamp", "UTC"),
    "empty id": (said(id=""), ".id", "one character"),
    "long id": (said(id="字" * 513), ".id", "512"),
    "NUL in the id": (said(id="a\0b"), ".id", "clean_text"),
    "NUL in the content": (said("a\0b"), ".content", "character 1"),
    "lone surrogate": (said(SURROGATE), ".content", "clean_text"),
    "too much content": (said("x" * (MAX_CONTENT_CHARACTERS + 1)), ".content", str(MAX_CONTENT_CHARACTERS)),
    "content that is no text": (said(b"x"), ".content", "text"),
    "a set in the metadata": (said(metadata={"tags": {"a"}}), ".metadata.tags", "JSON"),
    "not a number": (said(metadata={"score": [1.0, NAN]}), ".metadata.score[1]", "JSON"),
    "NUL in the metadata": (said(metadata={"k": "\0"}), ".metadata.k", "clean_text"),
    "a number as key": (said(metadata={1: "x"}), ".metadata", "key 1"),
    "metadata that is no object": (said(metadata=["x"]), ".metadata", "object"),
    "bottomless metadata": (said(metadata=nested(10_000)), ".metadata", str(MAX_METADATA_DEPTH)),
    "no message": ("hello", "", "NewMessage"),
}

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def on(*arguments: Any, **named: Any) -> Arguments:
    return arguments, named


# By the method of conversations that refuses them.  An argument given by name is the wrong one.
BAD_CHAT_CALLS: dict[str, list[Arguments]] = {
    "add_messages": [on("", [said()]), on("x" * 513, [said()]), on("a\0", []), on("c", "hello")],
    "get_messages": [on(""), on("\udfff"), *(on("c", limit=limit) for limit in (-1, True, 2**63))],
    "get_page": [on("c", older_than=9, newer_than=1), on("c", older_than=-1)],
    "replace_newest": [on("c", [said()], count=-1)],
    "clear_messages": [on("")],
    "exists": [on("")],
    "count": [on("c", view="half")],
    "list_conversations": [
        *(on(after=after) for after in ("会议", "2026-01-01T00:00:00+00:00 \0")),
        *(on(prefix=prefix) for prefix in ("\0", "x" * 513, None)),
        on(order="newest"),
        on(limit=-1),
    ],
    "get_summarization": [on("c", "")],
    "get_summarizations_of": [on("c", "")],
}
BAD_CHAT_CALLS["add_messages"].append(on("c", [said()], expected_version=-1))
BAD_CHAT_CALLS["get_messages"] += [on("c", before=NAIVE), on("c", view="half")]


async def test_a_bad_message_is_refused_with_its_whole_batch_and_harms_nothing() -> None:
    async with open_store("memory") as memory:
        await memory.add_messages("c", [NewMessage("user", "先前的", id="before")]).or_raise()
        for name, (message, path, advice) in BAD_MESSAGES.items():
            refused = await memory.add_messages("c", [NewMessage("user", "good", id="good"), message])
            assert isinstance(refused, Failure), name
            error = refused.failure()
            assert isinstance(error, DataValidationError), name
            assert [problem.path for problem in error.problems] == [f"$.messages[1]{path}"], name
            assert advice in str(error), name
            assert not error.retry_is_safe
        assert [message.id for message in await memory.get_messages("c").or_raise()] == ["before"]
        # All problems of a batch are told at once.
        all_at_once = await memory.add_messages("", [message for message, _, _ in BAD_MESSAGES.values()])
        assert len(all_at_once.failure().problems) == len(BAD_MESSAGES) + 1


async def test_ten_megabytes_that_are_said_come_back_exactly(address: str) -> None:
    content = "".join(map(chr, range(0x4E00, 0x9FA5))) * 160  # 10 MB as UTF-8
    assert len(content.encode()) > 10_000_000
    async with open_store(address) as memory:
        await memory.add_messages("c", [NewMessage("tool", content)]).or_raise()
        (message,) = await memory.get_messages("c").or_raise()
    assert message.content == content


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

# By the method of memories that refuses them.
BAD_CALLS: dict[str, list[Arguments]] = {
    "recall": [on("mei", "x"), on(Namespace("mei", SURROGATE), "x"), on(MEI, None), on(MEI, SURROGATE)],
    "list": [on(Namespace("")), on(MEI, limit=-1), on(MEI, tag="")],
    "forget_all": [on(Namespace(None))],
    "remember": [on(MEI, "hello"), on(MEI, [{"content": "x"}]), on(MEI, [NewMemory("x")], dedup="fuzzy")],
    "save_conversation_turn": [on(MEI, b"x", "y", session_id="s"), on(MEI, "x", "y", session_id="")],
    "extract": [on(None)],
    "auto_save": [on(MEI, "x", role="robot"), on(MEI, "x", update={"shouldStore": True})],
    "record_use": [on(MEI, "m1"), on(MEI, None), on(MEI, ["m1"], use_id="")],
    "put_value": [
        on(MEI, "", 1),
        on(MEI, "k", {1, 2}),
        on(MEI, "k", 1, content=" "),
        on(MEI, "k", 1, content=[]),
    ],
    "list_values": [on(MEI, as_of=NAIVE), on(MEI, prefix=7)],
    "get": [on(MEI, "")],
    "update": [on(MEI, "before", {"content": "x"}), on(MEI, "before", MemoryChanges(), expected_version=-1)],
    "supersede": [on(MEI, "before", "x")],
    "promote": [on(MEI, None)],
    "pin": [on(MEI, "before", pinned="no")],
    "forget": [on(MEI, "")],
    "forget_where": [on(MEI), on(MEI, session_id="s", path=b"")],
    "end_session": [on(MEI, None)],
    "re_embed": [on(MEI, limit=-1), on(MEI, after=b"x")],
}
BAD_CALLS["recall"] += [
    on(MEI, "x", **one)
    for one in ({"limit": -1}, {"limit": 201}, {"category": "opinion"}, {"tags": "tag"}, {"as_of": NAIVE})
]
CURSORS = (7, "next", f"{NOON.isoformat()} {SURROGATE}")
BAD_CALLS["list"] += [on(MEI, after=after) for after in CURSORS]
BAD_CALLS["list"] += [on(MEI, containing=text) for text in ("", 7, SURROGATE, "很" * 1001)]
BAD_CALLS["update"] += [
    on(MEI, "before", one) for one in (MemoryChanges(content=" "), MemoryChanges(confidence=NAN))
]
FACTS = (("", "v"), ("k", "v", "opinion"), ("k", "v", "fact", "high"), ("k", object()))
UPDATES = [MemoryUpdate(should_store=True, memories=(StatedFact(*fact),)) for fact in FACTS]
UPDATES += [MemoryUpdate("false"), MemoryUpdate(True, "abc")]
BAD_CALLS["auto_save"] += [on(MEI, "x", update=update) for update in UPDATES]

BAD_CONTEXTS: dict[str, tuple[Any, Any, Any, Any]] = {
    "nobody's": ("mei", "c", "x", None),
    "of no conversation": (MEI, "", "x", None),
    "without a message": (MEI, "c", None, None),
    "instructions as text": (MEI, "c", "x", "be kind"),
    "a system prompt of None": (MEI, "c", "x", Instructions(system=None)),
    "a scenario that no model reads": (MEI, "c", "x", Instructions(scenario=SURROGATE)),
    "a skill for skills": (MEI, "c", "x", Instructions(skills="be kind")),
    "a skill of bytes": (MEI, "c", "x", Instructions(skills=("a", b"b"))),
}


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
        # All problems of a batch are told at once.
        bad_batch = [new_memory(content=" ", confidence=2.0), new_memory(content="x\0", tags=("a", "a"))]
        refused = await memory.remember(MEI, bad_batch)
        assert [problem.path for problem in refused.failure().problems] == [
            "$.memories[0].content",
            "$.memories[0].confidence",
            "$.memories[1].content",
            "$.memories[1].tags",
        ]
        assert [one.id for one in (await memory.list(MEI).or_raise()).memories] == ["before"]


@for_each("vector", BAD_VECTORS)
async def test_what_is_no_vector_is_refused_with_its_whole_batch(vector: Any) -> None:
    async with open_memories("memory") as memory:
        bad = NewMemory("x", embedding=Embedding("mine", vector))
        error = (await memory.remember(MEI, [NewMemory("good"), bad])).failure()
        assert [problem.path for problem in error.problems] == ["$.memories[1].embedding.vector"]
        assert (await memory.list(MEI).or_raise()).memories == ()


async def expect_refusals(
    service: ChatMemory | LongTermMemory, calls: dict[str, list[Arguments]], *, by_name: bool = False
) -> None:
    """Fail unless every call is refused, with *by_name* because of the arguments that it names, if any."""
    for method, each in calls.items():
        for arguments, named in each:
            error = (await getattr(service, method)(*arguments, **named)).failure()
            assert isinstance(error, DataValidationError), (method, arguments, named)
            if by_name and named:
                assert {problem.path for problem in error.problems} <= {f"$.{name}" for name in named}


async def test_a_bad_argument_is_refused_by_every_method_and_changes_nothing() -> None:
    async with open_memories("memory") as memory:
        await memory.remember(MEI, [NewMemory("先前的", id="before")]).or_raise()
        before = await memory.list(MEI).or_raise()
        await expect_refusals(memory, BAD_CALLS)
        alone: Any = NewMemory("x")
        assert "a sequence of NewMemory, not NewMemory" in str((await memory.remember(MEI, alone)).failure())
        assert await memory.list(MEI).or_raise() == before
    async with open_store("memory") as chat:
        await expect_refusals(chat, BAD_CHAT_CALLS, by_name=True)
        assert await chat.list_conversations() == Success(ConversationPage((), None))
        as_of: Any = "20"
        assert "a version or a datetime, not str" in str(
            (await chat.get_messages("c", as_of=as_of)).failure()
        )
    async with ManagedRuntime(chat_store("memory")) as runtime:
        contexts = await runtime.service(ChatContextService)
        for name, (*asked, instructions) in BAD_CONTEXTS.items():
            given = {} if instructions is None else {"instructions": instructions}
            assert isinstance((await contexts.build(*asked, **given)).failure(), DataValidationError), name


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
async def test_a_setting_that_nobody_can_obey_is_refused(section: str, setting: str, tmp_path: Path) -> None:
    file = tmp_path / "chatmemory.toml"
    file.write_text(f"[memory.{section}]\n{setting}\n")
    with pytest.raises(EffectFailed) as failed:
        async with ManagedRuntime(stacks.from_configuration(file, environment={})):
            pass
    assert isinstance(failed.value.error, ConfigError)
    assert f"memory.{section}.{setting.split(maxsplit=1)[0]}: " in str(failed.value.error)
