"""The undo of the newest change of a conversation: decisions that every store executes.

As in ``changes.py``, the functions read nothing, write nothing and do not wait.  A store finds the newest change in its
log, and the content of the change among its messages.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from attrs import evolve

from chatmemory.access.principal import Principal
from chatmemory.conversation.changes import ConversationState, is_due
from chatmemory.conversation.forks import ForkPoint
from chatmemory.conversation.message_repository import Undo
from chatmemory.conversation.messages import Undone, UndoneAction
from chatmemory.errors import (
    AccessDeniedError,
    ConversationNotFoundError,
    ConversationUndoRefusal,
    NotUndoableError,
    VersionConflictError,
)
from chatmemory.events.event import UNDO, Change, EventAction

NOT_ON_RECORD: Final = "the log no longer has this change"
GONE: Final = "its content was removed and is not stored anywhere else; add it again"
NOT_HELD: Final = "its content was removed, and no branch that you may read holds any of it; add it again"
WAS_UNDO: Final = "it is an undo itself; make the undone change again"
UNDOABLE: Final[dict[EventAction, UndoneAction]] = {
    "added": "added",
    "summarized": "summarized",
    "forked": "forked",
    "cleared": "cleared",
}
DONE_BY_UNDO: Final[dict[str, EventAction]] = {
    "added": "removed",
    "summarized": "restored",
    "forked": "cleared",
    "cleared": "restored",
}
"""For each undone action, the action that the log records for the undo."""


class Newest(NamedTuple):
    """The newest change of a conversation, as the log records it."""

    action: EventAction
    reason: str | None


class HoldingBranch(NamedTuple):
    """A branch that holds messages of a conversation: those up to number *seq*, as of *version*."""

    branch_id: str
    seq: int
    version: int


def refusal_of_undo(
    state: ConversationState, newest: Newest | None, undo: Undo, principal: Principal
) -> ConversationUndoRefusal | None:
    """Return why the newest change cannot be undone; None when nothing found here prevents the undo.

    *newest* created the version of *state*; None: the log does not have it.
    """
    version, id_ = state.conversation.version, state.conversation.conversation_id
    if version == 0 or not state.is_seen_by(principal):
        return ConversationNotFoundError(id_)
    refusal: AccessDeniedError | None = state.refuses_deletion_by(principal)
    if refusal is not None:
        return refusal
    if undo.expected_version not in {None, version}:
        return VersionConflictError(id_, expected=undo.expected_version or 0, actual=version)
    if newest is None:
        return NotUndoableError(id_, version, NOT_ON_RECORD)
    if newest.reason == UNDO:
        return NotUndoableError(id_, version, WAS_UNDO)
    return None if newest.action in UNDOABLE else gone(state)


def gone(state: ConversationState, reason: str = GONE) -> NotUndoableError:
    """Return the error of an undo whose content cannot be restored, for this *reason*."""
    return NotUndoableError(state.conversation.conversation_id, state.conversation.version, reason)


def restored_from(
    state: ConversationState, point: ForkPoint, undo: Undo, deleted_count: int
) -> ConversationState:
    """Return the state of a cleared conversation with the messages that a branch still holds.

    *point* is the part that the branch holds, *deleted_count* is that of the branch.
    """
    conversation = evolve(
        state.conversation,
        version=state.conversation.version + 1,
        message_count=point.message_count,
        view_count=point.view_count,
        view_tokens=point.view_tokens,
        open_count=point.open_count,
        updated_at=undo.now,
    )
    return evolve(
        state,
        conversation=conversation,
        rewritten_at_version=conversation.version,
        deleted_count=deleted_count,
        has_work=is_due(conversation, undo.threshold),
        kept_since_version=conversation.version,
        kept_since=undo.now,
    )


def change_of_undo(after: ConversationState, undone: EventAction, *, by: str | None = None) -> Change:
    """Return the change of an undo for the log; *by* is the branch that held the restored messages, None: none was needed."""
    return after.made_by(DONE_BY_UNDO[undone])._replace(reason=UNDO, by=by)


def latest_of(held: Sequence[HoldingBranch]) -> list[HoldingBranch]:
    """Return *held* in the order of preference for restoring a cleared conversation: the branch that holds most first."""
    return sorted(held, key=lambda one: (-one.seq, -one.version, one.branch_id))


def branches_of(held: Sequence[HoldingBranch]) -> list[str]:
    """Return the ids of branches, each once, sorted by code points."""
    return sorted({one.branch_id for one in held})


def undone_of(
    before: ConversationState, after: ConversationState, undone: EventAction, by: str | None
) -> Undone:
    """Return the answer of an undo; *by* is the branch that held the restored messages, None: none was needed."""
    view = after.conversation.view_count - before.conversation.view_count
    went = before.conversation.message_count - after.conversation.message_count
    return Undone(
        UNDOABLE[undone],
        after.conversation.version,
        removed=max(went, 0),
        restored=view + went if undone == "summarized" else max(-went, 0),
        held_by=by,
    )
