"""What schemathesis cannot read out of the OpenAPI document: what a cursor is, and which parameters exclude each other."""

from itertools import count
from typing import Any
from urllib.parse import unquote

import schemathesis
from hypothesis import strategies
from schemathesis.specs.openapi.checks import use_after_free

KEYS = count()
CURSORS = ["2025-03-14T12:00:00+00:00 x", "2025-03-14T12:00:00.123456+00:00 会议/第一"]
AUDIT_CURSORS = ["2025-03-14T12:00:00+00:00 1", "2025-03-14T12:00:00.123456+00:00 99"]
SEARCH_CURSORS = ["0 2025-03-14T12:00:00+00:00 x", "17 2025-03-14T12:00:00.123456+00:00 会议/第一"]
ENOUGH_TOKENS = 1_000_000
PAST_CURSORS = ["2025-03-14T12:00:00.000000Z|claude_code:x", "|markdown:/home/mei/笔记|1.md"]

schemathesis.openapi.format("cursor", strategies.sampled_from(CURSORS))
schemathesis.openapi.format("search-cursor", strategies.sampled_from(SEARCH_CURSORS))
schemathesis.openapi.format("past-cursor", strategies.sampled_from(PAST_CURSORS))
schemathesis.openapi.format("changes-cursor", strategies.sampled_from(["0", "1", "99"]))
schemathesis.openapi.format("audit-cursor", strategies.sampled_from(AUDIT_CURSORS))


@schemathesis.check
def deleted_is_gone(ctx: Any, response: Any, case: schemathesis.Case) -> bool | None:
    """What was deleted is not found afterwards; its history is."""
    return None if case.operation.path.endswith("/history") else use_after_free(ctx, response, case)


@schemathesis.hook
def before_call(context: schemathesis.HookContext, case: schemathesis.Case, kwargs: dict[str, Any]) -> None:
    """Mend what is meant to be right; what is meant to be wrong stays so."""
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    if {"olderThan", "newerThan"} <= set(case.query):
        del case.query["newerThan"]
    if case.operation.path.endswith("/supersede") and not isinstance(case.body, dict):
        # It sends 0 where it finds nothing that fits a pattern in time.
        case.body = {"memory": {"content": "绿茶"}}
    if case.operation.path.endswith("/restore") and isinstance(case.body, dict):
        restored = str(case.path_parameters["memoryId"])
        if case.body.get("insteadOf") in {restored, unquote(restored)}:
            # That the two memories differ is nothing that a document can say.
            case.body = {**case.body, "insteadOf": None}
    if case.operation.path.endswith("/fork") and isinstance(case.body, dict):
        # Which messages and versions a conversation has is nothing that a document can say.
        case.body = {**case.body, "at": None, "version": None}
    if case.operation.path == "/context" and isinstance(case.body, dict) and case.body.get("preview"):
        # How many tokens a message has is nothing that a document can say, either.
        case.body = {**case.body, "preview": {**case.body["preview"], "tokens": ENOUGH_TOKENS}}
    if case.operation.path == "/memories/{memoryId}" and isinstance(case.body, dict):
        case.body.pop("key", None)  # which memories are values of keys is nothing that a document can say
    if "asOf" in case.query and case.operation.path.startswith("/conversations"):
        case.query["asOf"] = 0  # the one version that every conversation has had
    if "Idempotency-Key" in case.headers:  # it sends one key with many requests
        case.headers["Idempotency-Key"] = f"key-{next(KEYS)}"
    # The quotes of an example are taken for those of JSON.
    if (version := case.headers.get("If-Match")) and not version.startswith('"'):
        case.headers["If-Match"] = f'"{version}"'
