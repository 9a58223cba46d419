"""What a person and a script read of conversations at a terminal."""

from pathlib import Path

import anyio
import pytest

from chatmemory import ChatMemoryService, ManagedRuntime, NewMessage
from chatmemory_layers import stacks
from tests.commands.typed import Typed

SAID = [
    NewMessage("user", "我们去看海吗？", id="m1"),
    NewMessage("assistant", "Saturday, \x1b[31mby train\x1b[0m.", id="m2"),
    NewMessage("user", "好的", id="m3"),
]


def say(place: str, conversation_id: str = "trip") -> None:
    """Add what was said to the store at *place*."""

    async def add() -> None:
        stack = stacks.postgres(place) if "://" in place else stacks.embedded(place)
        async with ManagedRuntime(stack) as runtime:
            memory = await runtime.service(ChatMemoryService)
            await memory.add_messages(conversation_id, SAID).or_raise()

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
    assert typed.answer("forget --conversation trip --yes") == "3 messages cleared; still in rail\n"
    assert typed.run("show trip").code == 4
    assert typed.json("undo --conversation trip")["restored"] == 2
    assert [one["id"] for one in typed.json("show trip")["messages"]] == ["m1", "m2"]


def test_the_context_is_what_a_model_would_see_and_counts_no_use(typed: Typed) -> None:
    say(typed.place)
    typed.remember("Ada takes the train.", id_="train")
    built = typed.json("context trip 'which train?'")
    assert [one["role"] for one in built["messages"]][-1] == "user"
    assert built["memoryIds"] == ["train"]
    assert "Ada takes the train." in typed.answer("context trip 'which train?'")
    assert typed.json("memories")["memories"][0]["accessCount"] == 0


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("show nowhere", 4, "no conversation 'nowhere'"),
        ("history nobody", 4, "no memory 'nobody'"),
        ("fork nowhere branch", 4, "no conversation 'nowhere'"),
        ("fork trip trip", 8, "trip"),
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
def test_a_failure_is_one_line_with_a_number_of_its_own(
    typed: Typed, command: str, code: int, said: str
) -> None:
    say(typed.place)
    ended = typed.run(command)
    assert (ended.code, ended.out) == (code, "")
    assert said in ended.err
    assert "Traceback" not in ended.err
    if code != 2:
        assert ended.err.startswith("chatmemory: ")
        assert ended.err.count("\n") == 1


def test_a_reading_command_makes_no_store(typed: Typed) -> None:
    assert typed.run("memories").code == 5
    assert not Path(typed.place).exists()
