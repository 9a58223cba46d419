"""Values by key (user-scoped key-value data in spec 003): they are stored as memories that supersede each other."""

from datetime import datetime
from typing import cast

from chatmemory.access.namespace import Namespace
from chatmemory.effect import Do, Effect
from chatmemory.errors import GenericMemoryError, RecallError, RememberError
from chatmemory.input.json_value import Json
from chatmemory.input.rules import id_problems, instant_problems, refuse
from chatmemory.longterm.memories import Duplicate, Memory, MemoryPage, NewMemory, Stored
from chatmemory.longterm.memory_parts import MemoryParts
from chatmemory.longterm.memory_rules import content_problems, namespace_problems, value_problems
from chatmemory.longterm.repository_values import MemoryListing
from chatmemory.longterm.saving.auto_save import statement
from chatmemory.text.long_work import long_or_short


class KeyedValues(MemoryParts):
    """Sets, reads, deletes and lists values by their keys."""

    @Effect.gen
    async def put_value(
        self,
        do: Do[RememberError],
        namespace: Namespace,
        key: str,
        value: Json,
        *,
        content: str | None = None,
    ) -> Stored | Duplicate:
        """See ``LongTermMemory``."""
        refuse(
            do,
            namespace_problems(namespace),
            id_problems("$.key", key),
            await long_or_short(do, value, lambda: value_problems("$.value", value)),
            [] if content is None else content_problems("$.content", content),
        )
        if content is None:
            content = await long_or_short(do, value, lambda: statement(key, value))
        memory = NewMemory(
            content,
            key=key,
            value=value,
            source="system",
            role="system",
            memory_type="long_term",
        )
        drafted = await do(self.drafts.draft(namespace, [memory], dedup="exact"))
        (outcome,) = await do(self._store(drafted.drafts))
        return cast("Stored | Duplicate", outcome)  # a value is never skipped

    @Effect.gen
    async def get_value(
        self, do: Do[RecallError], namespace: Namespace, key: str, *, as_of: datetime | None = None
    ) -> Memory | None:
        """See ``LongTermMemory``."""
        refuse(
            do, namespace_problems(namespace), id_problems("$.key", key), instant_problems("$.as_of", as_of)
        )
        return await do(self.repository.value(namespace, key, as_of=as_of).alt(GenericMemoryError))

    @Effect.gen
    async def delete_value(self, do: Do[RecallError], namespace: Namespace, key: str) -> bool:
        """See ``LongTermMemory``."""
        refuse(do, namespace_problems(namespace), id_problems("$.key", key))
        return await do(self.repository.retire(namespace, key, now=self.clock.now()).alt(GenericMemoryError))

    def list_values(
        self,
        namespace: Namespace,
        *,
        prefix: str = "",
        limit: int = 100,
        after: str | None = None,
        as_of: datetime | None = None,
    ) -> Effect[MemoryPage, RecallError]:
        """See ``LongTermMemory``."""
        listing = MemoryListing(namespace, limit, value_prefix=prefix, exact_app=True, as_of=as_of)
        return self._page(listing, after)
