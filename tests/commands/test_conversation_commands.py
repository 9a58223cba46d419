"""What a person and a script read of conversations at a terminal."""

import io
import sqlite3
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest

from chatmemory import ChatMemoryService, ConversationNotFoundError, ManagedRuntime, NewMessage
from chatmemory.programs.shell import exit_codes
from chatmemory.programs.shell.exit_codes import explained
from chatmemory_layers import stacks
from chatmemory_layers.sqlite.prompts.prompt_tables import migrate_prompts
from tests.as_nobody import as_nobody
from tests.commands.typed import Typed

ROOT = Path(__file__).parents[2]
SAID = [
    NewMessage("user", "我们去看海吗？", id="m1"),
    NewMessage("assistant", "Saturday, \x1b[31mby train\x1b[0m.", id="m2"),
    NewMessage("user", "好的", id="m3"),
]


def say(place: str, conversation_id: str = "trip", said: Sequence[NewMessage] = SAID) -> None:

    async def add() -> None:
        stack = stacks.postgres(place) if "://" in place else stacks.embedded(place)
        async with ManagedRuntime(stack) as runtime:
            memory = await runtime.service(ChatMemoryService)
            await memory.add_messages(conversation_id, said).or_raise()

    anyio.run(add)


def test_conversations_are_listed_shown_forked_cleared_and_brought_back(typed_anywhere: Typed) -> None:
    typed = typed_anywhere
    say(typed.place)
    (listed,) = typed.json("conversations")["conversations"]
    assert (listed["conversationId"], listed["messageCount"]) == ("trip", 3)
    shown = typed.answer("show trip --limit 2")
    assert "by train" in shown
    assert "\x1b" not in shown
    assert "我们去看海吗" not in shown
    assert [one["id"] for one in typed.json("show trip")["messages"]] == ["m1", "m2", "m3"]
    assert typed.json("fork trip rail --at m2")["conversation"]["messageCount"] == 2
    assert "from trip" in typed.answer("conversations --by-id")
    assert typed.answer("show trip --as-of 7d") == "no message\n"
    assert typed.answer("forget --conversation trip --yes") == "3 messages cleared; still in rail\n"
    assert typed.run("show trip").code == 4
    assert typed.json("undo --conversation trip")["restored"] == 2
    assert [one["id"] for one in typed.json("show trip")["messages"]] == ["m1", "m2"]


def test_without_the_documentation_beside_it_no_page_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = ConversationNotFoundError("nowhere")
    assert explained(missing, "chatmemory").endswith("help: docs/guides/terminal.md")
    monkeypatch.setattr(exit_codes, "is_source", lambda: False)
    assert explained(missing, "chatmemory") == str(missing)


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("show nowhere", 4, "no conversation 'nowhere'"),
        ("history nobody", 4, "no memory 'nobody'"),
        ("fork nowhere branch", 4, "no conversation 'nowhere'"),
        ("fork trip trip", 8, "help: docs/guides/terminal.md"),
        ("undo --conversation trip --version 7", 8, "trip"),
        ("undo", 2, "say what to undo"),
        ("forget", 2, "say what to forget"),
        ("forget m --all", 2, "say what to forget"),
        ("show trip --as-of yesterdayish", 2, "is not a time"),
        ("show trip --as-of 7d --version 1", 2, "not both"),
        ("remember x --value {", 2, "is not JSON"),
        ("recal x", 2, "Did you mean 'recall'?"),
        ("memories --limit 0", 2, "--limit"),
        ("recall x --config /nowhere/chatmemory.toml", 7, "/nowhere/chatmemory.toml"),
        ("memories --after nonsense", 3, "cursor"),
        ("memories --store /nowhere/at/all.db", 5, "there is no /nowhere/at/all.db"),
    ],
)
def test_a_failure_is_one_line_with_its_own_number_and_names_a_page(
    typed: Typed, command: str, code: int, said: str
) -> None:
    say(typed.place)
    ended = typed.run(command)
    assert (ended.code, ended.out) == (code, "")
    assert said in ended.err
    assert "Traceback" not in ended.err
    if code != 2:
        failure, help_ = ended.err.splitlines()
        assert failure.startswith("chatmemory: ")
        assert (ROOT / help_.removeprefix("help: ")).is_file()


def test_a_file_that_is_no_store_or_in_a_closed_folder_is_named(typed: Typed, tmp_path: Path) -> None:
    past, store = tmp_path / "past.db", tmp_path / "closed" / "x.db"
    with closing(sqlite3.connect(past)) as connection:
        migrate_prompts(connection)
    store.parent.mkdir(0)
    ended = typed.run(f"memories --store '{past}'")
    assert (ended.code, "an index of past chats" in ended.err) == (5, True)
    with as_nobody():
        ended = typed.run(f"memories --store '{store}'")
    assert (ended.code, f"{store}: Permission denied" in ended.err) == (5, True)


def test_the_context_is_what_a_model_would_see_and_reading_changes_nothing(typed: Typed) -> None:
    assert typed.run("memories").code == 5
    assert not Path(typed.place).exists()
    say(typed.place)
    typed.remember("Ada takes the train.", id_="train")
    built = typed.json("context trip 'which train?'")
    assert [one["role"] for one in built["messages"]][-1] == "user"
    assert built["memoryIds"] == ["train"]
    assert "Ada takes the train." in typed.answer("context trip 'which train?'")
    assert typed.json("memories")["memories"][0]["accessCount"] == 0


@pytest.mark.parametrize(
    ("zone", "instant"),
    [("EST5", datetime.min.replace(tzinfo=UTC)), ("CST-8", datetime.max.replace(tzinfo=UTC))],
)
def test_the_first_and_the_last_day_of_the_calendar_are_shown_in_every_zone(
    typed: Typed, monkeypatch: pytest.MonkeyPatch, zone: str, instant: datetime
) -> None:
    say(typed.place, said=[NewMessage("user", "我们去看海吗？", timestamp=instant)])
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert f"{instant:%Y-%m-%d %H:%M}" in typed.answer("show trip")
    finally:
        monkeypatch.undo()
        time.tzset()


PORT = "The tests need Redis on port 6380."


def test_what_is_remembered_is_recalled_listed_and_forgotten(typed_anywhere: Typed) -> None:
    typed = typed_anywhere
    assert typed.answer(f"remember '{PORT}' --id redis --tag tests") == "remembered as redis\n"
    assert typed.answer(f"remember '{PORT}'") == "already known as redis\n"
    assert PORT in typed.answer("recall 'which port do the tests need?'")
    hit, *others = typed.json("recall redis port")["hits"]
    assert (hit["memory"]["content"], hit["memory"]["memoryType"], others) == (PORT, "long_term", [])
    assert [one["id"] for one in typed.json("memories --tag tests")["memories"]] == ["redis"]
    assert typed.answer("forget redis --yes") == "1 memory forgotten\n"
    assert typed.answer("memories") == "no memory\n"
    assert typed.run("recall redis").code == 0
    assert "the memory was forgotten" in typed.answer("history redis")


def test_options_that_a_known_memory_does_not_get_are_told(typed: Typed) -> None:
    typed.answer(f"remember '{PORT}' --id redis --tag tests")
    known = typed.run(f"remember '{PORT}' --tag tests")
    assert (known.out, known.err) == ("already known as redis\n", "")
    known = typed.run(f"remember '{PORT}' --tag tests --pin --category fact")
    assert known.out == "already known as redis\n"
    assert known.err == "not applied to it: --pin, --category; to apply them, add --replaces redis\n"
    typed.answer(f"remember '{PORT}' --tag tests --pin --category fact --replaces redis")
    (memory,) = typed.json("memories")["memories"]
    assert (memory["pinned"], memory["category"]) == (True, "fact")


def test_a_newer_statement_ends_an_older_one_and_undo_brings_it_back(typed_anywhere: Typed) -> None:
    typed = typed_anywhere
    typed.remember("我住在杭州", id_="hangzhou")
    assert "replacing hangzhou" in typed.answer("remember 我现在住在上海了 --id shanghai")
    assert [one["id"] for one in typed.json("memories")["memories"]] == ["shanghai"]
    typed.answer("undo hangzhou")
    actions = [event["action"] for event in typed.json("history hangzhou")["events"]]
    assert actions[0] == "stored"
    assert actions[-1] == "restored"
    assert "hangzhou" in [one["id"] for one in typed.json("memories")["memories"]]
    typed.remember("My favourite book is Dune", id_="dune")
    typed.answer("remember 'It is Emma by now' --id emma --replaces dune")
    assert "replacing emma" in typed.answer("remember 'My favourite book is Ulysses now'")
    typed.answer("remember 'My favourite film is Alien' --id alien --replaces hangzhou")
    assert "replacing alien" in typed.answer("remember 'My favourite film is Brazil now'")


def test_standard_input_is_remembered_or_says_yes(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    typed.remember(PORT, id_="redis")
    for given, left in (("n\n", ["redis"]), ("", ["redis"]), ("y\n", [])):
        monkeypatch.setattr(sys, "stdin", io.StringIO(given))
        ended = typed.run("forget redis")
        assert (ended.code == 0) is (not left)
        assert PORT in ended.err + ended.out
        assert [one["id"] for one in typed.json("memories")["memories"]] == left
    piped = io.TextIOWrapper(io.BytesIO("备份在每天三点\n".encode()), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", piped)
    typed.answer("remember --key backups --value '{\"hour\": 3}' --pin")
    (memory,) = typed.json("memories")["memories"]
    stored = (memory["content"], memory["key"], memory["value"], memory["pinned"])
    assert stored == ("备份在每天三点", "backups", {"hour": 3}, True)


def test_memories_of_others_and_from_elsewhere_are_neither_seen_nor_forgotten(typed: Typed) -> None:
    typed.answer(f"remember '{PORT}' --id redis --user mei")
    assert typed.answer("memories --user wang") == "no memory\n"
    assert typed.run("forget redis --user wang --yes").code == 4
    typed.answer("forget --all --user wang --yes")
    assert len(typed.json("memories --user mei")["memories"]) == 1
    typed.answer("remember 'Ada takes the train.' --session trip")
    typed.answer("remember 'Ada drinks tea.' --session home")
    assert typed.json("forget --session trip --yes")["memories"] == 1
    assert [one["sessionId"] for one in typed.json("memories")["memories"]] == ["home"]


def test_a_named_memory_is_replaced_and_a_list_says_how_it_goes_on(typed: Typed) -> None:
    for number in range(3):
        typed.remember(f"fact number {number}", id_=f"f{number}")
    first = typed.run("memories --limit 2")
    assert first.err.startswith("there are more: --after '")
    cursor = typed.json("memories --limit 2")["next"]
    assert [one["id"] for one in typed.json(f"memories --after '{cursor}'")["memories"]] == ["f0"]
    typed.remember("the \x1b]0;title\x07 zebra", id_="zebra")
    for command in ("memories", "recall zebra", "history zebra"):
        assert not {"\x1b", "\x07"} & set(typed.answer(command)), "no terminal obeys a memory"
    typed.remember("The deadline is May.", id_="may")
    assert "replacing may" in typed.answer("remember 'The deadline is June.' --replaces may")
    assert typed.run("remember x --replaces nobody").code == 4
