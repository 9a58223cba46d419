"""A LangGraph agent with a long-term store: what is said on Monday is known on Tuesday, in another program.

    pip install 'chatmemory-effect[langgraph]' langgraph
    python examples/langgraph_agent.py

The model is scripted, so that no network is needed; with a real one nothing else changes.
"""

import sys
import tempfile
from pathlib import Path

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableLambda
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.store.base import BaseStore

from chatmemory import ThreadRuntime
from chatmemory.integrations.langgraph import ChatMemoryStore
from chatmemory_layers import stacks

MEI = ("memories", "mei")


def scripted_model(line: str) -> Runnable[list[AnyMessage], AIMessage]:
    """Say *line*, with what the system message tells in the place of ``{memories}``."""
    return RunnableLambda(lambda messages: AIMessage(line.replace("{memories}", str(messages[0].content))))


def converse(store_path: Path, question: str, line: str) -> str:
    """Ask the agent once; the program may end before the next time."""
    model = scripted_model(line)

    def answer(state: MessagesState, *, store: BaseStore) -> dict[str, list[AIMessage]]:
        asked = str(state["messages"][-1].content)
        known = store.search(MEI, query=asked, limit=1)
        told = SystemMessage("\n".join(item.value["text"] for item in known))
        return {"messages": [model.invoke([told, *state["messages"]])]}

    def remember(state: MessagesState, *, store: BaseStore) -> None:
        for message in state["messages"]:
            if isinstance(message, HumanMessage):
                store.put(MEI, str(message.id), {"text": message.content})

    builder = StateGraph(MessagesState)
    builder.add_node("answer", answer)
    builder.add_node("remember", remember)
    builder.add_edge(START, "answer")
    builder.add_edge("answer", "remember")
    builder.add_edge("remember", END)
    with ThreadRuntime(stacks.embedded(store_path)) as runtime:
        graph = builder.compile(store=ChatMemoryStore(runtime))
        state = graph.invoke({"messages": [HumanMessage(question)]})
        return str(state["messages"][-1].content)


def main(store_path: Path) -> None:
    """Two sessions, two programs, one memory."""
    print(converse(store_path, "我对花生过敏。", "好的，我记住了。"))
    print(converse(store_path, "I work as an engineer in Hangzhou.", "Noted."))
    print(converse(store_path, "她对什么过敏？", "你说过：{memories}"))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(Path(folder) / "agent.db")
