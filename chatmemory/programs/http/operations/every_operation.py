"""``OPERATIONS``: every operation of the HTTP API; the last one returns the document that describes them all.

``python -m chatmemory.programs.http.operations.every_operation FILE`` writes this document.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, Never

from chatmemory.effect import Effect
from chatmemory.input.json_value import Json
from chatmemory.programs.http.openapi import openapi_document
from chatmemory.programs.http.operation import Call, NoParameters, Operation
from chatmemory.programs.http.operations.changes import AUDIT, CHANGES
from chatmemory.programs.http.operations.context import CONTEXT
from chatmemory.programs.http.operations.conversations import CONVERSATIONS
from chatmemory.programs.http.operations.describing import HEALTH, SETTINGS
from chatmemory.programs.http.operations.description import ServerFactsTag
from chatmemory.programs.http.operations.extraction import EXTRACTION
from chatmemory.programs.http.operations.finding import FINDING
from chatmemory.programs.http.operations.history import HISTORY
from chatmemory.programs.http.operations.memories import MEMORIES
from chatmemory.programs.http.operations.past_chats import PAST_CHATS
from chatmemory.programs.http.operations.values import VALUES


@cache
def openapi_text(*, needs_token: bool = True) -> str:
    """Return the OpenAPI document as the text of a file; *needs_token* says whether requests need a token."""
    document = openapi_document(OPERATIONS, needs_token=needs_token)
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def get_openapi(_: Call[NoParameters, None]) -> Effect[Mapping[str, Json], Never, ServerFactsTag]:
    """Return this OpenAPI document; `/docs` shows it as a page."""
    return ServerFactsTag.use(
        lambda facts: Effect.succeed(json.loads(openapi_text(needs_token=facts.needs_token)))
    )


OPERATIONS: Final[Sequence[Operation]] = (
    *CONVERSATIONS,
    *FINDING,
    *EXTRACTION,
    *MEMORIES,
    *HISTORY,
    *VALUES,
    *CONTEXT,
    *PAST_CHATS,
    *AUDIT,
    *CHANGES,
    *SETTINGS,
    *HEALTH,
    Operation("GET", "/openapi.json", get_openapi, is_open=True),
)

if __name__ == "__main__":
    Path(sys.argv[1]).write_text(openapi_text(), encoding="utf-8")
