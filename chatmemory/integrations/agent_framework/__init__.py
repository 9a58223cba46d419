"""Message history and long-term memory for the Microsoft Agent Framework.

    memory = [ChatMemoryHistoryProvider(runtime), ChatMemoryContextProvider(runtime, Namespace("mei"))]
    agent = Agent(client, context_providers=memory)
    await agent.run("Where do we meet?", session=agent.create_session(session_id="lunch"))

``ChatMemoryHistoryProvider`` stores each ``Message`` as one message.  Its columns hold the role and the readable text, for
search, summaries and the page.  Its metadata holds the JSON that ``Message.to_dict`` writes, from which
``Message.from_dict`` restores an equal message.  Messages that the history strategy has summarized come back as one
message.

``ChatMemoryContextProvider`` adds memories of earlier sessions to the messages of the model, and saves facts from the
user's messages in this one.
"""

from chatmemory.extra import needs_extra

with needs_extra("agent-framework"):
    from chatmemory.integrations.agent_framework.context_provider import ChatMemoryContextProvider
    from chatmemory.integrations.agent_framework.history_provider import ChatMemoryHistoryProvider

__all__ = ["ChatMemoryContextProvider", "ChatMemoryHistoryProvider"]
