"""The checks of a replacement of the newest messages, which every store makes before it writes anything.

A store writes all of a replacement or nothing: it makes these checks, removes, and then appends, in one transaction.
"""

from collections.abc import Collection

from chatmemory.access.principal import Principal
from chatmemory.conversation.changes import ConversationState
from chatmemory.conversation.message_repository import Appended, Replacement
from chatmemory.errors import AccessDeniedError, MessageConflictError, VersionConflictError


def remaining(state: ConversationState, replacement: Replacement) -> int:
    """Return how many messages of the model's view are not replaced, 0 or more."""
    if replacement.count is None:
        return 0
    return max(0, state.conversation.view_count - replacement.count)


def refusal_of_replacement(
    state: ConversationState, known: Collection[str], replacement: Replacement, principal: Principal
) -> AccessDeniedError | MessageConflictError | VersionConflictError | None:
    """Return the error that refuses *replacement*; None when it is possible.

    *known* are those ids of the new messages that the conversation knows; none when all its messages are replaced.
    """
    batch, conversation = replacement.batch, state.conversation
    id_, ids = conversation.conversation_id, [draft.id for draft in batch.drafts]
    is_new = conversation.version == 0
    owner = principal.namespace if is_new else state.owner
    refusal = principal.refusal_to_add([draft.role for draft in batch.drafts], owner, id_)
    if refusal is None and not is_new:
        # What a principal may not read does not exist for it, so that it cannot be removed either.
        refusal = principal.refusal("read", owner, id_) or principal.refusal("delete", owner, id_)
    if refusal is not None:
        return refusal
    if batch.expected_version not in {None, conversation.version}:
        expected = batch.expected_version or 0
        return VersionConflictError(id_, expected=expected, actual=conversation.version)
    repeated = [one for index, one in enumerate(ids) if one in known or one in ids[:index]]
    return MessageConflictError(id_, tuple(dict.fromkeys(repeated))) if repeated else None


def answer_without_messages(state: ConversationState) -> Appended:
    """Return the answer to a replacement that only removes messages; *state* is the state after it."""
    return Appended((), (), state.conversation, state.has_work)
