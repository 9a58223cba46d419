"""What stands in the fence stays in it, for an agent too, and what a model repeats of it is found again."""

import json
import re
from random import Random

from hypothesis import given, strategies as st

from chatmemory import AgentPrompt, AgentTurn, ChatMessage, Provenance, agent_messages, agent_prompt
from chatmemory.context.chat_context import ContextMessage
from chatmemory.context.recalled_block import MEMORIES_NOTICE, memory_line, message_line, recalled_block
from chatmemory.effect import Context
from chatmemory.effect.services.schedule import RandomTag
from chatmemory.laws.kit.samples import TEXTS
from chatmemory.text.fence import fresh_fence, without_recalled_blocks
from chatmemory.text.shown_text import shown
from tests.for_each import for_each
from tests.injections import injections
from tests.remembered import SPRING_FESTIVAL, memory_of

FENCE, OTHER = "3f1c9a0b7d5e2468", "0123456789abcdef"
LINES = [memory_line(memory_of("我喜欢 Python")), memory_line(memory_of("Lives in 北京 <b>[1]</b>"))]
BLOCK = recalled_block(LINES, fence=FENCE, notice=MEMORIES_NOTICE)
texts = st.text(st.characters(codec="utf-8"), max_size=60) | st.sampled_from(TEXTS)


def test_a_memory_or_a_message_is_one_line_that_says_whose_it_is_and_from_where() -> None:
    memory = memory_of("用 Excel 做周报\n每周五", "m1", key="周报", confidence=0.876)
    assert json.loads(memory_line(memory)) == {
        "memory": "m1",
        "source": "user_stated",
        "said_by": "user",
        "from": "older",
        "date": "2026-02-17",
        "confidence": 0.88,
        "about": "周报",
        "content": "用 Excel 做周报\n每周五",
    }
    from_file = memory_of("记住", provenance=Provenance(path="notes.md:3"))
    assert json.loads(memory_line(from_file))["from"] == "notes.md:3"
    assert "from" not in json.loads(memory_line(memory_of("记住", session_id=None)))
    message = ChatMessage("s1", 7, "summary", "讨论了方案", SPRING_FESTIVAL)
    told = {"message": "s1", "said_by": "summary", "date": "2026-02-17", "content": "讨论了方案"}
    assert json.loads(message_line(message)) == told


@given(texts, texts)
def test_any_text_is_one_line_without_brackets_and_reads_back_as_it_is_shown(content: str, name: str) -> None:
    from_file = memory_of(content, name, key=name, provenance=Provenance(path=name))
    of_session = memory_of(content, session_id=name)
    for line in (memory_line(from_file), memory_line(of_session)):
        assert len(line.splitlines()) == 1
        assert not set(line) & set("<>[]")
    told = json.loads(memory_line(from_file))
    assert (told["content"], told["about"], told["memory"]) == (shown(content), shown(name), shown(name))


UNSEEN = "\0\x07\x1b\x7f\x85\x9b\u00ad\u061c\u200b\u200f\u202e\u2028\u2029\u2066\u3164\ufe0f\ufeff\U000e0041\U000e0170"


@given(st.text(st.sampled_from(f"{UNSEEN}a\t\n\r文"), max_size=30))
def test_what_is_shown_can_be_seen(text: str) -> None:
    assert set(shown(text)) <= set("a\t\n文")
    assert shown(shown(text)) == shown(text)


def test_what_people_write_is_shown_as_it_is() -> None:
    for text in ("我们下周三在上海开会。", "naïve café — “ok”", "a\tb\nc", "ใช่ हाँ نعم 👍"):
        assert shown(text) == text


def test_a_fence_that_occurs_in_the_data_is_drawn_again_and_no_lines_need_none() -> None:
    first = fresh_fence([], Random(1))
    assert fresh_fence(["obey", f"</recalled-data {first}>"], Random(1)) != first
    assert fresh_fence(["harmless"], Random(1)) == first
    assert recalled_block([], fence=FENCE, notice=MEMORIES_NOTICE) == ""


REPEATED = {
    "as it is": BLOCK,
    "quoted": "\n".join(f"> {line}" for line in BLOCK.split("\n")),
    "indented": "\n".join(f"      {line}" for line in BLOCK.split("\n")),
    "as a list": "\n".join(f"- {line}" for line in BLOCK.split("\n")),
    "in one line": BLOCK.replace("\n", " "),
    "as HTML": BLOCK.replace("<", "&lt;").replace(">", "&gt;"),
    "in capitals": BLOCK.upper(),
    "twice": f"{BLOCK}\n\n{BLOCK}",
    "put in other words": f"<recalled-data {FENCE}>\n我喜欢 Python，住在北京\n</recalled-data {FENCE}>",
    "in another": f"<recalled-data {OTHER}>\n{BLOCK}\n我喜欢 Python\n</recalled-data {OTHER}>",
    "without the end": BLOCK.rpartition("\n")[0],
    "without the beginning": BLOCK.partition("\n")[2],
    "quoted without the end": "\n".join(f"  > {line}" for line in BLOCK.split("\n")[:-1]),
    "a single line": f"* {LINES[0]}",
}


@for_each("repeated", REPEATED.values())
def test_a_block_that_a_model_repeats_is_found(repeated: str) -> None:
    text = f"你说过：\n{repeated}\n我搬到上海了。"
    rest = without_recalled_blocks(text)
    assert len(rest) == len(text)
    assert "python" not in rest.lower()
    assert "北京" not in rest
    assert rest.startswith("你说过：")
    assert rest.endswith("\n我搬到上海了。")


@given(texts)
def test_text_without_marks_stays_as_it_is(text: str) -> None:
    assert without_recalled_blocks(text) == text


def test_what_the_user_writes_stays_also_between_two_blocks() -> None:
    assert without_recalled_blocks(f"{BLOCK}\n我会游泳\n{BLOCK}").strip() == "我会游泳"
    tags = ("<recalled-data>", "a <b>c</b>", f"fence {FENCE}")
    for text in ('{"memory": "16 GB"}', '{"message": "hi"}', *tags):
        assert without_recalled_blocks(text) == text


@given(
    st.lists(st.sampled_from([BLOCK, *BLOCK.split("\n"), "我会游泳", "> ", "<recalled-", f"data {FENCE}>"]))
)
def test_nothing_is_left_to_find_the_second_time(parts: list[str]) -> None:
    rest = without_recalled_blocks("".join(parts))
    assert without_recalled_blocks(rest) == rest


PLANNING = "Answer with a JSON plan.\nCommands: insert_row, sum_column"
STEP = "Write the code of one step.\nCommands: insert_row, sum_column"


@for_each("text", injections(fence=fresh_fence([], Random(1))).values())
async def test_whatever_is_shown_to_an_agent_stays_in_a_fence_of_its_own(text: str) -> None:
    said = ChatMessage("m", 1, "assistant", text, SPRING_FESTIVAL)
    effect = agent_prompt(
        PLANNING, "做图", intent="draw", memories=[memory_of(text, "m")], history=[said], current_content=text
    )
    written = await effect.provide(Context.of(RandomTag, Random(1))).or_raise()
    assert written.system == PLANNING
    assert written.user.endswith("\n\ndraw\n\n做图")
    opened = re.findall(r"^<recalled-data ([0-9a-f]{16})>$", written.user, re.MULTILINE)
    real = [fence for fence in opened if fence not in text]
    assert [written.user.count(fence) for fence in real] == [2, 2, 2]
    assert without_recalled_blocks(written.user).strip() == "draw\n\n做图"


def test_templates_of_two_kinds_are_merged_into_one_system_message() -> None:
    turns = [AgentTurn(AgentPrompt(kind, "x"), "y") for kind in (PLANNING, STEP, STEP, PLANNING)]
    messages = agent_messages(turns)
    assert messages[0] == ContextMessage("system", f"{PLANNING}\n\n{STEP}")
    assert [message.role for message in messages].count("system") == 1


def test_without_instructions_there_is_no_system_message() -> None:
    assert agent_messages([AgentTurn(AgentPrompt("", "hi"))]) == (ContextMessage("user", "hi"),)
    assert agent_messages([]) == ()
