"""Every tool of the MCP server, as an agent calls it over standard input and output."""

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="needs mcp: pip install 'chatmemory-effect[mcp]'")

from jsonschema import Draft202012Validator
from mcp import Client, MCPError
from mcp.types import INVALID_PARAMS

from chatmemory.access.namespace import Namespace
from chatmemory.access.principal import READ, Granted
from chatmemory.conversation.token_counter import estimate
from chatmemory.programs.mcp.resources import CONVERSATIONS, MOST_LISTED
from chatmemory.programs.operations.grant import Grant
from chatmemory.settings.memory_settings import ExpirySettings
from tests.integrations.mcp.mcp_clients import (
    called,
    in_process,
    over_stdio,
    refused,
    remember_all,
    store_turn,
    text_of,
    told,
)

ROOT = Path(__file__).parents[3]
HISTORIES = ROOT / "examples/histories"

HINTS = {
    # name: (reads only, destructive, idempotent); the protocol gives the other two no meaning where a tool only reads
    "recall": (True, None, None),
    "search": (True, None, None),
    "list_memories": (True, None, None),
    "remember": (None, False, False),
    "forget": (None, True, True),
    "store_turn": (None, False, True),
    "end_session": (None, True, True),
    "get_context": (None, False, False),
    "index_paths": (None, False, True),
}
MOST_CHARACTERS = 8_000
"""Of ``tools/list``, all of which a host puts before its model in every session."""


async def test_every_tool_and_prompt_is_listed_briefly_and_spelled_alike(tmp_path: Path) -> None:
    async with over_stdio(tmp_path) as client:
        listed = await client.list_tools()
        prompts = (await client.list_prompts()).prompts
    hints = {
        tool.name: (a.read_only_hint, a.destructive_hint, a.idempotent_hint)
        for tool in listed.tools
        if (a := tool.annotations) is not None
    }
    assert hints == HINTS
    for tool in listed.tools:
        assert tool.title
        assert tool.description
        Draft202012Validator.check_schema(tool.input_schema)
    assert len(listed.model_dump_json(by_alias=True, exclude_none=True)) < MOST_CHARACTERS
    for name in [*hints, *[prompt.name for prompt in prompts]]:
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", name)
    taken = [name for tool in listed.tools for name in tool.input_schema["properties"]]
    assert {prompt.name for prompt in prompts} == {"recall_before_task", "what_do_you_know", "save_this"}
    arguments = [argument for prompt in prompts for argument in prompt.arguments or ()]
    assert {one.name for one in arguments if one.required} == {"task", "fact"}
    taken += [argument.name for argument in arguments]
    assert [name for name in taken if not re.fullmatch(r"[a-z]+([A-Z][a-z]+)*", name)] == []
    guide = (ROOT / "docs/guides/mcp.md").read_text(encoding="utf-8")
    (line,) = [line for line in guide.splitlines() if line.startswith("Tools: ")]
    assert set(re.findall(r"`(\w+)`", line)) == set(HINTS)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_what_one_session_remembers_the_next_recalls_but_no_other_user_or_app(
    tmp_path: Path, mode: str
) -> None:
    ada = ("--user", "ada", "--app", "editor")
    async with over_stdio(tmp_path, *ada, mode=mode) as client:
        (memory_id,) = await remember_all(client, ["用户喜欢用 Rust 编程"])
    for options, ids in (
        (ada, [memory_id]),
        (("--user", "eve"), []),
        (("--user", "ada", "--app", "terminal"), []),
    ):
        async with over_stdio(tmp_path, *options, mode=mode) as client:
            found = await told(client, "recall", query="编程语言")
            if not ids:
                assert (await refused(client, "forget", memoryId=memory_id))["tag"] == "MemoryNotFoundError"
        assert [memory["id"] for memory in found["memories"]] == ids
        assert ("用户喜欢用 Rust 编程" in found["text"]) is bool(ids)


async def test_a_fact_is_remembered_once_replaced_and_forgotten(tmp_path: Path) -> None:
    async with in_process(tmp_path) as client:
        fact = {"content": "他住在上海", "eventId": "turn-7"}
        first = await told(client, "remember", **fact)
        same = await told(client, "remember", content=fact["content"])
        again = await told(client, "remember", **fact)
        assert (same["outcomes"][0]["outcome"], again) == ("duplicate", first)
        old = first["outcomes"][0]["id"]
        assert first["outcomes"][0]["outcome"] == "stored"
        report = await told(client, "remember", content="他住在北京", replaces=old)
        assert report["outcomes"][0]["superseded"] == [old]
        result = await called(client, "search", query="他住在哪里", where="memories")
        assert "北京" in text_of(result)
        assert "上海" not in text_of(result)
        assert result.structured_content["text"] == text_of(result), "programs get the same as models"
        assert "北京" not in json.dumps(result.structured_content["memories"], ensure_ascii=False)
        (memory_id,) = await remember_all(client, ["my cat is called 咪咪"])
        forgotten = [await told(client, "forget", memoryId=memory_id, eventId="turn-8") for _ in range(2)]
        assert [receipt["memories"] for receipt in forgotten] == [1, 1]
        assert (await told(client, "recall", query="cat 咪咪"))["memories"] == []
        assert (await refused(client, "forget", memoryId=memory_id))["tag"] == "MemoryNotFoundError"


async def test_a_turn_that_is_sent_twice_is_stored_once_and_stands_in_the_context_behind_memories(
    tmp_path: Path,
) -> None:
    async with in_process(tmp_path) as client:
        first, again = [await store_turn(client, "项目/一", "我用 Python") for _ in range(2)]
        changed = {"conversationId": "项目/一", "userContent": "我用 Go", "assistantContent": "好的"}
        conflict = await refused(client, "store_turn", eventId="1", **changed)
        context = await told(client, "get_context", conversationId="项目/一", userMessage="我用什么？")
        asked = {"conversationId": "项目/一", "userMessage": "我用 Python"}
        known = await told(client, "get_context", **asked, messageId=first["conversation"]["stored"][0])
        (memory_id,) = await remember_all(client, ["The user prefers tabs over spaces"])
        both = await told(client, "get_context", conversationId="项目/一", userMessage="tabs or spaces?")
        nothing = await told(client, "get_context", conversationId="d", userMessage="彗星")
    assert len(first["conversation"]["stored"]) == len(first["memory"]["outcomes"]) == 2
    assert again == first
    assert conflict["tag"] == "IdempotencyKeyReusedError"
    assert context["text"].count("我用 Python") == 1
    assert "我用什么" not in context["text"]
    assert "Python" not in known["text"], "a message that is stored does not stand in its own context"
    assert both["memoryIds"] == [memory_id]
    assert both["text"].index("prefers tabs") < both["text"].index("我用 Python")
    assert nothing["text"] == "no earlier messages, and no related memories"


@pytest.mark.parametrize(("at_session_end", "removed"), [(True, 2), (False, 0)])
async def test_the_end_of_a_conversation_removes_what_the_configuration_says(
    tmp_path: Path, *, at_session_end: bool, removed: int
) -> None:
    expiry = ExpirySettings(at_session_end=at_session_end)
    async with in_process(tmp_path, expiry=expiry) as client:
        await store_turn(client, "s", "上线了吗？", "上线了。")
        await told(client, "remember", content="The site is online.", sessionId="s")
        for _ in range(2):
            ended = await told(client, "end_session", conversationId="s", eventId="9")
            assert ended == {"removed": removed}
        assert len((await told(client, "search", query="online"))["memories"]) == 1


async def test_indexed_histories_are_recalled_and_searched(tmp_path: Path) -> None:
    async with in_process(tmp_path, folders=[str(HISTORIES)]) as client:
        tried = await told(client, "index_paths", paths=[str(HISTORIES)], dryRun=True)
        before = await told(client, "recall", query="webhook")
        alone = await refused(client, "recall", query="webhook", where="past_chats")
        indexed = await told(client, "index_paths", paths=[str(HISTORIES)])
        recalled = await told(client, "recall", query="webhook retries", where="past_chats")
        searched = await told(client, "search", query="webhook retries", limit=3)
        code = await told(client, "search", query="webhook", formats=["claude_code"], where="past_chats")
    assert tried["turns"] == indexed["turns"]
    assert "index_paths" in before["notes"][-1]
    assert alone["tag"] == "PastChatsNotIndexedError"
    assert indexed["isComplete"]
    assert indexed["turns"]["new"] > 10
    assert recalled["text"].startswith("# Memory Recall")
    assert recalled["memories"] == []
    assert len(searched["pastChats"]) == 3
    assert searched["pastChats"][0]["source"].startswith(str(HISTORIES))
    assert all("claude-code" in turn["source"] for turn in code["pastChats"])


async def test_the_known_histories_of_the_home_folder_need_no_permission(tmp_path: Path) -> None:
    kept = str(tmp_path / ".claude/projects")
    shutil.copytree(HISTORIES / "claude-code", kept)
    async with over_stdio(tmp_path) as client:
        everything = await told(client, "index_paths")
        again = await told(client, "index_paths", paths=[kept])
    assert everything["turns"]["new"] > 0
    assert again["turns"]["new"] == 0


BAD: Sequence[tuple[str, dict[str, object], str]] = (
    ("recall", {}, "$.query"),
    ("recall", {"query": 7}, "$.query"),
    ("recall", {"query": "a", "limit": 0}, "$.limit"),
    ("recall", {"query": "a", "where": "web"}, "$.where"),
    ("remember", {"content": "a", "app": "other", "user": "eve"}, "$.user"),
    ("remember", {"content": ""}, "$.memories[0].content"),
    ("remember", {"content": "a", "confidence": 2}, "$.confidence"),
    ("remember", {"content": "a", "eventId": ""}, "$.eventId"),
    ("search", {"query": "a", "since": "yesterday"}, "$.since"),
    ("forget", {"memoryId": ""}, "$.memory_id"),
    ("index_paths", {"format": "no such tool"}, "$.format"),
)


async def test_bad_arguments_are_told_by_tag_and_place(tmp_path: Path) -> None:
    async with in_process(tmp_path) as client:
        for tool, arguments, path in BAD:
            problem = await refused(client, tool, **arguments)
            assert problem["tag"] == "DataValidationError"
            assert path in {one["path"] for one in problem["problems"]}
            assert "type" not in problem, "which would name a page of HTTP"
        failed = await called(client, "remember", content="a\0b")
        assert "NUL at character 1: leave it out, or put U+FFFD in its place @" in text_of(failed)
        with pytest.raises(MCPError, match="there are recall, search"):
            await client.call_tool("delete_everything", {})


async def test_a_client_that_may_only_look_is_offered_no_more(tmp_path: Path) -> None:
    async with in_process(tmp_path) as client:
        await store_turn(client, "a/1", "A")
        await store_turn(client, "b/1", "C")
        (memory_id,) = await remember_all(client, ["tea, not coffee"])
    begins_so = (Granted(Namespace("default"), "a/", READ),)
    reader = Grant(name="reader", user="default", conversations=begins_so, past_chats=False, read_only=True)
    async with in_process(tmp_path, reader) as client:
        reading = {"recall", "search", "list_memories", "get_context"}
        assert {tool.name for tool in (await client.list_tools()).tools} == reading
        offered = {one.name for one in (await client.list_prompts()).prompts}
        assert offered == {"recall_before_task", "what_do_you_know"}
        with pytest.raises(MCPError, match="no prompt of this name"):
            await client.get_prompt("save_this", {"fact": "tea"})
        assert (await refused(client, "forget", memoryId=memory_id))["tag"] == "ForbiddenError"
        assert (await refused(client, "search", query="tea", where="past_chats"))["tag"] == "ForbiddenError"
        other = await told(client, "get_context", conversationId="b/1", userMessage="tea?")
        assert '"C"' not in other["text"]
        mine = await told(client, "get_context", conversationId="a/1", userMessage="tea?")
        assert '"A"' in mine["text"]
        uris = [one.uri for one in (await client.list_resources()).resources]
        assert [uri for uri in uris if uri.startswith(CONVERSATIONS)] == [f"{CONVERSATIONS}a%2F1"]
        assert f"chatmemory://memories/{memory_id}" in uris
        with pytest.raises(MCPError, match="ConversationNotFoundError"):
            await client.read_resource("chatmemory://conversations/b%2F1")


async def test_a_resource_that_is_no_utf_8_names_no_other_conversation(tmp_path: Path) -> None:
    async with in_process(tmp_path) as client:
        await store_turn(client, "\ufffd", "A")
        (contents,) = (await client.read_resource("chatmemory://conversations/%EF%BF%BD")).contents
        assert '"A"' in contents.text
        for spelling in ("%FF", "%C0%80", "%ED%A0%80"):
            with pytest.raises(MCPError, match="NotFoundError: resources are"):
                await client.read_resource(f"chatmemory://conversations/{spelling}")


async def test_conversations_are_listed_page_by_page_each_once(tmp_path: Path) -> None:
    ids = [f"team/第 {number}/?#" for number in range(MOST_LISTED * 2 + 5)]
    async with in_process(tmp_path) as client:
        for name in ["other", *ids]:
            await store_turn(client, name, name)
    team = (Granted(Namespace("default"), "team/"),)
    async with in_process(tmp_path, Grant(name="team", user="default", conversations=team)) as client:
        pages = [await client.list_resources()]
        while pages[-1].next_cursor is not None:
            pages.append(await client.list_resources(cursor=pages[-1].next_cursor))
        with pytest.raises(MCPError, match="cursor") as refusal:
            await client.list_resources(cursor="nowhere")
        listed = [one for page in pages for one in page.resources]
        talks = [one for one in listed if one.uri.startswith(CONVERSATIONS)]
        (contents,) = (await client.read_resource(talks[-1].uri)).contents
    assert [one.name for one in talks] == ids[::-1], "the last changed first"
    assert listed[: len(talks)] == talks, "memories stand behind them"
    assert len(listed) == len(talks) + 2 * (len(ids) + 1), "those of both sides of each turn"
    assert len({one.uri for one in listed}) == len(listed)
    assert max(len(page.resources) for page in pages) <= 2 * MOST_LISTED
    assert refusal.value.error.code == INVALID_PARAMS
    assert ids[0] in contents.text


EVE = Grant(name="eve", user="eve")
FACTS = ["用户喜欢用 Rust 编程", "The tests need Redis on port 6380.", "Mei is allergic to peanuts."]


async def chosen(client: Client, prompt: str, **arguments: str) -> str:
    """Return what the host puts before its model."""
    (message,) = (await client.get_prompt(prompt, arguments)).messages
    assert message.role == "user"
    assert message.content.type == "text"
    return message.content.text


WRONG: list[tuple[str, dict[str, str], str]] = [
    ("recall_before_task", {}, "required"),
    ("recall_before_task", {"task": "  "}, "required"),
    ("save_this", {"fact": "a", "user": "eve"}, "takes fact"),
    ("forget_all", {}, "there are recall_before_task"),
]


async def test_prompts_tell_what_is_known_of_a_task_of_a_topic_or_at_all_and_have_a_fact_saved(
    tmp_path: Path,
) -> None:
    async with in_process(tmp_path) as client:
        assert "nothing is remembered" in await chosen(client, "what_do_you_know")
        ids = await remember_all(client, FACTS)
        task = await chosen(client, "recall_before_task", task="make the tests use Redis")
        everything = await chosen(client, "what_do_you_know")
        topic = await chosen(client, "what_do_you_know", topic="编程语言")
        saving = await chosen(client, "save_this", fact="我搬到了杭州")
        for prompt, arguments, said in WRONG:
            with pytest.raises(MCPError, match=said):
                await client.get_prompt(prompt, arguments)
    assert task.startswith("Task: make the tests use Redis")
    assert task.index("<recalled-data") < task.index("port 6380") < task.index("</recalled-data")
    assert all(text in everything for text in (*FACTS, *ids))
    assert FACTS[0] in topic
    assert FACTS[2] not in topic
    assert "`remember`" in saving
    assert saving.endswith("我搬到了杭州")
    async with in_process(tmp_path, EVE) as client:
        assert FACTS[0] not in await chosen(client, "what_do_you_know")


async def test_memories_are_listed_page_by_page_and_as_they_are_asked_for(tmp_path: Path) -> None:
    async with in_process(tmp_path) as client:
        ids = await remember_all(client, FACTS)
        await told(client, "remember", content="Mei likes tea.", category="preference", tags=["tea"])
        first = await told(client, "list_memories", limit=3)
        second = await told(client, "list_memories", limit=3, after=first["next"])
        for asked in ({"tag": "tea"}, {"category": "preference"}, {"containing": "LIKES TEA"}):
            found = await told(client, "list_memories", **asked)
            assert [one["content"] for one in found["memories"]] == ["Mei likes tea."]
    assert [one["id"] for one in [*first["memories"], *second["memories"]]][1:] == ids[::-1]
    assert first["next"] in first["text"]
    assert second["next"] is None


async def test_a_memory_is_a_resource_of_its_user(tmp_path: Path) -> None:
    async with in_process(tmp_path) as client:
        (memory_id,) = await remember_all(client, FACTS[:1])
        (listed,) = (await client.list_resources()).resources
        (contents,) = (await client.read_resource(listed.uri)).contents
        templates = (await client.list_resource_templates()).resource_templates
    assert listed.uri == f"chatmemory://memories/{memory_id}"
    assert listed.name == FACTS[0]
    assert FACTS[0] in contents.text
    assert "chatmemory://memories/{memoryId}" in {one.uri_template for one in templates}
    async with in_process(tmp_path, EVE) as client:
        assert (await client.list_resources()).resources == []
        with pytest.raises(MCPError, match="MemoryNotFoundError"):
            await client.read_resource(listed.uri)


async def test_an_answer_fits_a_model_and_says_how_to_get_the_rest(tmp_path: Path) -> None:
    async with in_process(tmp_path) as client:
        for number in range(30):
            await told(client, "remember", content=f"第{number}条：" + f"espalier {number} 在冬天修剪 " * 400)
        found, skip = set[str](), 0
        while True:
            answer = await called(
                client, "search", query="espalier 修剪", limit=50, skip=skip, where="memories"
            )
            assert max(estimate(text_of(answer)), estimate(json.dumps(answer.structured_content))) < 20_000
            found |= {one["id"] for one in answer.structured_content["memories"]}
            rest = re.search(r"call search with skip=(\d+)", text_of(answer))
            if rest is None:
                break
            skip = int(rest[1])
        assert len(found) == 30
        listed = await called(client, "list_memories", limit=100)
        assert estimate(json.dumps(listed.structured_content, ensure_ascii=False)) < 20_000
        assert listed.structured_content["next"] is not None
