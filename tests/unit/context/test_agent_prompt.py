"""What is fixed goes to the system, what changes to the user, and the fixed part is sent once."""

from random import Random

from chatmemory.context.agent_prompt import AgentPrompt, AgentTurn, agent_messages, agent_prompt
from chatmemory.context.chat_context import ContextMessage
from chatmemory.conversation.messages import ChatMessage
from chatmemory.effect import Context
from chatmemory.effect.services.random import RandomTag
from chatmemory.text.fence import without_recalled_blocks
from tests.remembered import SPRING_FESTIVAL, memory_of

PLANNING = "Answer with a JSON plan.\nCommands: insert_row, sum_column"
STEP = "Write the code of one step.\nCommands: insert_row, sum_column"


async def prompt(instructions: str, request: str, **dynamic: object) -> AgentPrompt:
    effect = agent_prompt(instructions, request, **dynamic)
    return await effect.provide(Context.of(RandomTag, Random(1))).or_raise()


async def test_planning_request_message_structure() -> None:
    said = ChatMessage("m1", 1, "assistant", "第一步完成", SPRING_FESTIVAL)
    written = await prompt(
        PLANNING,
        "汇总销售额",
        intent="summarize",
        current_content="A1: 100\nA2: 200",
        memories=[memory_of("喜欢蓝色表头")],
        history=[said],
    )
    assert written.system == PLANNING
    for dynamic in ("汇总销售额", "summarize", "A1: 100\nA2: 200", "喜欢蓝色表头", "第一步完成"):
        assert dynamic in written.user
        assert dynamic not in written.system
    assert "Commands" not in written.user
    assert written.user.endswith("\n\nsummarize\n\n汇总销售额")


async def test_each_kind_of_data_has_a_fence_of_its_own() -> None:
    written = await prompt(STEP, "go", current_content="text", memories=[memory_of("记忆")])
    assert written.user.count("<recalled-data ") == 2
    assert len({line for line in written.user.splitlines() if line.startswith("</recalled-data ")}) == 2
    assert without_recalled_blocks(written.user).strip() == "go"


def test_a_further_turn_only_appends_its_increment() -> None:
    turns = [AgentTurn(AgentPrompt(PLANNING, f"第{index}步"), f"完成{index}") for index in range(4)]
    for count in range(1, 4):
        before, after = agent_messages(turns[:count]), agent_messages(turns[: count + 1])
        assert after[: len(before)] == before
        assert [message.role for message in after[len(before) :]] == ["user", "assistant"]


def test_templates_of_two_kinds_are_merged_into_one_system_message() -> None:
    turns = [AgentTurn(AgentPrompt(kind, "x"), "y") for kind in (PLANNING, STEP, STEP, PLANNING)]
    messages = agent_messages(turns)
    assert messages[0] == ContextMessage("system", f"{PLANNING}\n\n{STEP}")
    assert [message.role for message in messages].count("system") == 1


def test_without_instructions_there_is_no_system_message() -> None:
    assert agent_messages([AgentTurn(AgentPrompt("", "hi"))]) == (ContextMessage("user", "hi"),)
    assert agent_messages([]) == ()
