"""``ChatMemoryStore`` and ``ChatMemorySaver``: the long-term store and the checkpointer of LangGraph over chatmemory.

    runtime = ThreadRuntime(stacks.embedded("memory.db"))
    graph = builder.compile(store=ChatMemoryStore(runtime), checkpointer=ChatMemorySaver(runtime))

The items of the store are next to conversations and memories in the same store, in separate tables (``ItemRepository``).
They are not memories.  LangGraph rewrites an item in place, while a memory is superseded and keeps its past.  The
namespaces of items are paths, not a user and an app.  A batch may change many items in one transaction.

Items are found by meaning and by words, with the embedder of the store, unless ``index`` names another one.  A filter
is a comparison of JSON, never SQL of its author.  An item whose lifetime has ended is gone at once; ``sweep_ttl``
removes its row.  ``saver.py`` describes the guarantees for checkpoints, ``Retention`` which of them are kept.
"""

from chatmemory.extra import needs_extra

with needs_extra("langgraph"):
    from chatmemory.integrations.langgraph.kept_checkpoints import Retention
    from chatmemory.integrations.langgraph.saver import ChatMemorySaver
    from chatmemory.integrations.langgraph.store import ChatMemoryStore

__all__ = ["ChatMemorySaver", "ChatMemoryStore", "Retention"]
