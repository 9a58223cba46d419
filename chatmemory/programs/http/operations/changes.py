"""``GET /changes``: what has changed since a cursor, for programs that follow a store."""

from collections.abc import Sequence
from typing import Final

from chatmemory.effect import Effect
from chatmemory.errors import DataValidationError, GenericMemoryError
from chatmemory.events.event_log import ChangesPage, EventLogTag
from chatmemory.programs.http.operation import Call, Operation
from chatmemory.programs.operations.changes import ChangesList, changes_page


def list_changes(
    call: Call[ChangesList, None],
) -> Effect[ChangesPage, DataValidationError | GenericMemoryError, EventLogTag]:
    """List what has changed since a cursor, oldest first, without what was said; `isLast` says to ask again later."""
    return changes_page(call.grant, call.query)


CHANGES: Final[Sequence[Operation]] = (Operation("GET", "/changes", list_changes, example={"limit": 20}),)
