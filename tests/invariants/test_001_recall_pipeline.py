"""文档 001:召回管线。目标 G1-G5、决策 D1-D5 和风险 R1-R5 各有一个同名的测试。"""

import logging
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from chatmemory import (
    ChatContextBuilder,
    ChatMemory,
    EmbedderTag,
    EmbeddingError,
    Failure,
    Layer,
    LongTermMemory,
    LongTermMemoryService,
    ManagedRuntime,
    Namespace,
    NewMemory,
    NewMessage,
    TestClock,
)
from chatmemory.context.agent_prompt import AgentTurn, agent_messages, agent_prompt
from chatmemory.embedding.space import Embedding
from chatmemory.errors import EmbeddingProblem
from chatmemory.longterm.recall.recall_ranking import time_decay
from chatmemory.settings.embedding_settings import EmbeddingSettings, EmbeddingSettingsTag
from chatmemory.settings.memory_settings import MemorySettings, RetrievalSettings
from chatmemory.testing import Stub
from chatmemory_layers import stacks
from chatmemory_layers.embedding.from_settings import embedder_from_settings
from tests.invariants.conftest import LEGACY_USER, USER
from tests.unit.sqlite.desktop_files import change, desktop_file

HALF_AN_HOUR = timedelta(minutes=30)
COUNTING = "counting"


async def contents(memory: LongTermMemory, query: str, namespace: Namespace = USER) -> list[str]:
    return [hit.memory.content for hit in (await memory.recall(namespace, query).or_raise()).hits]


@pytest.mark.parametrize(
    "settings", [MemorySettings(embedding=EmbeddingSettings(provider="openai_compatible", model=""))]
)
async def test_g1_embedding_model_为空或_api_不支持时不崩溃_优雅降级到关键词检索(
    memory: LongTermMemory,
) -> None:
    report = await memory.remember(USER, [NewMemory("我在北京工作"), NewMemory("I like jazz")]).or_raise()
    assert (len(report.stored), report.unembedded) == (2, 2)
    recalled = await memory.recall(USER, "北京的工作").or_raise()
    assert [hit.memory.content for hit in recalled.hits] == ["我在北京工作"]
    assert recalled.mode == "lexical"
    assert "not configured" in recalled.reason


async def test_g2_rag_召回结果与当前对话高度相关(memory: LongTermMemory) -> None:
    await memory.remember(
        USER, [NewMemory("我在北京工作"), NewMemory("图表要用公司的蓝色"), NewMemory("I like jazz")]
    ).or_raise()
    assert await contents(memory, "图表用什么蓝色?") == ["图表要用公司的蓝色"]
    assert await contents(memory, "which jazz do I like?") == ["I like jazz"]
    assert await contents(memory, "明天下雨吗") == []


async def test_g3_每轮对话完成后分别入库_含_embedding_可立即被后续检索到(memory: LongTermMemory) -> None:
    report = await memory.save_conversation_turn(
        USER, "图表要用公司的蓝色", "好的,图表用蓝色。", session_id="s1"
    ).or_raise()
    saved = [await memory.get(USER, memory_id).or_raise() for memory_id in report.stored]
    assert [one.role for one in saved] == ["user", "assistant"]
    assert all(one.embedding is not None for one in saved)
    for one in saved:
        await memory.promote(USER, one.id).or_raise()
    assert len(await contents(memory, "图表的蓝色")) == 2


async def test_g4_区分短期记忆和长期记忆_assistant_回复以_assistant_的语义存入(
    memory: LongTermMemory, chat: ChatMemory, contexts: ChatContextBuilder
) -> None:
    await chat.add_messages("s1", [NewMessage("user", "你好"), NewMessage("assistant", "你好!")]).or_raise()
    await memory.save_conversation_turn(USER, "你好", "你好!", session_id="s1").or_raise()
    await memory.remember(USER, [NewMemory("图表要用公司的蓝色")]).or_raise()
    context = await contexts.build(USER, "s1", "图表用什么蓝色?").or_raise()
    assert [message.role for message in context.messages] == ["system", "user", "assistant", "user"]
    short = (await memory.list(USER, memory_type="short_term").or_raise()).memories
    assert {(one.role, one.content) for one in short} == {("user", "你好"), ("assistant", "你好!")}


async def test_g5_agent_规划提示词作为_system_仅首轮发送_后续轮次仅传增量() -> None:
    turns = []
    for request, reply in (("加一张图", "第一步完成"), ("换成蓝色", None)):
        turns.append(AgentTurn(await agent_prompt("你按步骤规划。", request).or_raise(), reply))
    assert [(message.role, message.content) for message in agent_messages(turns)] == [
        ("system", "你按步骤规划。"),
        ("user", "加一张图"),
        ("assistant", "第一步完成"),
        ("user", "换成蓝色"),
    ]


# --- D1 ---


class TestDeepSeek:
    @pytest.fixture
    def settings(self) -> MemorySettings:
        deepseek = EmbeddingSettings(
            provider="openai_compatible", base_url="https://api.deepseek.com/v1", model="deepseek-chat"
        )
        return MemorySettings(embedding=deepseek)

    async def test_d1_检测_已知不支持的_api_不发起请求_记忆照常保存(self, memory: LongTermMemory) -> None:
        report = await memory.remember(USER, [NewMemory("我在北京工作")]).or_raise()
        assert report.unembedded == 1
        assert "deepseek" in str(report.reason).lower()
        (found,) = (await memory.list(USER).or_raise()).memories
        assert found.embedding is None
        assert await contents(memory, "北京") == ["我在北京工作"]

    async def test_d1_未选择可用的_embedding_model_时只警告不阻止(
        self, settings: MemorySettings, caplog: pytest.LogCaptureFixture
    ) -> None:
        given = Layer.succeed(EmbeddingSettingsTag, settings.embedding)
        with caplog.at_level(logging.WARNING):
            async with ManagedRuntime(given >> embedder_from_settings(settings.embedding)) as runtime:
                embedder = await runtime.service(EmbedderTag)
        assert embedder.unavailability() is not None
        assert "embed" in caplog.text


class WithCountingEmbedder:
    """An embedder that gives ``(1, 0)`` for every text, or fails with *problem*; each call is counted."""

    problem: EmbeddingProblem | None = None

    @pytest.fixture
    def embedder(self) -> stacks.Embedders:
        def embed(texts: Sequence[str]) -> object:
            if self.problem is not None:
                return Failure(EmbeddingError(COUNTING, self.problem))
            return np.array([[1.0, 0.0]] * len(texts), dtype=np.float32)

        stub = Stub(
            EmbedderTag, model=COUNTING, similarity_threshold=0.3, unavailability=lambda: None, embed=embed
        )
        self.calls = stub.calls
        return stub.layer

    @property
    def embedded(self) -> int:
        return len(self.calls.of("embed"))


class TestEmbedderThatFails(WithCountingEmbedder):
    async def test_d1_标记_失败结果缓存_30_分钟不再重试(
        self, memory: LongTermMemory, clock: TestClock
    ) -> None:
        self.problem = "unavailable"
        await memory.remember(USER, [NewMemory("我在北京工作")]).or_raise()
        assert self.embedded == 1
        await clock.advance(HALF_AN_HOUR.total_seconds() - 1)
        recalled = await memory.recall(USER, "北京的工作").or_raise()
        assert (self.embedded, recalled.mode) == (1, "lexical")
        self.problem = None
        await clock.advance(2)
        await memory.recall(USER, "北京的工作").or_raise()
        assert self.embedded == 2

    async def test_d1_降级_embedding_为_null_的记忆仍可用关键词检索(
        self, memory: LongTermMemory, clock: TestClock
    ) -> None:
        self.problem = "unavailable"
        await memory.remember(USER, [NewMemory("我在北京工作")]).or_raise()
        self.problem = None
        await clock.advance(HALF_AN_HOUR.total_seconds() + 1)
        recalled = await memory.recall(USER, "北京的工作").or_raise()
        assert [hit.memory.content for hit in recalled.hits] == ["我在北京工作"]
        assert (recalled.coverage.embedded, recalled.coverage.memories) == (0, 1)
        report = await memory.re_embed(USER).or_raise()
        assert (report.embedded, report.remaining) == (1, 0)


# --- D2 ---


class TestVectorsOfTheirOwn(WithCountingEmbedder):
    """以给定的向量检验阈值与衰减:查询的向量总是 (1, 0)。"""

    async def remember(self, memory: LongTermMemory, similarity: float, **fields: object) -> str:
        row = (similarity, (1 - similarity**2) ** 0.5)
        new = NewMemory(f"相似度 {similarity}", embedding=Embedding(COUNTING, row), **fields)
        (memory_id,) = (await memory.remember(USER, [new], dedup="none").or_raise()).stored
        return memory_id

    async def test_d2_相似度阈值_低于_0_3_的结果丢弃(self, memory: LongTermMemory) -> None:
        near = await self.remember(memory, 0.31)
        await self.remember(memory, 0.29)
        assert [hit.memory.id for hit in (await memory.recall(USER, "zzz").or_raise()).hits] == [near]

    async def test_d2_时间衰减因子_约_100_天半衰期(self, memory: LongTermMemory, clock: TestClock) -> None:
        await self.remember(memory, 0.8, source="inferred", memory_type="long_term")
        (fresh,) = (await memory.recall(USER, "zzz").or_raise()).hits
        await clock.advance(timedelta(days=100).total_seconds())
        (aged,) = (await memory.recall(USER, "zzz").or_raise()).hits
        assert aged.signals.similarity == pytest.approx(0.8, abs=1e-5)
        assert aged.signals.decay == pytest.approx(0.5)
        assert aged.score == pytest.approx(fresh.score / 2)
        assert time_decay(100, 0.01) == pytest.approx(0.5)

    async def test_r2_时间衰减可能淘汰旧但重要的记忆_重要的不受衰减影响(
        self, memory: LongTermMemory, clock: TestClock
    ) -> None:
        pinned = await self.remember(memory, 0.6, source="inferred", memory_type="long_term")
        await memory.pin(USER, pinned).or_raise()
        stated = await self.remember(memory, 0.5)
        await clock.advance(timedelta(days=365).total_seconds())
        hits = (await memory.recall(USER, "zzz").or_raise()).hits
        assert [(hit.memory.id, hit.signals.decay) for hit in hits] == [(pinned, 1.0), (stated, 1.0)]


async def test_d2_app_type_过滤_仅检索当前宿主相关记忆(memory: LongTermMemory) -> None:
    for app in ("Excel", "Word", ""):
        await memory.remember(Namespace("小王", app), [NewMemory(f"图表要用蓝色 {app}")]).or_raise()
    await memory.remember(Namespace("小李", "Excel"), [NewMemory("图表要用蓝色 小李")]).or_raise()
    assert set(await contents(memory, "图表的蓝色")) == {"图表要用蓝色 Excel", "图表要用蓝色 "}
    assert len(await contents(memory, "图表的蓝色", Namespace("小王"))) == 3


@pytest.mark.parametrize("settings", [MemorySettings(embedding=EmbeddingSettings(provider="none"))])
async def test_d2_like_回退分支_同样增加_app_type_过滤(memory: LongTermMemory) -> None:
    for app in ("Excel", "Word"):
        await memory.remember(Namespace("小王", app), [NewMemory(f"★ {app}")]).or_raise()
    await memory.save_conversation_turn(USER, "★ short", "", session_id="s1").or_raise()
    recalled = await memory.recall(USER, "★").or_raise()
    assert (recalled.mode, [hit.memory.content for hit in recalled.hits]) == ("like", ["★ Excel"])


# --- D3, D4 ---


async def test_d3_分条存储_完整内容_基于_session_role_和前_50_字符去重(memory: LongTermMemory) -> None:
    prefix = "季" * 50
    for tail in ("一", "二"):
        await memory.save_conversation_turn(USER, prefix + tail, prefix + tail, session_id="s1").or_raise()
    saved = (await memory.list(USER).or_raise()).memories
    assert {(one.role, one.content) for one in saved} == {
        ("user", prefix + "一"),
        ("assistant", prefix + "一"),
    }


async def test_d4_记忆分层_字段标记_注入分离(memory: LongTermMemory, contexts: ChatContextBuilder) -> None:
    await memory.save_conversation_turn(USER, "图表要用红色", "好。", session_id="s1").or_raise()
    kept = await memory.remember(USER, [NewMemory("图表要用蓝色")]).or_raise()
    context = await contexts.build(USER, "s1", "图表要用什么颜色?").or_raise()
    assert context.memory_ids == kept.stored
    assert "红色" not in context.messages[0].content


async def test_d5_拆分_prompt_为_system_与_user() -> None:
    prompt = await agent_prompt("固定指令、格式要求、command 文档", "用户需求", intent="意图").or_raise()
    assert prompt.system == "固定指令、格式要求、command 文档"
    assert "固定指令" not in prompt.user
    assert "用户需求" in prompt.user
    assert "意图" in prompt.user


# --- R1, R3, R4, R5 ---


@pytest.mark.parametrize("settings", [MemorySettings(retrieval=RetrievalSettings(similarity_threshold=0.99))])
async def test_r1_相似度阈值可配置_零结果时仍有候选(memory: LongTermMemory) -> None:
    await memory.remember(USER, [NewMemory("图表要用公司的蓝色")]).or_raise()
    (hit,) = (await memory.recall(USER, "蓝色").or_raise()).hits
    assert hit.signals.similarity is not None
    assert hit.signals.similarity < 0.99
    assert hit.signals.lexical > 0


async def test_r3_分条存储_单条对话从_1_条变_2_条(memory: LongTermMemory) -> None:
    for turn in range(20):
        await memory.save_conversation_turn(USER, f"问题 {turn}", f"答案 {turn}", session_id="s1").or_raise()
    assert len((await memory.list(USER).or_raise()).memories) == 40


async def test_r4_数据库迁移版本_6_向后兼容_桌面应用照常写入(tmp_path: Path) -> None:
    file = desktop_file(tmp_path / "desktop.db")
    async with ManagedRuntime(stacks.embedded(file)):
        pass
    change(file, "INSERT INTO atomic_memory (timestamp, content) VALUES (1741990000, '后来写的')")
    async with ManagedRuntime(stacks.embedded(file)) as runtime:
        memory = await runtime.service(LongTermMemoryService)
        (newest, *_) = (await memory.list(Namespace(LEGACY_USER)).or_raise()).memories
    assert (newest.content, newest.memory_type) == ("后来写的", "short_term")


class TestAnyRefusal(WithCountingEmbedder):
    async def test_r5_不支持_embedding_的_api_兜底_任何失败都降级(
        self, memory: LongTermMemory, clock: TestClock
    ) -> None:
        for problem in get_args(EmbeddingProblem):
            self.problem = problem
            user = Namespace(problem)
            report = await memory.remember(user, [NewMemory("我在北京工作")]).or_raise()
            assert (len(report.stored), report.unembedded) == (1, 1), problem
            assert await contents(memory, "北京", user) == ["我在北京工作"]
            await clock.advance(HALF_AN_HOUR.total_seconds() + 1)
        assert self.embedded >= len(get_args(EmbeddingProblem))
