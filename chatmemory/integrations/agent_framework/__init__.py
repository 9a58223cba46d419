"""Message history and long-term memory for the Microsoft Agent Framework.

    memory = [ChatMemoryHistoryProvider(runtime), ChatMemoryContextProvider(runtime, Namespace("mei"))]
    agent = Agent(client, context_providers=memory)
    await agent.run("Where do we meet?", session=agent.create_session(session_id="lunch"))

``ChatMemoryHistoryProvider`` keeps each ``Message`` as one message: who speaks and what can be read stand in its
columns, for search, summaries and the page; the JSON that ``Message.to_dict`` writes stands in its metadata, and
``Message.from_dict`` gets it back equal.  What the history strategy has summarized comes back as one message.

``ChatMemoryContextProvider`` shows a model what is remembered of earlier sessions, and saves what the user says in
this one.
"""

from chatmemory.extra import needs_extra

with needs_extra("agent-framework"):
    from chatmemory.integrations.agent_framework.context_provider import ChatMemoryContextProvider
    from chatmemory.integrations.agent_framework.history_provider import ChatMemoryHistoryProvider

__all__ = ["ChatMemoryContextProvider", "ChatMemoryHistoryProvider"]
