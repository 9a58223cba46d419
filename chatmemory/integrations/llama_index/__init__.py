"""Long-term memory and chat history for LlamaIndex.

    runtime = ThreadRuntime(stacks.embedded("agent.db"))
    block = ChatMemoryBlock(namespace=Namespace("mei"), runtime=runtime)
    memory = Memory.from_defaults(session_id="monday", memory_blocks=[block])

    store = ChatMemoryChatStore(runtime=runtime)
    memory = ChatMemoryBuffer.from_defaults(chat_store=store, chat_store_key="mei")

``ChatMemoryBlock`` recalls in every session what the user said in another one.  ``ChatMemoryChatStore`` keeps the
messages of a chat: each is one message of a conversation.  Its columns hold the role and the readable text, for search,
summaries and the page.  Its metadata holds the JSON of the ``ChatMessage``, which comes back equal.
"""

from chatmemory.extra import needs_extra

with needs_extra("llama-index"):
    from chatmemory.integrations.llama_index.chat_store import ChatMemoryChatStore
    from chatmemory.integrations.llama_index.memory_block import ChatMemoryBlock

__all__ = ["ChatMemoryBlock", "ChatMemoryChatStore"]
