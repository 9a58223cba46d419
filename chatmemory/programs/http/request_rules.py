"""``RULES_OF_REQUESTS``: the rules of requests that services check instead of attrs validators, as JSON Schema."""

from collections.abc import Mapping
from typing import Final

from chatmemory.conversation.message_search import MOST_FOUND, MOST_QUERY_CHARACTERS, MessageSearch
from chatmemory.input.json_value import JsonObject
from chatmemory.input.rules import MAX_CONTENT_CHARACTERS, MAX_ID_CHARACTERS
from chatmemory.longterm.memory_rules import MAX_CONTAINED_CHARACTERS
from chatmemory.programs.http.operation import InApp
from chatmemory.programs.http.operations.changes import FollowingChanges
from chatmemory.programs.http.operations.conversations import ConversationList, ForkConversation
from chatmemory.programs.http.operations.memories import (
    FacetsWanted,
    ForgetWhere,
    MemoryList,
    Question,
    Restoring,
    Said,
    Shown,
    Turn,
)
from chatmemory.programs.http.operations.past_chats import PastConversationList
from chatmemory.programs.http.operations.values import NewValue, ValueAt, ValueList
from chatmemory.programs.operations.audit import AuditList
from chatmemory.programs.operations.changes import ChangesList
from chatmemory.programs.operations.context import ContextRequest
from chatmemory.programs.schemas.json_schema import AN_ID, RULES, SOME_WORD, TAGS, TOGETHER

A_CURSOR: Final[JsonObject] = {"format": "cursor"}
"""The schema of a cursor, which only a previous page can give."""

_AN_APP: Final[JsonObject] = {"maxLength": MAX_ID_CHARACTERS}
_TEXT: Final[JsonObject] = {"maxLength": MAX_CONTENT_CHARACTERS}

RULES_OF_REQUESTS: Final[Mapping[tuple[object, str], JsonObject]] = {
    **RULES,
    (InApp, "app"): _AN_APP,
    (ConversationList, "after"): A_CURSOR,
    (ForkConversation, "new_id"): AN_ID,
    (ForkConversation, "at"): AN_ID,
    (ForkConversation, TOGETHER): {
        "anyOf": [{"properties": {"at": {"type": "null"}}}, {"properties": {"version": {"type": "null"}}}]
    },
    (MessageSearch, "query"): {"minLength": 1, "maxLength": MOST_QUERY_CHARACTERS, "pattern": SOME_WORD},
    (MessageSearch, "conversation_id"): AN_ID,
    (MessageSearch, "prefix"): {"maxLength": MAX_ID_CHARACTERS},
    (MessageSearch, "limit"): {"minimum": 0, "maximum": MOST_FOUND},
    (MessageSearch, "after"): {"format": "search-cursor"},
    (FacetsWanted, "app"): _AN_APP,
    (FacetsWanted, "session_id"): AN_ID,
    (FacetsWanted, "tag"): AN_ID,
    (MemoryList, "app"): _AN_APP,
    (MemoryList, "after"): A_CURSOR,
    (MemoryList, "session_id"): AN_ID,
    (MemoryList, "tag"): AN_ID,
    (MemoryList, "containing"): {"minLength": 1, "maxLength": MAX_CONTAINED_CHARACTERS},
    (AuditList, "after"): {"format": "audit-cursor"},
    (ChangesList, "since"): {"format": "changes-cursor"},
    (FollowingChanges, "since"): {"format": "changes-cursor"},
    (AuditList, "who"): AN_ID,
    (AuditList, "target"): AN_ID,
    (ForgetWhere, "session_id"): AN_ID,
    (ForgetWhere, "message_id"): AN_ID,
    (ForgetWhere, "path"): {"minLength": 1, "maxLength": MAX_CONTENT_CHARACTERS},
    (ForgetWhere, TOGETHER): {
        "anyOf": [{"required": ["sessionId"]}, {"required": ["messageId"]}, {"required": ["path"]}]
    },
    (ValueList, "app"): _AN_APP,
    (ValueList, "after"): A_CURSOR,
    (ValueAt, "app"): _AN_APP,
    (NewValue, "content"): {"minLength": 1, "maxLength": MAX_CONTENT_CHARACTERS},
    (Question, "query"): _TEXT,
    (Question, "tags"): TAGS,
    (Shown, "memory_ids"): {"items": {"type": "string", **AN_ID}},
    (Restoring, "instead_of"): AN_ID,
    (Shown, "session_id"): AN_ID,
    (Shown, "query"): _TEXT,
    (Turn, "session_id"): AN_ID,
    (Turn, "user_message_id"): AN_ID,
    (Turn, "assistant_message_id"): AN_ID,
    (Said, "session_id"): AN_ID,
    (Said, "message_id"): AN_ID,
    (ContextRequest, "conversation_id"): AN_ID,
    (ContextRequest, "message_id"): AN_ID,
    (PastConversationList, "after"): {"format": "past-cursor"},
}
