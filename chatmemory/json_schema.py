"""JSON Schemas of the values that others may read and write, made from the classes themselves.

``python -m chatmemory.json_schema FOLDER`` writes one file for each name in ``PUBLISHED``.  A schema says what
``structure.py`` accepts: the same names, the same strictness; its prose is the docstring of the class.
"""

import inspect
import json
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

import attrs

from chatmemory.chat_context import ChatContext
from chatmemory.effect.structuring import key_of
from chatmemory.errors import (
    ConversationNotFoundError,
    DataValidationError,
    GenericMemoryError,
    MemoryChangedError,
    MemoryConflictError,
    MemoryNotFoundError,
    MessageConflictError,
    VersionConflictError,
)
from chatmemory.memories import ForgetReceipt, Memory, MemoryPage, NewMemory, RememberReport
from chatmemory.memory_rules import MAX_TAGS
from chatmemory.message_rules import MAX_CONTENT_CHARACTERS, MAX_ID_CHARACTERS
from chatmemory.messages import (
    AddReport,
    ChatMessage,
    ClearReport,
    Conversation,
    Json,
    JsonObject,
    MessagePage,
    NewMessage,
    SummarizationMetadata,
)
from chatmemory.proposals import Extraction, MemoryUpdate
from chatmemory.recall import Recall
from chatmemory.settings import Settings
from chatmemory.structure import STAYS_INSIDE, is_any_json, unstructure

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

PUBLISHED: Final[Mapping[str, object]] = {
    "add_report": AddReport,
    "chat_context": ChatContext,
    "chat_message": ChatMessage,
    "clear_report": ClearReport,
    "configuration": Settings,
    "conversation": Conversation,
    "error": DataValidationError
    | ConversationNotFoundError
    | MessageConflictError
    | VersionConflictError
    | MemoryNotFoundError
    | MemoryConflictError
    | MemoryChangedError
    | GenericMemoryError,
    "extraction": Extraction,
    "forget_receipt": ForgetReceipt,
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

_SCALARS: Final[Mapping[object, JsonObject]] = {
    NoneType: {"type": "null"},
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    datetime: {"type": "string", "format": "date-time"},
}
_KEYWORD_OF_COMPARISON: Final = {
    ">=": "minimum",
    ">": "exclusiveMinimum",
    "<=": "maximum",
    "<": "exclusiveMaximum",
}
_RULES: Final[Mapping[tuple[object, str], JsonObject]] = {
    (NewMessage, "id"): {"minLength": 1, "maxLength": MAX_ID_CHARACTERS},
    (NewMessage, "content"): {"maxLength": MAX_CONTENT_CHARACTERS},
    (NewMemory, "id"): {"minLength": 1, "maxLength": MAX_ID_CHARACTERS},
    (NewMemory, "content"): {"minLength": 1, "maxLength": MAX_CONTENT_CHARACTERS},
    (NewMemory, "key"): {"minLength": 1, "maxLength": MAX_ID_CHARACTERS},
    (NewMemory, "session_id"): {"minLength": 1, "maxLength": MAX_ID_CHARACTERS},
    (NewMemory, "confidence"): {"minimum": 0, "maximum": 1},
    (NewMemory, "tags"): {"maxItems": MAX_TAGS},
}
"""Rules that ``message_rules.py`` and ``memory_rules.py`` keep, and no attrs validator."""


def json_schema(kind: object) -> JsonObject:
    """Return the schema of *kind*: a class of ours, or a union of them; what it is made of stands under ``$defs``.

    Raises:
        TypeError: a field has a type or a validator that has no words in JSON Schema yet.
    """
    definitions: dict[str, Json] = {}
    described = _of_class(kind, definitions) if isinstance(kind, type) else _of_type(kind, definitions)
    return {
        "$schema": DIALECT,
        **described,
        **({"$defs": dict(sorted(definitions.items()))} if definitions else {}),
    }


def schema_files() -> Mapping[str, str]:
    """Return every published schema as the text of its file, by file name."""
    return {
        f"{name}.schema.json": json.dumps(json_schema(kind), ensure_ascii=False, indent=2) + "\n"
        for name, kind in PUBLISHED.items()
    }


def _of_type(kind: Any, definitions: dict[str, Json]) -> JsonObject:
    if kind in _SCALARS:
        return _SCALARS[kind]
    if is_any_json(kind):
        return {}
    if attrs.has(kind):
        if kind.__name__ not in definitions:
            definitions[kind.__name__] = {}  # taken, should the class contain itself
            definitions[kind.__name__] = _of_class(kind, definitions)
        return {"$ref": f"#/$defs/{kind.__name__}"}
    arguments = get_args(kind)
    match get_origin(kind):
        case origin if origin in (Union, UnionType):
            return {"anyOf": [_of_type(member, definitions) for member in arguments]}
        case origin if origin is Literal:
            return {"const": arguments[0]} if len(arguments) == 1 else {"enum": list(arguments)}
        case origin if origin in (tuple, Sequence):
            return {"type": "array", "items": _of_type(arguments[0], definitions)}
        case origin if origin is Mapping:
            return {"type": "object"}
        case _:
            msg = f"no JSON Schema for {kind!r}"
            raise TypeError(msg)


def _of_class(kind: Any, definitions: dict[str, Json]) -> JsonObject:
    summary, notes = _docstring(kind)
    fields = [field for field in attrs.fields(kind) if field.type not in STAYS_INSIDE]
    return {
        "title": kind.__name__,
        "description": summary,
        "type": "object",
        "properties": {
            key_of(field.name): {
                **({"description": notes[field.name]} if field.name in notes else {}),
                **_of_type(field.type, definitions),
                **_rule(field),
                **_RULES.get((kind, field.name), {}),
                **_default(field),
            }
            for field in fields
        },
        # A tag is always there to tell values apart, though Python fills it in.
        "required": [
            key_of(field.name) for field in fields if field.default is attrs.NOTHING or field.name == "tag"
        ],
        "additionalProperties": False,
    }


def _rule(field: "attrs.Attribute[Any]") -> JsonObject:
    # The classes behind attrs.validators are private; their attributes are what their repr shows.
    return {} if field.validator is None else _of_validator(field.validator)


def _of_validator(validator: Any) -> JsonObject:
    if hasattr(validator, "_validators"):
        return {word: bound for one in validator._validators for word, bound in _of_validator(one).items()}  # noqa: SLF001  as above
    if hasattr(validator, "validator"):  # of what may be None
        return _of_validator(validator.validator)
    if hasattr(validator, "compare_op"):
        return {_KEYWORD_OF_COMPARISON[validator.compare_op]: validator.bound}
    if hasattr(validator, "min_length"):
        return {"minLength": validator.min_length}
    msg = f"no JSON Schema for {validator!r}"
    raise TypeError(msg)


def _default(field: "attrs.Attribute[Any]") -> JsonObject:
    default: Any = field.default
    if default is attrs.NOTHING or field.name == "tag" or isinstance(default, attrs.Factory):  # type: ignore[arg-type]  # a class at run time, a function to the checker
        return {}
    return {"default": unstructure(default)}


def _docstring(kind: type[Any]) -> tuple[str, Mapping[str, str]]:
    """Return the first paragraph of a class's docstring, and the words of its ``Attributes`` section by name."""
    text = (inspect.getdoc(kind) or "").replace("``", "`")
    prose, _, attributes = text.partition("\nAttributes:\n")
    notes = re.findall(r"^ {4}(\w+): (.*(?:\n {5,}.*)*)", attributes, re.MULTILINE)
    return _one_line(prose.partition("\n\n")[0]), {name: _one_line(note) for name, note in notes}


def _one_line(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    for file_name, schema in schema_files().items():
        (Path(sys.argv[1]) / file_name).write_text(schema, encoding="utf-8")
