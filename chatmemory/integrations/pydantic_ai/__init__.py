"""Message histories, conversations and long-term memory for pydantic-ai.

    history = ChatMemoryHistory("lunch", runtime)
    agent = Agent(model, capabilities=[LongTermMemories(Namespace("mei"), runtime)])
    result = await agent.run("Where do we meet?", message_history=await history.load())
    await history.append(result.new_messages())

``ChatMemoryHistory`` keeps each ``ModelRequest`` and ``ModelResponse`` as one message: who speaks and what can be read
stand in its columns, for search, summaries and the page; the JSON of pydantic-ai stands in its metadata, byte by byte.
It is the line that a model should see, with summaries in the place of what has grown long.

``ChatMemoryConversations`` is a ``ConversationStore`` of the framework: a tree of branches which never gets shorter, with
the usage and the paused tool calls of a conversation.

``LongTermMemories`` shows a model what is remembered of earlier conversations, and saves what the user says in this one.
"""

from chatmemory.extra import needs_extra

with needs_extra("pydantic-ai"):
    from chatmemory.integrations.pydantic_ai.conversations import ChatMemoryConversations
    from chatmemory.integrations.pydantic_ai.history import ChatMemoryHistory
    from chatmemory.integrations.pydantic_ai.memories import LongTermMemories

__all__ = ["ChatMemoryConversations", "ChatMemoryHistory", "LongTermMemories"]
