"""No text that was stored changes the number or the roles of the messages, or leaves its fence."""

import json
import re
from collections.abc import Callable
from random import Random

from chatmemory import ChatMessage, Memory, Provenance
from chatmemory.context.chat_context import ChatContext, ContextMessage, Instructions
from chatmemory.context.context_assembly import ContextAssembly, Materials
from chatmemory.context.recalled_block import MEMORIES_NOTICE, SUMMARY_NOTICE
from chatmemory.conversation.token_counter import EstimatedTokens
from chatmemory.settings.memory_settings import ContextSettings
from chatmemory.text.fence import fresh_fence, without_recalled_blocks
from chatmemory.text.shown_text import shown
from tests.for_each import for_each
from tests.injections import injections
from tests.remembered import SPRING_FESTIVAL, memory_of
from tests.unit.context.contexts import roles

GUESSED = fresh_fence([], Random(1))
"""What the first draw of the builder under test would be: nobody could guess better."""

CORPUS = injections(fence=GUESSED)
BLOCK = re.compile(r"<recalled-data ([0-9a-f]{16})>\n(.*)\n</recalled-data \1>", re.DOTALL)
BEFORE, AFTER = memory_of("喜欢蓝色表头", "before"), memory_of("Lives in Beijing", "after")
PLACES: dict[str, Callable[[str], Memory]] = {
    "content": lambda text: memory_of(text, "m"),
    "key": lambda text: memory_of("内容", "m", key=text),
    "id": lambda text: memory_of("内容", text),
    "session": lambda text: memory_of("内容", "m", session_id=text),
    "path": lambda text: memory_of("内容", "m", provenance=Provenance(path=text)),
}


def assembled(memory: Memory, *, summary: str = "总结", role: str = "system") -> ChatContext:
    settings = ContextSettings(tokens=10**9, memory_share=1.0, memory_role=role)
    said = [
        ChatMessage("s", 1, "summary", summary, SPRING_FESTIVAL),
        ChatMessage("1", 2, "user", "几点？", SPRING_FESTIVAL),
        ChatMessage("2", 3, "assistant", "三点。", SPRING_FESTIVAL),
    ]
    instructions = Instructions(system="You are a helpful assistant.")
    materials = Materials(instructions, [BEFORE, memory, AFTER], said, ContextMessage("user", "你好"))
    return ContextAssembly(settings, EstimatedTokens(), Random(1)).assemble(materials).unwrap()


def block_in(message: ContextMessage) -> tuple[str, list[str], str]:
    """Return what stands before the block, its lines, and what stands behind it."""
    (found,) = BLOCK.finditer(message.content)
    marks = re.findall("recalled-data", message.content.replace(found[2], ""))
    assert len(marks) == 2
    assert found[1] not in found[2]
    return message.content[: found.start()], found[2].split("\n"), message.content[found.end() :]


@for_each("role", ["system", "user"])
@for_each("place", PLACES)
def test_a_recalled_text_stays_in_its_line_and_is_found_again(place: str, role: str) -> None:
    harmless = assembled(memory_of("内容", "m"), role=role)
    assert len(CORPUS) >= 40
    for text in CORPUS.values():
        context = assembled(PLACES[place](text), role=role)
        assert roles(context) == roles(harmless)
        carrier = 0 if role == "system" else 1
        # The message that carries the memories differs, inside its block; and the fence of the summary right behind it.
        for index, message in enumerate(context.messages):
            if index not in {carrier, carrier + 1}:
                assert message == harmless.messages[index]
        before, (notice, *lines), after = block_in(context.messages[carrier])
        assert (before, after) == (block_in(harmless.messages[carrier])[0], "")
        assert notice == MEMORIES_NOTICE
        told = [json.loads(line) for line in lines]
        assert [line["memory"] for line in told] == ["before", shown(text) if place == "id" else "m", "after"]
        as_ever = ("user_stated", 0.9, "2026-02-17")
        assert {(line["source"], line["confidence"], line["date"]) for line in told} == {as_ever}
        assert shown(text) in told[1].values()
        assert not set("".join(lines)) & set("<>[]")
        rest = "".join(without_recalled_blocks(message.content) for message in context.messages)
        assert rest.split() == ["You", "are", "a", "helpful", "assistant.", "几点？三点。你好"]


@for_each("text", CORPUS.values())
def test_a_summary_stays_in_its_line(text: str) -> None:
    context = assembled(memory_of("内容", "m"), summary=text)
    assert roles(context) == roles(assembled(memory_of("内容", "m")))
    before, (notice, line), after = block_in(context.messages[1])
    assert (before, notice, after) == ("", SUMMARY_NOTICE, "")
    assert json.loads(line)["content"] == shown(text)
