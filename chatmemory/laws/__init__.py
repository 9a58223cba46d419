"""The laws of repositories, for a backend of your own: ``pip install chatmemory-effect[laws]``.

    from chatmemory.laws import ItemRepositoryLaws, MemoryRepositoryLaws, MessageRepositoryLaws

    class TestMyMessages(MessageRepositoryLaws):
        repository = my_message_repository      # a Layer that provides MessageRepositoryTag

    class TestMyMemories(MemoryRepositoryLaws):
        repository = my_memory_repository       # a Layer that provides MemoryRepositoryTag
        keeps_conversations = False             # it does not provide MessageRepositoryTag as well

    class TestMyItems(ItemRepositoryLaws):
        repository = my_item_repository         # a Layer that provides ItemRepositoryTag

Run pytest on this file.  Each test is named after its law; a failure names the broken law, with the actual and the
expected result.  The laws use their own conversations and users, so they can run on a store that holds others.  For a
repository that is not durable, set ``is_durable = False``; for one without a log of events, ``keeps_log = False``.  When
the repository needs a fixture, set ``self.repository`` in the fixture.

For messages: L1 append, L2 atomic batch, L3 isolation, L4 clear, L5 reopen, L6 cancel, L7 race, L10 window, L11 empty,
L12 retry, L14 coverage, L20 errors, L21 equivalence, L24 remove, L25 counts; W1 outbox, W2 lease, W3 settle,
W4 wrong clock.
For memories: L1 remember, L2, L3, L5, L6, L7, L8 candidates, L9 self, L10 to L12, L13 dedup, L16 filter, L17 access, L20,
L21, L23 forget; T1 truth, T2 time travel, T3 correct; V1 vectors.
For the log of each of them: N1 event, N2 no event, N3 changes, N4 seen; for memories N5 tombstone, N6 history.
For items: L1 put, L2 batch, L3, L5, L6, L7, L8 found, L9, L10, L11, L12, L20, L21, L23 remove; E1 end, E2 refresh, E3 sweep.
For a long-term memory over any repository (``LongTermMemoryLaws``): L8 recall, L9, L15 threshold and decay, L16, L17,
L18 degrade, L23, U1 undo, U2 no undo.
For the context for a model, on a whole stack (``ChatContextLaws``): C1 context, C2 budget.
For a format of past chats, over files of its tool (``HistoryFormatLaws``; ``format``, ``files``, no layer): F1 claim,
F2 turns, F3 again, F4 cut, F5 damage, F6 other versions, F7 name.
"""

from chatmemory.extra import needs_extra

with needs_extra("laws"):
    from chatmemory.laws.chat_context_laws import ChatContextLaws
    from chatmemory.laws.history_format_laws import HistoryFormatLaws
    from chatmemory.laws.kit.law import LawBrokenError
    from chatmemory.laws.long_term_memory_laws import LongTermMemoryLaws
    from chatmemory.laws.repository_laws import (
        ItemRepositoryLaws,
        MemoryRepositoryLaws,
        MessageRepositoryLaws,
    )

__all__ = [
    "ChatContextLaws",
    "HistoryFormatLaws",
    "ItemRepositoryLaws",
    "LawBrokenError",
    "LongTermMemoryLaws",
    "MemoryRepositoryLaws",
    "MessageRepositoryLaws",
]
