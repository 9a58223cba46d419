"""``ChatMemoryStore``: the long-term store of LangGraph (``BaseStore``), kept by chatmemory.

    store = ChatMemoryStore(ThreadRuntime(stacks.embedded("memory.db")))
    graph = builder.compile(store=store)

Its items stand beside conversations and memories in the same store, in tables of their own (``ItemRepository``), and not
among the memories: LangGraph rewrites an item in its place, where a memory is superseded and leaves its past behind; its
namespaces are paths, not a user and an app; and a batch may touch many of them in one transaction.

What is put can be found by its meaning and by its words, in the embedder of the store, unless ``index`` names another.
A filter is a comparison of JSON, never SQL of its author.  An item whose time is over is gone at once; ``sweep_ttl``
removes its row.
"""

from chatmemory.extra import needs_extra

with needs_extra("langgraph"):
    from chatmemory.integrations.langgraph.store import ChatMemoryStore

__all__ = ["ChatMemoryStore"]
