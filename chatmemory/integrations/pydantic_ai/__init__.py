"""Message histories, conversations and long-term memory for pydantic-ai.

    history = ChatMemoryHistory("lunch", runtime)
    agent = Agent(model, capabilities=[LongTermMemories(Namespace("mei"), runtime)])
    result = await agent.run("Where do we meet?", message_history=await history.load())
    await history.append(result.new_messages())

``ChatMemoryHistory`` stores each ``ModelRequest`` and ``ModelResponse`` as one message.  Its columns hold the role and
the readable text, for search, summaries and the page.  Its metadata holds the JSON of pydantic-ai, byte by byte.  It is
the history that a model should see, with summaries instead of long stretches.

``ChatMemoryConversations`` is a ``ConversationStore`` of the framework: a tree of branches that is never shortened,
with the usage and the paused tool calls of a conversation.

``LongTermMemories`` shows a model the memories of earlier conversations, and saves facts from the user's messages in
this one.
"""

from chatmemory.extra import needs_extra

with needs_extra("pydantic-ai"):
    from chatmemory.integrations.pydantic_ai.conversations import ChatMemoryConversations
    from chatmemory.integrations.pydantic_ai.history import ChatMemoryHistory
    from chatmemory.integrations.pydantic_ai.memories import LongTermMemories

__all__ = ["ChatMemoryConversations", "ChatMemoryHistory", "LongTermMemories"]
