"""JSON Schemas of the values that other programs may read and write, generated from the classes.

``python -m chatmemory.programs.json_schema FOLDER`` writes one file for each name in ``PUBLISHED`` and
``PRINTED``.  A schema describes exactly what ``structure.py`` accepts, or what a command prints; its descriptions come from
the docstring of the class.
"""

import inspect
import json
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from math import inf
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Any,
    Final,
    Literal,
    NamedTuple,
    TypeAlias,
    Union,
    final,
    get_args,
    get_origin,
    is_typeddict,
)

import attrs

from chatmemory.context.chat_context import ChatContext
from chatmemory.conversation.messages import (
    AddReport,
    ChatMessage,
    ClearReport,
    Conversation,
    ConversationPage,
    MessagePage,
    SummarizationMetadata,
    Undone,
)
from chatmemory.conversation.new_message import NewMessage
from chatmemory.embedding.space import MAX_DIMENSIONS, Embedding
from chatmemory.errors import ServiceError
from chatmemory.input.choices import UNCHANGED
from chatmemory.input.json_value import Json, JsonObject
from chatmemory.input.rules import MAX_CONTENT_CHARACTERS, MAX_ID_CHARACTERS
from chatmemory.input.structure import (
    STAYS_INSIDE,
    is_any_json,
    may_be_unchanged,
    unstructure,
    without_unchanged,
)
from chatmemory.input.structuring import ALSO, key_of, named_tables_of
from chatmemory.longterm.extraction.memory_extractor import Extraction, MemoryUpdate, StatedFact
from chatmemory.longterm.memories import (
    ForgetReceipt,
    Memory,
    MemoryChanges,
    MemoryPage,
    NewMemory,
    Provenance,
    RememberReport,
)
from chatmemory.longterm.memory_rules import MAX_FACTS, MAX_TAGS
from chatmemory.longterm.recall.recall import Recall
from chatmemory.pastchats.past_chats import IndexReport
from chatmemory.programs.archive.import_report import ImportReport
from chatmemory.programs.archive.records import Record
from chatmemory.programs.pastchats.printed_past_chats import (
    PrintedFindings,
    PrintedRecall,
    PrintedSearch,
    PrintedStatistics,
    PrintedTurns,
)
from chatmemory.settings.memory_settings import Settings, TokenSettings
from chatmemory.settings.server_settings import storable
from chatmemory.settings.setting_rules import Matching, OneOf

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

PUBLISHED: Final[Mapping[str, object]] = {
    "add_report": AddReport,
    "chat_context": ChatContext,
    "chat_message": ChatMessage,
    "clear_report": ClearReport,
    "undone": Undone,
    "configuration": Settings,
    "conversation": Conversation,
    "conversation_page": ConversationPage,
    "error": ServiceError,
    "extraction": Extraction,
    "export_record": Record,
    "forget_receipt": ForgetReceipt,
    "import_report": ImportReport,
    "memory": Memory,
    "memory_page": MemoryPage,
    "memory_update": MemoryUpdate,
    "message_page": MessagePage,
    "new_memory": NewMemory,
    "new_message": NewMessage,
    "recall": Recall,
    "remember_report": RememberReport,
    "summarization_metadata": SummarizationMetadata,
}

PRINTED: Final[Mapping[str, object]] = {
    "pastchats_doctor": PrintedFindings,
    "pastchats_index": IndexReport,
    "pastchats_recall": PrintedRecall,
    "pastchats_search": PrintedSearch,
    "pastchats_show": PrintedTurns,
    "pastchats_stats": PrintedStatistics,
}
"""The values that commands of ``pastchats-memory`` print."""

_SCALARS: Final[Mapping[object, JsonObject]] = {
    NoneType: {"type": "null"},
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    datetime: {"type": "string", "format": "date-time"},
    date: {
        "type": "string",
        "anyOf": [{"format": "date"}, {"format": "date-time"}],
    },  # the two forms that Python accepts
}
_KEYWORD_OF_COMPARISON: Final = {
    ">=": "minimum",
    ">": "exclusiveMinimum",
    "<=": "maximum",
    "<": "exclusiveMaximum",
}
_KEYWORD_OF_LISTS: Final = {"minLength": "minItems", "maxLength": "maxItems"}
AN_ID: Final[JsonObject] = {"minLength": 1, "maxLength": MAX_ID_CHARACTERS}
TAGS: Final[JsonObject] = {"items": {"type": "string", **AN_ID}, "maxItems": MAX_TAGS, "uniqueItems": True}

_MESSAGE_TEXT: Final[JsonObject] = {"maxLength": MAX_CONTENT_CHARACTERS}
SOME_WORD: Final = r"[^\s\x1c-\x1f\x85]"  # the last ones count as spaces only in Python
_MEMORY_TEXT: Final[JsonObject] = {"minLength": 1, "maxLength": MAX_CONTENT_CHARACTERS, "pattern": SOME_WORD}
_CONFIDENCE: Final[JsonObject] = {"minimum": 0, "maximum": 1}

_LARGEST: Final = 3.4e38  # the largest and the smallest positive number that 32 bits certainly hold
_LEAST: Final = 1.2e-38
_VECTOR: Final[JsonObject] = {
    "items": {"type": "number", "minimum": -_LARGEST, "maximum": _LARGEST},
    "minItems": 1,
    "maxItems": MAX_DIMENSIONS,
    "contains": {"anyOf": [{"minimum": _LEAST}, {"maximum": -_LEAST}]},
}

Rules: TypeAlias = Mapping[tuple[object, str], JsonObject]
"""Rules by the class and the name of a field, or ``TOGETHER`` for rules about several fields."""

TOGETHER: Final = ""

RULES: Final[Rules] = {
    (NewMessage, "id"): AN_ID,
    (NewMessage, "content"): _MESSAGE_TEXT,
    (NewMemory, "id"): AN_ID,
    (NewMemory, "content"): _MEMORY_TEXT,
    (NewMemory, "key"): AN_ID,
    (NewMemory, "attribute"): AN_ID,
    (NewMemory, "session_id"): AN_ID,
    (NewMemory, "confidence"): _CONFIDENCE,
    (NewMemory, "tags"): TAGS,
    (MemoryChanges, "content"): _MEMORY_TEXT,
    (MemoryChanges, "key"): AN_ID,
    (MemoryChanges, "confidence"): _CONFIDENCE,
    (MemoryChanges, "tags"): TAGS,
    (Provenance, "message_ids"): {"items": {"type": "string", **AN_ID}},
    (Embedding, "model"): AN_ID,
    (Embedding, "vector"): _VECTOR,
    (MemoryUpdate, "memories"): {"maxItems": MAX_FACTS},
    (StatedFact, "key"): AN_ID,
    (StatedFact, "confidence"): _CONFIDENCE,
    (NewMessage, TOGETHER): {
        "if": {"properties": {"role": {"const": "summary"}}, "required": ["role"]},
        "then": {
            "properties": {
                "metadata": {
                    "type": "object",
                    "properties": {"summaryMetadataId": {"type": "string"}},
                    "required": ["summaryMetadataId"],
                }
            },
            "required": ["metadata"],
        },
    },
    (TokenSettings, TOGETHER): {
        "oneOf": [{"required": ["hash"]}, {"required": ["token"]}],
        "dependentRequired": {"previousExpires": ["previousHash"]},
    },
}
"""Rules that ``message_rules.py`` and ``memory_rules.py`` check, instead of attrs validators."""


def json_schema(kind: object) -> JsonObject:
    """Return the schema of *kind*, a class of this package or a union of them, with the schemas of its parts under ``$defs``.

    Raises:
        TypeError: a field has a type or a validator for which no translation to JSON Schema is defined.
    """
    description = Description()
    described = description.of_class(kind) if isinstance(kind, type) else description.of_type(kind)
    definitions = dict(sorted(description.definitions.items()))
    return {"$schema": DIALECT, **described, **({"$defs": definitions} if definitions else {})}


def schema_files() -> Mapping[str, str]:
    """Return every published schema as the text of its file, by file name."""
    return {
        f"{name}.schema.json": json.dumps(json_schema(kind), ensure_ascii=False, indent=2, allow_nan=False)
        + "\n"
        for name, kind in {**PUBLISHED, **PRINTED}.items()
    }


@final
class Description:
    """Describes classes, and collects the *definitions* of their parts, whose path in the document is *place*.

    *rules* are those that no attrs validator checks.
    """

    def __init__(self, *, place: str = "#/$defs/", rules: Rules = RULES) -> None:
        self._place = place
        self._rules = rules
        self.definitions: dict[str, Json] = {}

    def of_type(self, kind: Any) -> JsonObject:
        """Return the schema of *kind*; for a class of this package, a reference to its definition."""
        if kind in _SCALARS:
            return _SCALARS[kind]
        if is_any_json(kind):
            return {}
        if attrs.has(kind) or is_typeddict(kind):
            if kind.__name__ not in self.definitions:
                self.definitions[kind.__name__] = {}  # reserve the name, in case the class contains itself
                self.definitions[kind.__name__] = self.of_class(kind)
            return {"$ref": f"{self._place}{kind.__name__}"}
        if may_be_unchanged(kind):
            return self.of_type(without_unchanged(kind))
        arguments = get_args(kind)
        match get_origin(kind):
            case origin if origin in (Union, UnionType):
                return {"anyOf": [self.of_type(member) for member in arguments]}
            case origin if origin is Literal:
                return {"const": arguments[0]} if len(arguments) == 1 else {"enum": list(arguments)}
            case origin if origin in (tuple, Sequence):
                return {"type": "array", "items": self.of_type(arguments[0])}
            case origin if origin is Mapping:
                inner = named_tables_of(kind)
                return {
                    "type": "object",
                    **({"additionalProperties": self.of_type(inner)} if inner else {}),
                }
            case _:
                raise TypeError(f"no JSON Schema for {kind!r}")

    def of_class(self, kind: type[Any]) -> JsonObject:
        """Return the whole schema of *kind*, not a reference."""
        summary, notes = _docstring(kind)
        members = _members_of_typed_dict(kind) if is_typeddict(kind) else _members_of_attrs(kind, self._rules)
        return {
            "title": kind.__name__,
            "description": summary,
            "type": "object",
            "properties": {
                name: {
                    **({"description": notes[member.name]} if member.name in notes else {}),
                    **self.of_type(member.type),
                    **member.rules,
                }
                for member in members
                for name in member.names
            },
            "required": [
                name for member in members if member.is_required and not member.also for name in member.names
            ],
            "additionalProperties": False,
            **_either_name([member for member in members if member.also]),
            **self._rules.get((kind, TOGETHER), {}),
        }


class _Member(NamedTuple):
    """The description of one field of a class."""

    name: str
    type: Any
    rules: JsonObject
    is_required: bool
    also: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names under which the field may be given."""
        return (key_of(self.name), *filter(None, [self.also]))


def _either_name(members: Sequence[_Member]) -> JsonObject:
    """Return the rule that a field with two names is given under one of them, not both."""
    if not members:
        return {}
    either: list[Json] = []
    for member in members:
        one, other = member.names
        if member.is_required:
            either.append({"oneOf": [{"required": [one]}, {"required": [other]}]})
        else:
            either.append({"not": {"required": [one, other]}})
    return {"allOf": either}


def _members_of_attrs(kind: type[Any], rules: Rules) -> Sequence[_Member]:
    return [
        _Member(
            field.name,
            field.type,
            {**_rule(field), **_kept_rule(kind, field.name, rules), **_default(field)},
            is_required=field.default is attrs.NOTHING or _is_tag(field),
            also=field.metadata.get(ALSO),
        )
        for field in attrs.fields(kind)
        if field.type not in STAYS_INSIDE
    ]


def _kept_rule(kind: type[Any], name: str, rules: Rules) -> JsonObject:
    """Return the rule of a field, from the class itself or the nearest base class that has one."""
    none: JsonObject = {}
    return next((rules[base, name] for base in kind.__mro__ if (base, name) in rules), none)


def _members_of_typed_dict(kind: type[Any]) -> Sequence[_Member]:
    return [_Member(name, inner, {}, is_required=True) for name, inner in kind.__annotations__.items()]


def _rule(field: "attrs.Attribute[Any]") -> JsonObject:
    # The classes of attrs.validators are private; the attributes used here are those that their repr shows.
    rule: JsonObject = {} if field.validator is None else _of_validator(field.validator)
    is_list = get_origin(field.type) is tuple
    return {_KEYWORD_OF_LISTS[word]: bound for word, bound in rule.items()} if is_list else rule


def _of_validator(validator: Any) -> JsonObject:
    if hasattr(validator, "_validators"):
        return {word: bound for one in validator._validators for word, bound in _of_validator(one).items()}  # noqa: SLF001  as above
    if hasattr(validator, "validator"):  # a validator of an optional value
        return _of_validator(validator.validator)
    if hasattr(validator, "compare_op"):
        if validator.bound == inf:  # true of every JSON number
            return {}
        return {_KEYWORD_OF_COMPARISON[validator.compare_op]: validator.bound}
    if hasattr(validator, "min_length"):
        return {"minLength": validator.min_length}
    if hasattr(validator, "max_length"):
        return {"maxLength": validator.max_length}
    if validator is storable:  # JSON Schema has no word for it
        return {}
    if isinstance(validator, OneOf):  # the type already says so
        return {}
    if isinstance(validator, Matching):
        return {"pattern": f"^({validator.pattern})$"}
    raise TypeError(f"no JSON Schema for {validator!r}")


def _default(field: "attrs.Attribute[Any]") -> JsonObject:
    default: Any = field.default
    is_made = isinstance(default, attrs.Factory)  # type: ignore[arg-type]  # a class at run time, a function to the checker
    if is_made or default is attrs.NOTHING or default is UNCHANGED or _is_tag(field):
        return {}
    return {"default": unstructure(default)}


def _is_tag(field: "attrs.Attribute[Any]") -> bool:
    """Return whether *field* is a tag that distinguishes classes; it is always present, although Python fills it in."""
    return field.name == "tag" and get_origin(field.type) is Literal


def _docstring(kind: type[Any]) -> tuple[str, Mapping[str, str]]:
    """Return the first paragraph of a class's docstring, and the texts of its ``Attributes`` section by name."""
    prose = ""
    notes: dict[str, str] = {}
    # A field without its own description inherits that of the base class.
    for base in reversed(kind.__mro__[:-1]):
        prose, _, attributes = (inspect.getdoc(base) or "").replace("``", "`").partition("\nAttributes:\n")
        said = re.findall(r"^ {4}(\w+): (.*(?:\n {5,}.*)*)", attributes, re.MULTILINE)
        notes |= {name: _one_line(note) for name, note in said}
    return _one_line(prose.partition("\n\n")[0]), notes


def _one_line(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    for file_name, schema in schema_files().items():
        (Path(sys.argv[1]) / file_name).write_text(schema, encoding="utf-8")
