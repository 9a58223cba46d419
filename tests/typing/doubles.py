"""Stubs and spies are seen as the services that they stand for, and their layers need and give what they say."""

from __future__ import annotations

from typing import Never, assert_type

from chatmemory import (
    EmbedderTag,
    Layer,
    ManagedRuntime,
    MessageRepository,
    MessageRepositoryTag,
    SkillRequest,
    SkillRunner,
    SkillRunnerTag,
)
from chatmemory.embedding.query_embedder import QueryEmbedderTag
from chatmemory.pastchats.indexing.history_files import HistoryFilesTag
from chatmemory.testing import Spy, Stub, TableEmbedder, TextFiles
from chatmemory_layers import stacks
from chatmemory_layers.in_memory.message_repository import message_repository


def a_stub_is_its_service(request: SkillRequest) -> stacks.Stack:
    skills = Stub(SkillRunnerTag, run=["a summary"])
    assert_type(skills.service, SkillRunner)
    assert_type(skills.layer, Layer[SkillRunnerTag])
    skills.service.run("summary", request)
    skills.service.run(request)  # type: ignore[arg-type, call-arg]  # no skill is named
    stacks.testing(embedder=skills.layer)  # type: ignore[arg-type]  # no embedder
    Stub(SkillRunner)  # type: ignore[arg-type]  # a contract is not a tag
    return stacks.testing(skills=skills.layer)


def a_spy_needs_what_it_gives(real: MessageRepository) -> ManagedRuntime[MessageRepositoryTag]:
    messages = Spy(MessageRepositoryTag)
    assert_type(messages.around(real), MessageRepository)
    assert_type(messages.layer, Layer[MessageRepositoryTag, Never, MessageRepositoryTag])
    ManagedRuntime(messages.layer)  # type: ignore[arg-type]  # nothing real is there
    return ManagedRuntime(message_repository >> messages.layer)


def the_others_obey_their_contracts() -> None:
    embedder = TableEmbedder(table={"茶": (1, 0)})
    Layer.succeed(EmbedderTag, embedder)
    Layer.succeed(QueryEmbedderTag, embedder)
    Layer.succeed(HistoryFilesTag, TextFiles({"/chat.json": "[]"}))
    TableEmbedder(unknown="hash")  # type: ignore[arg-type]  # it fails, or is hashed
