"""``POST /memory/extract`` answers as document 002 requires.  Each scenario of its API is a test of its name."""

from typing import Any

import httpx

from chatmemory.longterm.saving.save_form import LEAST_CONFIDENCE
from chatmemory.settings.embedding_settings import EmbeddingSettings
from chatmemory.settings.memory_settings import ExtractionSettings, MemorySettings, Settings, StoreSettings
from chatmemory_layers import stacks
from tests.for_each import for_each
from tests.http_api import api
from tests.invariants import test_requirements
from tests.invariants.test_002_memory_extraction import ADVICE, FACT, PREFERENCE

MEMBERS = {"key", "value", "category", "confidence", "content", "extractor", "note", "proposals"}


async def extracted(client: httpx.AsyncClient, **message: str) -> Any:
    answer = await client.post("/memory/extract", json=message)
    assert answer.status_code == 200, answer.text
    assert set(answer.json()) == MEMBERS
    return answer.json()


async def test_extract_memory_from_user_preference_message(client: httpx.AsyncClient) -> None:
    found = await extracted(client, content=PREFERENCE)
    assert (found["key"], found["value"], found["category"]) == ("编程语言偏好", "Python", "preference")
    assert found["confidence"] >= 0.8


async def test_a_role_that_is_null_is_an_absent_role(client: httpx.AsyncClient) -> None:
    answers = [
        await client.post("/memory/extract", json={"content": PREFERENCE, **role})
        for role in ({}, {"role": None}, {"role": "user"})
    ]
    assert [answer.status_code for answer in answers] == [200] * 3
    assert answers[0].json() == answers[1].json() == answers[2].json()


async def test_extract_memory_from_fact_message(client: httpx.AsyncClient) -> None:
    found = await extracted(client, content=FACT)
    assert found["key"] in {"用户职业", "工作地点"}
    assert found["category"] == "fact"
    assert {one["key"]: one["value"] for one in found["proposals"]} == {
        "用户职业": "软件工程师",
        "工作地点": "北京",
    }


async def test_extract_from_ai_response(client: httpx.AsyncClient) -> None:
    found = await extracted(client, content=ADVICE, role="assistant")
    assert found["key"] == "开发工具推荐"
    assert "VS Code" in found["value"]


@for_each("content", ["好的", "嗯", "ok", "thanks!", "", "   "])
async def test_handle_empty_or_meaningless_content(client: httpx.AsyncClient, content: str) -> None:
    found = await extracted(client, content=content)
    assert found["confidence"] < LEAST_CONFIDENCE
    assert (found["key"], found["value"], found["category"]) == ("", content, "fact")
    assert found["proposals"] == []


async def test_content_is_required_and_role_is_user_or_assistant(client: httpx.AsyncClient) -> None:
    for message, path in (({}, "$.body.content"), ({"content": FACT, "role": "boss"}, "$.body.role")):
        answer = await client.post("/memory/extract", json=message)
        assert answer.status_code == 422
        assert [problem["path"] for problem in answer.json()["problems"]] == [path]


async def test_the_first_of_what_was_found_is_the_surest(client: httpx.AsyncClient) -> None:
    found = await extracted(client, content=f"{FACT}。{PREFERENCE}")
    confidences = [one["confidence"] for one in found["proposals"]]
    assert confidences == sorted(confidences, reverse=True)
    assert (found["key"], found["confidence"]) == (found["proposals"][0]["key"], confidences[0])


async def test_nothing_is_saved_by_it(client: httpx.AsyncClient) -> None:
    await extracted(client, content=PREFERENCE)
    assert (await client.get("/memories")).json()["memories"] == []


async def test_rules_stand_in_for_a_skill_that_does_not_run_and_say_so() -> None:
    memory = MemorySettings(
        extraction=ExtractionSettings(extractor="skill"),
        embedding=EmbeddingSettings(provider="none"),
        store=StoreSettings(backend="in_memory"),
    )
    async with api(stacks.configured(Settings(memory=memory))) as client:
        found = await extracted(client, content=PREFERENCE)
        assert (found["key"], found["extractor"]) == ("编程语言偏好", "rules")
        assert "memory-extraction" in found["note"]


def test_every_scenario_of_the_api_has_a_test_here() -> None:
    (row,) = (
        row
        for row in test_requirements.TABLE["002_memory_extraction"]
        if row["requirement"] == "Smart Memory Extraction API"
    )
    named = map(test_requirements.name_of_test, [*row["scenarios"], *row["also"]])
    assert set(named) <= set(globals())
