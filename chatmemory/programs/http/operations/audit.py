"""``GET /audit``: who did what to which conversation or memory; only the main token may read it."""

from collections.abc import Sequence
from typing import Final

from chatmemory.effect import Effect
from chatmemory.errors import DataValidationError, GenericMemoryError
from chatmemory.events.audit import AuditTrailTag
from chatmemory.programs.http.operation import Call, Operation
from chatmemory.programs.operations.audit import AuditList, AuditPage, audit_page
from chatmemory.programs.operations.grant import NO_AUDIT
from chatmemory.programs.operations.refusal import Refusal


def list_audit_entries(
    call: Call[AuditList, None],
) -> Effect[AuditPage, DataValidationError | GenericMemoryError | Refusal, AuditTrailTag]:
    """List who changed which conversation or memory, newest first, without any content; it needs the main token."""
    return audit_page(call.query) if call.grant.is_main else Effect.fail(NO_AUDIT)


AUDIT: Final[Sequence[Operation]] = (
    Operation("GET", "/audit", list_audit_entries, example={"limit": 20, "since": "2026-03-01T00:00:00Z"}),
)
