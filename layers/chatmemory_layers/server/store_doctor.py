"""``service_findings``: the report of ``chatmemory doctor`` on a store in memory; and texts that name a store."""

from typing import TypeAlias

from chatmemory.access.namespace import Namespace
from chatmemory.conversation.contract import ChatMemoryService
from chatmemory.effect import Do, Effect
from chatmemory.errors import GenericMemoryError, ReadError, RepositoryError
from chatmemory.longterm.contract import LongTermMemoryService
from chatmemory.pastchats.past_chats import Finding

Services: TypeAlias = ChatMemoryService | LongTermMemoryService


@Effect.gen
async def service_findings(
    do: Do[ReadError, Services], place: str, namespace: Namespace
) -> tuple[Finding, ...]:
    """Check a store in memory by asking its services.

    Args:
        do: runs a step.
        place: where the store is, without its password.
        namespace: the namespace whose memories are read.
    """
    page = await do(ChatMemoryService.use(lambda chat: chat.list_conversations(limit=1)))
    memories = await do(LongTermMemoryService.use(lambda kept: kept.list(namespace, limit=1)))
    told = [
        Finding(code="S001", severity="ok", message=place),
        Finding(
            code="S005",
            severity="ok",
            message=f"it answers, with {'some' if page.conversations else 'no'} conversations and "
            f"{'some' if memories.memories else 'no'} memories of {namespace.user}",
        ),
    ]
    return tuple(told)


def missing_store(path: str) -> GenericMemoryError:
    """Return the error of a command that needs a store where there is none."""
    detail = (
        f"there is no {path}: chatmemory remember or import makes it, --store or the settings name another"
    )
    return GenericMemoryError(RepositoryError("open the store", "missing", detail))
