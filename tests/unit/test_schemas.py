"""The published schemas say what the classes are, and which requests are accepted."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import attrs
import pytest
from jsonschema import Draft202012Validator, FormatChecker

from chatmemory import EarlierContent, Namespace, NewMessage, Success
from chatmemory.context.chat_context import ChatContext, ContextMessage
from chatmemory.conversation.messages import (
    AddReport,
    ChatMessage,
    ClearReport,
    Conversation,
    ConversationPage,
    HistoryReport,
    MessagePage,
    SummarizationMetadata,
    TimestampRange,
    Undone,
)
from chatmemory.embedding.space import Embedding, EmbeddingSpace
from chatmemory.input.structure import structure, unstructure
from chatmemory.longterm.extraction.memory_extractor import (
    Evidence,
    Extraction,
    MemoryUpdate,
    ProposedMemory,
    StatedFact,
)
from chatmemory.longterm.memories import (
    Duplicate,
    ForgetReceipt,
    MemoryPage,
    NewMemory,
    Provenance,
    RememberReport,
    Skipped,
    Stored,
)
from chatmemory.longterm.recall.recall import Coverage, Recall, RecallHit, Signals
from chatmemory.programs.archive.import_report import ImportCount, ImportIssue, ImportReport
from chatmemory.programs.archive.records import (
    ConversationRecord,
    DeletedRecord,
    ExportEnd,
    ExportHeader,
    ForkRecord,
    ItemRecord,
    MemoryRecord,
    MessageRecord,
    SummaryRecord,
)
from chatmemory.programs.json_schema import PRINTED, PUBLISHED, json_schema, schema_files
from tests.remembered import memory_of
from tests.service_errors import SERVICE_ERRORS

SCHEMAS = Path(__file__).parents[2] / "schemas"
NOON = datetime(2025, 3, 14, 12, tzinfo=UTC)
MESSAGE = ChatMessage("m1", 1, "tool", "好", NOON, {"toolCallId": "call_1"}, covered_by="s1")
PROPOSED = ProposedMemory("语言", ["Python"], "我用 Python", "fact", 0.9, "zh", Evidence(0, 3))
MEMORY = memory_of(
    "我用 Python",
    "x",
    namespace=Namespace("mei", "desk"),
    key="语言",
    value={"name": "Python"},
    tags=("code",),
    session_id="s1",
    provenance=Provenance(("m1",), "rules", "notes.md:7"),
    created_at=NOON,
    embedding=EmbeddingSpace("e", 2),
)
HIT = RecallHit(MEMORY, 0.5, Signals(None, 1.0, 0.0, 1.0))
RECORDS = (
    ExportHeader(),
    ConversationRecord(id="c", owner=MEMORY.namespace, created_at=NOON, updated_at=NOON, forked_from=None),
    MessageRecord(conversation_id="c", id="m", role="user", content="好", timestamp=NOON, metadata={"a": 1}),
    DeletedRecord(conversation_id="c", ids=("d",), timestamp=NOON),
    SummaryRecord(
        conversation_id="c", id="s", content="短", timestamp=NOON, metadata=None, metadata_id="x", covers=("m",),
        starts_at=NOON, ends_at=NOON, skill_id="k", messages_deleted=False, is_stale=True, created_at=NOON,
    ),
    ForkRecord(conversation_id="c", id="b", at="s", owner=MEMORY.namespace, created_at=NOON),
    MemoryRecord(
        memory=MEMORY,
        earlier=(EarlierContent(1, NOON, "我用 C", None, None, None, (), 1.0, "user_stated", Provenance()),),
        dedup_key="00" * 32,
        vector=None,
    ),
    ItemRecord(namespace=("langgraph",), key="k", value=[1, None], created_at=NOON, updated_at=NOON),
    ExportEnd(conversations=1),
)  # fmt: skip

EXAMPLES = [
    ("add_report", AddReport(("m1",), ("m0",), 2, HistoryReport("done", ("s1",)))),
    ("chat_message", MESSAGE),
    ("clear_report", ClearReport(3, 1, 9)),
    ("undone", Undone("cleared", 10, 0, 3, "by rail")),
    ("conversation", Conversation("c", 2, 2, 1, 30, 1, NOON, NOON)),
    ("conversation_page", ConversationPage((Conversation("会", 2, 2, 1, 30, 1, NOON, NOON),), None)),
    *(("error", error) for error in SERVICE_ERRORS),
    ("chat_context", ChatContext((ContextMessage("user", "好", {"a": 1}, "m1"),), ("x",), 9)),
    ("extraction", Extraction((PROPOSED,), "rules", "the skill was slow")),
    *(("export_record", record) for record in RECORDS),
    (
        "import_report",
        ImportReport(
            9,
            *[ImportCount(1, 2)] * 5,
            ("tea",),
            ("mei",),
            {"password": 1},
            (ImportIssue(3, "no JSON"),),
            1,
            is_whole=True,
            is_dry_run=False,
        ),
    ),
    ("forget_receipt", ForgetReceipt(2, 1, ("s1",))),
    ("memory", MEMORY),
    ("memory_page", MemoryPage((MEMORY,), "2025-03-14T12:00:00+00:00 x")),
    ("memory_update", MemoryUpdate(True, (StatedFact("语言", {"name": "Python"}),))),
    ("new_memory", NewMemory("好", value=[1, {"a": None}], embedding=Embedding("e", (1.0, 0.5)))),
    ("recall", Recall((HIT,), "hybrid", "by words and vectors", Coverage(1, 2))),
    (
        "remember_report",
        RememberReport((Stored("x", ("w",)), Duplicate("x"), Skipped("echo", "x")), 1, "off"),
    ),
    ("message_page", MessagePage((MESSAGE,), 2, None, 1)),
    ("new_message", NewMessage("user", "好", "m1", NOON, {"a": [1, None]})),
    (
        "summarization_metadata",
        SummarizationMetadata("x", "c", "s1", ("m1",), TimestampRange(NOON, NOON), "k", True, NOON),
    ),
]


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(json_schema(PUBLISHED[name]), format_checker=FormatChecker())


def test_the_committed_schemas_are_those_of_the_classes_and_json_for_every_reader() -> None:
    committed = {file.name: file.read_text(encoding="utf-8") for file in SCHEMAS.glob("*.schema.json")}
    assert committed == schema_files(), "run `make schemas` and commit what it writes"
    for file in SCHEMAS.glob("*.json"):
        json.loads(file.read_text(encoding="utf-8"), parse_constant=pytest.fail)  # Infinity, NaN
    for class_ in (*PUBLISHED.values(), *PRINTED.values()):
        Draft202012Validator.check_schema(json_schema(class_))


def test_what_is_written_obeys_its_schema() -> None:
    assert {name for name, _ in EXAMPLES} == set(PUBLISHED) - {"configuration"}
    validators = {name: validator(name) for name, _ in EXAMPLES}
    wrong = [
        (value, error.message)
        for name, value in EXAMPLES
        for error in validators[name].iter_errors(unstructure(value))
    ]
    assert wrong == []


def test_schema_and_parser_agree_about_a_message() -> None:
    new_message = validator("new_message")
    changes: list[tuple[dict[str, Any], bool]] = [
        ({}, True),
        ({"id": None, "timestamp": "2025-03-14T12:00:00Z", "metadata": {"nested": [{}]}}, True),
        ({"rol": "user"}, False),
        ({"role": "bot"}, False),
        ({"content": 1}, False),
        ({"content": None}, False),
        ({"timestamp": 1700000000}, False),
        ({"metadata": "text"}, False),
    ]
    for change, is_right in changes:
        data = {"role": "user", "content": "hello", **change}
        assert isinstance(structure(data, NewMessage), Success) is is_right, change
        assert new_message.is_valid(data) is is_right, change
    lengths = {0: False, 1: True, 512: True, 513: False}
    ids = {length: {"role": "user", "content": "", "id": "i" * length} for length in lengths}
    assert {length: new_message.is_valid(data) for length, data in ids.items()} == lengths


def test_what_is_written_can_be_read_again() -> None:
    examples = dict(EXAMPLES)
    for name in ("new_memory", "memory_update", "memory", "remember_report", "summarization_metadata"):
        value = examples[name]
        assert structure(json.loads(json.dumps(unstructure(value))), type(value)) == Success(value)


def test_a_field_or_a_validator_without_words_in_json_schema_is_refused() -> None:
    @attrs.frozen
    class Bag:
        mode: Literal["a"]
        bag: set[int]

    @attrs.frozen
    class Named:
        name: str = attrs.field(validator=attrs.validators.matches_re("a+"))

    for class_, words in ((Bag, r"no JSON Schema for set\[int\]"), (Named, "no JSON Schema for <matches_re")):
        with pytest.raises(TypeError, match=words):
            json_schema(class_)
