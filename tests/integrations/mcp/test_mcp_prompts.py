"""What a person chooses from a menu, and memories as resources and as a list."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="needs mcp: pip install 'chatmemory-effect[mcp]'")

from mcp import Client, MCPError

from chatmemory.programs.operations.grant import Grant
from tests.integrations.mcp.mcp_clients import in_process, over_stdio, remember_all, told

OWNER = Grant(name="owner", user="default")
EVE = Grant(name="eve", user="eve")
FACTS = ["用户喜欢用 Rust 编程", "The tests need Redis on port 6380.", "Mei is allergic to peanuts."]


async def chosen(client: Client, prompt: str, **arguments: str) -> str:
    """Return what the host puts before its model."""
    (message,) = (await client.get_prompt(prompt, arguments)).messages
    assert message.role == "user"
    assert message.content.type == "text"
    return message.content.text


async def test_a_task_comes_with_what_is_known(tmp_path: Path) -> None:
    async with over_stdio(tmp_path) as client:
        await remember_all(client, FACTS)
        offered = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
        text = await chosen(client, "recall_before_task", task="make the tests use Redis")
    assert set(offered) == {"recall_before_task", "what_do_you_know", "save_this"}
    assert [(one.name, one.required) for one in offered["recall_before_task"].arguments or ()] == [
        ("task", True)
    ]
    assert text.startswith("Task: make the tests use Redis")
    assert text.index("<recalled-data") < text.index("port 6380") < text.index("</recalled-data")


async def test_what_is_known_is_told_whole_or_about_a_topic(tmp_path: Path) -> None:
    async with in_process(tmp_path, OWNER) as client:
        assert "nothing is remembered" in await chosen(client, "what_do_you_know")
        ids = await remember_all(client, FACTS)
        everything = await chosen(client, "what_do_you_know")
        topic = await chosen(client, "what_do_you_know", topic="编程语言")
    assert all(text in everything for text in (*FACTS, *ids))
    assert FACTS[0] in topic
    assert FACTS[2] not in topic
    async with in_process(tmp_path, EVE) as client:
        assert FACTS[0] not in await chosen(client, "what_do_you_know")


async def test_a_fact_to_save_is_handed_to_the_model_with_the_tool(tmp_path: Path) -> None:
    async with in_process(tmp_path, OWNER) as client:
        text = await chosen(client, "save_this", fact="我搬到了杭州")
    assert "`remember`" in text
    assert text.endswith("我搬到了杭州")


@pytest.mark.parametrize(
    ("prompt", "arguments", "said"),
    [
        ("recall_before_task", {}, "required"),
        ("recall_before_task", {"task": "  "}, "required"),
        ("save_this", {"fact": "a", "user": "eve"}, "takes fact"),
        ("forget_all", {}, "there are recall_before_task"),
    ],
)
async def test_a_wrong_argument_is_told(
    tmp_path: Path, prompt: str, arguments: dict[str, str], said: str
) -> None:
    async with in_process(tmp_path, OWNER) as client:
        with pytest.raises(MCPError, match=said):
            await client.get_prompt(prompt, arguments)


async def test_memories_are_listed_page_by_page_and_as_they_are_asked_for(tmp_path: Path) -> None:
    async with in_process(tmp_path, OWNER) as client:
        ids = await remember_all(client, FACTS)
        await told(client, "remember", content="Mei likes tea.", category="preference", tags=["tea"])
        first = await told(client, "list_memories", limit=3)
        second = await told(client, "list_memories", limit=3, after=first["next"])
        tagged = await told(client, "list_memories", tag="tea")
        kind = await told(client, "list_memories", category="preference")
        said = await told(client, "list_memories", containing="redis")
    assert [one["id"] for one in [*first["memories"], *second["memories"]]][1:] == ids[::-1]
    assert first["next"] in first["text"]
    assert second["next"] is None
    assert [one["content"] for one in tagged["memories"]] == ["Mei likes tea."]
    assert tagged["memories"] == kind["memories"]
    assert [one["id"] for one in said["memories"]] == [ids[1]]


async def test_a_memory_is_a_resource_of_its_user(tmp_path: Path) -> None:
    async with in_process(tmp_path, OWNER) as client:
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


async def test_memories_are_resources_page_by_page_each_once(tmp_path: Path) -> None:
    async with in_process(tmp_path, OWNER) as client:
        ids = await remember_all(client, [f"fact number {number}" for number in range(55)])
        pages = [await client.list_resources()]
        while pages[-1].next_cursor is not None:
            pages.append(await client.list_resources(cursor=pages[-1].next_cursor))
    listed = [one.uri.rpartition("/")[2] for page in pages for one in page.resources]
    assert sorted(listed) == sorted(ids)
    assert [len(page.resources) for page in pages] == [50, 5]
