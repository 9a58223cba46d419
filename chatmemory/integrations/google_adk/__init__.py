"""``ChatMemorySessionService`` and ``ChatMemoryMemoryService``: the services of Google's Agent Development Kit over chatmemory.

    runtime = ThreadRuntime(stacks.embedded("agent.db"))
    sessions, memory = ChatMemorySessionService(runtime), ChatMemoryMemoryService(runtime)
    runner = Runner(app_name="harbor", agent=agent, session_service=sessions, memory_service=memory)

Sessions are items next to conversations and memories in the same store: events and states come back unchanged.  When
a session is added to the memory, the text of each event becomes a long-term memory of its user in its app.  The memory
also holds the event's own JSON, which comes back equal.  It is found like every memory, by words and by meaning, in
Chinese as in English.  A page, an API or an MCP client lists, corrects and forgets it.  Memories of other agents about
the user are found with it.
"""

from chatmemory.extra import needs_extra

with needs_extra("google-adk"):
    from chatmemory.integrations.google_adk.memory_service import ChatMemoryMemoryService
    from chatmemory.integrations.google_adk.session_service import ChatMemorySessionService

__all__ = ["ChatMemoryMemoryService", "ChatMemorySessionService"]
