"""Extraction by a model that answers well, badly, too late, or not at all."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest

from chatmemory.context.recalled_block import MEMORIES_NOTICE, recalled_block
from chatmemory.conversation.skill_runner import SkillRequest, SkillRunnerTag
from chatmemory.effect import Effect, Failure, Layer, ManagedRuntime, Outcome
from chatmemory.errors import SkillExecutionError
from chatmemory.longterm.extraction.extractors import memory_extractor, rule_extractor
from chatmemory.longterm.extraction.memory_extractor import (
    Evidence,
    Extraction,
    MemoryExtractor,
    MemoryExtractorTag,
    ProposedMemory,
)
from chatmemory.longterm.extraction.rules import MAX_PROPOSALS
from chatmemory.longterm.extraction.skill import (
    LIKELY,
    MAX_ANSWER_CHARACTERS,
    MAX_CONTENT_CHARACTERS,
    MAX_KEY_CHARACTERS,
    MAX_VALUE_CHARACTERS,
)
from chatmemory.settings.memory_settings import (
    ExtractionSettings,
    ExtractionSettingsTag,
    SkillSettings,
    SkillSettingsTag,
)
from chatmemory.testing import Stub, hangs
from chatmemory_layers.skills.extractive import extractive
from chatmemory_layers.skills.openai_compatible import openai_compatible
from tests.for_each import for_each
from tests.http_server import Reply, http_server
from tests.patience import PATIENCE_SECONDS

TEXT = "我住在杭州，喜欢龙井茶。"
TEA = {"key": "饮品偏好", "value": "龙井茶", "category": "preference", "evidence": "喜欢龙井茶"}
BY_SKILL = ExtractionSettings(extractor="skill")


def answer(*memories: object) -> str:
    return json.dumps({"memories": memories}, ensure_ascii=False)


@asynccontextmanager
async def extractor(
    runner: Layer[SkillRunnerTag], settings: ExtractionSettings = BY_SKILL
) -> AsyncGenerator[MemoryExtractor]:
    given = runner | Layer.succeed(ExtractionSettingsTag, settings)
    async with ManagedRuntime(given >> memory_extractor) as runtime:
        yield await runtime.service(MemoryExtractorTag)


async def extract(
    *answers: str | SkillExecutionError, text: str = TEXT, settings: ExtractionSettings = BY_SKILL
) -> tuple[Extraction, list[SkillRequest]]:
    skills = Stub(
        SkillRunnerTag, run=[Failure(one) if isinstance(one, SkillExecutionError) else one for one in answers]
    )
    async with extractor(skills.layer, settings) as asked:
        found = await asked.extract(text).or_raise()
        return found, [call.arguments["request"] for call in skills.calls]


async def by_rules(text: str = TEXT) -> tuple[ProposedMemory, ...]:
    async with ManagedRuntime(rule_extractor) as runtime:
        found = await (await runtime.service(MemoryExtractorTag)).extract(text).or_raise()
        assert (found.extractor, found.note) == ("rules", None)
        return found.proposals


async def test_what_the_skill_finds_is_proposed_with_its_place_in_the_text() -> None:
    found, requests = await extract(answer({**TEA, "confidence": 0.95, "content": "我喜欢龙井茶"}))
    assert found == Extraction(
        (ProposedMemory("饮品偏好", "龙井茶", "我喜欢龙井茶", "preference", 0.95, "zh", Evidence(6, 11)),),
        "memory-extraction",
    )
    assert [(said.role, said.content) for said in requests[0].messages] == [("user", TEXT)]


GREEN_TEA = ("龙井茶", LIKELY)
USELESS: list[dict[str, object]] = [
    {"key": " \n"},
    {"value": ""},
    {"value": None},
    {"value": "x" * (MAX_VALUE_CHARACTERS + 1)},
    {"value": {"\0": 1}},
]


@for_each(
    ("said", "kept"),
    [
        (answer(), []),
        (f"```json\n{answer(TEA)}\n```", [GREEN_TEA]),
        *(
            (answer({**TEA, **useless}, {**TEA, "value": {"茶": ["龙井"]}}), [({"茶": ["龙井"]}, LIKELY)])
            for useless in USELESS
        ),
        # Confidence is from 0 to 1.
        *(
            (answer({**TEA, "confidence": given}), [("龙井茶", kept)])
            for given, kept in ((7, 1.0), (-1, 0.0), (0.25, 0.25))
        ),
        # Text that could not be stored is cleaned.
        (json.dumps({"memories": [{**TEA, "value": "龙\ud800井\n茶\0"}]}), [("龙\ufffd井 茶\ufffd", LIKELY)]),
        # The same memory is proposed once, and the surest memory comes first.
        (answer(TEA, TEA, {**TEA, "value": "红茶", "confidence": 0.99}), [("红茶", 0.99), GREEN_TEA]),
    ],
)
async def test_what_is_kept_of_an_answer(said: str, kept: list[tuple[object, float]]) -> None:
    found, _ = await extract(said)
    assert (found.extractor, found.note) == ("memory-extraction", None)
    assert [(one.value, one.confidence) for one in found.proposals] == kept


async def test_what_memory_had_put_into_the_text_is_not_shown_to_the_skill() -> None:
    block = recalled_block(['{"memory": "m1", "source": "system"}'], fence="0" * 16, notice=MEMORIES_NOTICE)
    found, requests = await extract(answer(TEA), text=f"{block}\n喜欢龙井茶")
    assert requests[0].messages[0].content.strip() == "喜欢龙井茶"
    assert found.proposals[0].evidence == Evidence(len(block) + 1, len(block) + 6)


@for_each("text", ["", "  \n", recalled_block(["x"], fence="0" * 16, notice=MEMORIES_NOTICE)])
async def test_nobody_is_asked_about_nothing(text: str) -> None:
    found, requests = await extract(text=text)
    assert (found.proposals, requests) == ((), [])


async def test_evidence_that_the_text_does_not_hold_is_the_whole_text() -> None:
    found, _ = await extract(answer({**TEA, "evidence": "我是管理员"}))
    assert found.proposals[0].evidence == Evidence(0, len(TEXT))


async def test_lengths_and_counts_have_an_end() -> None:
    many = [{**TEA, "key": f"{number}{'k' * 99}", "content": "字 \n" * 20} for number in range(20)]
    found, _ = await extract(answer(*many))
    assert len(found.proposals) == MAX_PROPOSALS
    assert {len(one.key) for one in found.proposals} == {MAX_KEY_CHARACTERS}
    assert {one.content for one in found.proposals} == {("字 " * 20).rstrip()}
    found, _ = await extract(answer({**TEA, "content": "字" * (MAX_CONTENT_CHARACTERS + 1)}))
    assert [one.content for one in found.proposals] == ["字" * MAX_CONTENT_CHARACTERS]


@for_each(
    ("bad", "problem"),
    [
        ("I found some tea.", "no JSON"),
        ('{"memories": [{"key": "a", "value": "b", "category": "taste"}]}', "$.memories[0].category"),
        ('{"memories": [{"key": "a", "category": "fact"}]}', "$.memories[0].value"),
        ('{"memories": {}}', "$.memories"),
        ("[]", "$"),
        ("[" * 9_999, "no JSON"),
    ],
)
async def test_a_bad_answer_is_sent_back_once_with_what_is_wrong(bad: str, problem: str) -> None:
    found, requests = await extract(bad, answer(TEA))
    assert (found.note, [one.value for one in found.proposals]) == (None, ["龙井茶"])
    text, its_answer, wrong = requests[1].messages
    assert (text.content, its_answer.role, its_answer.content, wrong.role) == (
        TEXT,
        "assistant",
        bad,
        "system",
    )
    assert problem in wrong.content


async def test_after_a_second_bad_answer_the_rules_stand_in() -> None:
    found, requests = await extract("tea", '{"memories": [{"key": "秘密"}]}')
    assert (found.proposals, found.extractor, len(requests)) == (await by_rules(), "rules", 2)
    assert found.note is not None
    assert "$.memories[0].value" in found.note
    assert "秘密" not in found.note


@pytest.mark.parametrize(
    ("failure", "note"),
    [
        (SkillExecutionError("memory-extraction", "rate_limited", "HTTP 429"), "rate limited (HTTP 429): "),
        (SkillExecutionError("memory-extraction", "empty"), "empty: "),
        ("x" * (MAX_ANSWER_CHARACTERS + 1), f"{MAX_ANSWER_CHARACTERS} allowed"),
    ],
)
async def test_a_failing_skill_fails_no_extraction_and_is_a_warning(
    failure: str | SkillExecutionError, note: str, caplog: pytest.LogCaptureFixture
) -> None:
    found, requests = await extract(failure)
    assert (found.proposals, found.extractor, len(requests)) == (await by_rules(), "rules", 1)
    assert note in str(found.note)
    assert [record.getMessage() for record in caplog.records] == [found.note]


@for_each("defect", [LookupError("my secret"), asyncio.CancelledError()])
async def test_a_runner_that_raises_or_cancels_itself_fails_no_extraction(defect: BaseException) -> None:
    class Runner:
        def run(self, _skill_id: str, _request: SkillRequest) -> Effect[str, SkillExecutionError]:
            async def fail() -> Outcome[str, SkillExecutionError]:
                raise defect

            return Effect.from_outcome(fail)

    async with extractor(Layer.succeed(SkillRunnerTag, Runner())) as asked:
        found = await asked.extract(TEXT).or_raise()
    assert found.proposals == await by_rules()
    assert "raised (" in str(found.note)
    assert "my secret" not in str(found.note)


async def test_a_hanging_skill_is_waited_for_as_long_as_configured() -> None:
    settings = ExtractionSettings(extractor="skill", timeout_seconds=0.05)
    async with extractor(Stub(SkillRunnerTag, run=[hangs]).layer, settings) as asked:
        with anyio.fail_after(PATIENCE_SECONDS):
            found = await asked.extract(TEXT).or_raise()
    assert found.proposals == await by_rules()
    assert "no answer within 0.05 s" in str(found.note)


async def test_offline_the_rules_stand_in() -> None:
    async with extractor(extractive) as asked:
        found = await asked.extract(TEXT).or_raise()
    assert found.proposals == await by_rules()
    assert "unknown skill" in str(found.note)


async def test_the_settings_choose_the_extractor() -> None:
    skills = Stub(SkillRunnerTag, run=[answer(TEA)])
    async with extractor(skills.layer, ExtractionSettings()) as asked:
        assert (await asked.extract(TEXT).or_raise()).extractor == "rules"
    async with extractor(skills.layer) as asked:
        assert (await asked.extract(TEXT).or_raise()).extractor == "memory-extraction"
    assert skills.calls.methods == ["run"]


@for_each(
    ("text", "instruction"), [(TEXT, "你负责维护一个助手的记忆"), ("I like tea.", "You keep the memory")]
)
async def test_a_model_is_asked_for_json_in_the_language_of_the_text(text: str, instruction: str) -> None:
    async with http_server(Reply.completion("Sure!"), Reply.completion(answer(TEA))) as server:
        settings = SkillSettings(base_url=server.url, model="small")
        runner = Layer.succeed(SkillSettingsTag, settings) >> openai_compatible
        given = runner | Layer.succeed(ExtractionSettingsTag, BY_SKILL)
        async with ManagedRuntime(given >> memory_extractor) as runtime:
            found = await (await runtime.service(MemoryExtractorTag)).extract(text).or_raise()
    assert [one.value for one in found.proposals] == ["龙井茶"]
    first, second = (request.json for request in server.requests)
    assert first["response_format"] == {"type": "json_object"}
    system, user = first["messages"]
    assert system["content"].startswith(instruction)
    assert '{"memories": [{"key": ' in system["content"]
    assert user["content"].count("\n") == 2
    assert second["messages"][1]["content"].count("\n") == 4
