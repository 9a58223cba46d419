"""``Removing``: forgets memories, and removes those that have expired."""

from typing import Final

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Do, Effect
from chatmemory.errors import GenericMemoryError, MemoryNotFoundError, MemoryReadError, Problem, RecallError
from chatmemory.input.rules import id_problems, refuse
from chatmemory.longterm.memories import ForgetReceipt
from chatmemory.longterm.memory_parts import MemoryParts
from chatmemory.longterm.memory_rules import content_problems, namespace_problems
from chatmemory.longterm.repository_values import Forgetting

NOTHING_NAMED: Final = Problem(
    "$", "name what to forget: a session_id, a message_id or a path; forget_all takes all"
)


class Removing(MemoryParts):
    """Forgets memories, and removes expired ones."""

    @Effect.gen
    async def forget(self, do: Do[MemoryReadError], namespace: Namespace, memory_id: str) -> ForgetReceipt:
        """See ``LongTermMemory``."""
        refuse(do, namespace_problems(namespace), id_problems("$.memory_id", memory_id))
        receipt = await do(self._forget(Forgetting(namespace, memory_id=memory_id)))
        return receipt if receipt.memories else do.fail(MemoryNotFoundError(memory_id))

    @Effect.gen
    async def forget_where(
        self,
        do: Do[RecallError],
        namespace: Namespace,
        *,
        session_id: str | None = None,
        message_id: str | None = None,
        path: str | None = None,
    ) -> ForgetReceipt:
        """See ``LongTermMemory``."""
        refuse(
            do,
            namespace_problems(namespace),
            id_problems("$.session_id", session_id, or_none=True),
            id_problems("$.message_id", message_id, or_none=True),
            [] if path is None else content_problems("$.path", path),
            [] if session_id or message_id or path else [NOTHING_NAMED],
        )
        where = Forgetting(namespace, session_id=session_id, message_id=message_id, path=path)
        return await do(self._forget(where))

    @Effect.gen
    async def forget_all(self, do: Do[RecallError], namespace: Namespace) -> ForgetReceipt:
        """See ``LongTermMemory``."""
        refuse(do, namespace_problems(namespace))
        return await do(self._forget(Forgetting(namespace)))

    def _forget(self, forgetting: Forgetting) -> Effect[ForgetReceipt, GenericMemoryError]:
        return self.repository.forget(forgetting).alt(GenericMemoryError)

    @Effect.gen
    async def end_session(self, do: Do[RecallError], namespace: Namespace, session_id: str) -> int:
        """See ``LongTermMemory``."""
        refuse(do, namespace_problems(namespace), id_problems("$.session_id", session_id))
        if not self.expiry.at_session_end:
            return 0
        return await do(self.repository.expire(namespace, session_id=session_id).alt(GenericMemoryError))

    @Effect.gen
    async def expire(self, do: Do[RecallError], namespace: Namespace) -> int:
        """See ``LongTermMemory``."""
        refuse(do, namespace_problems(namespace))
        return await do(self._expire_old(namespace))
