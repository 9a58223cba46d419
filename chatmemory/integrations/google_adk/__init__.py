"""``ChatMemoryMemoryService``: the memory service of Google's Agent Development Kit, kept by chatmemory.

    memory = ChatMemoryMemoryService(ThreadRuntime(stacks.embedded("agent.db")))
    runner = Runner(app_name="harbor", agent=agent, session_service=sessions, memory_service=memory)

What an event says is a long-term memory of its user in its app, with the event's own JSON beside it, which comes back
equal.  So it is found as every memory is, by words and by meaning, in Chinese as in English; a page, an API or an MCP
client lists, corrects and forgets it; and what other agents remember about the user is found with it.
"""

from chatmemory.extra import needs_extra

with needs_extra("google-adk"):
    from chatmemory.integrations.google_adk.memory_service import ChatMemoryMemoryService

__all__ = ["ChatMemoryMemoryService"]
