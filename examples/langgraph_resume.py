"""A LangGraph agent that asks before it orders: it stops on Monday, and goes on in another program on Tuesday.

    pip install 'chatmemory-effect[langgraph]' langgraph
    python examples/langgraph_resume.py order.db monday
    python examples/langgraph_resume.py order.db tuesday

Where the graph stopped (``ChatMemorySaver``) and what is known of the guest (``ChatMemoryStore``) are in one file.
"""

import sys
import tempfile
from datetime import timedelta
from pathlib import Path

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from chatmemory import ThreadRuntime
from chatmemory.integrations.langgraph import ChatMemorySaver, ChatMemoryStore, Retention
from chatmemory_layers import stacks

MEI = ("memories", "mei")
DINNER: RunnableConfig = {"configurable": {"thread_id": "dinner"}}


class Order(TypedDict, total=False):
    """What is ordered, and what was said to it."""

    dish: str
    answer: str


def propose(_: Order, *, store: BaseStore) -> Order:
    """Propose a dish that the guest can eat."""
    known = store.search(MEI, query="她对什么过敏？", limit=1)
    return {"dish": "麻婆豆腐" if known else "宫保鸡丁"}


def confirm(state: Order) -> Order:
    """Stop until somebody has answered, however long that takes."""
    return {"answer": interrupt(f"点{state['dish']}，好吗？")}


def graph_on(runtime: ThreadRuntime[stacks.MemoryTags]) -> CompiledStateGraph[Order]:
    """Build the agent on one memory."""
    builder = StateGraph(Order)
    builder.add_node("propose", propose)
    builder.add_node("confirm", confirm)
    builder.add_edge(START, "propose")
    builder.add_edge("propose", "confirm")
    builder.add_edge("confirm", END)
    saver = ChatMemorySaver(runtime, retention=Retention(keep_last=50, thread_ttl=timedelta(days=30)))
    return builder.compile(store=ChatMemoryStore(runtime), checkpointer=saver)


def monday(runtime: ThreadRuntime[stacks.MemoryTags]) -> None:
    """Learn what the guest cannot eat, and ask."""
    ChatMemoryStore(runtime).put(MEI, "diet", {"text": "她对花生过敏"})
    asked = graph_on(runtime).invoke({}, DINNER)
    print(asked["__interrupt__"][0].value)


def tuesday(runtime: ThreadRuntime[stacks.MemoryTags]) -> None:
    """Go on with the answer; then go back to the question, and answer it in another way."""
    graph = graph_on(runtime)
    print("等着：", *graph.get_state(DINNER).next)
    ordered = graph.invoke(Command(resume="好"), DINNER)
    print(ordered["dish"], ordered["answer"])
    question = next(state for state in graph.get_state_history(DINNER) if state.next == ("confirm",))
    instead = graph.update_state(question.config, {"dish": "清蒸鱼"}, as_node="propose")
    graph.invoke(None, instead)
    again = graph.invoke(Command(resume="也好"), DINNER)
    print(again["dish"], again["answer"])


def main(store_path: Path, days: list[str]) -> None:
    """Each day is a program of its own."""
    for day in days:
        with ThreadRuntime(stacks.embedded(store_path)) as runtime:
            {"monday": monday, "tuesday": tuesday}[day](runtime)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]), sys.argv[2:] or ["monday", "tuesday"])
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(Path(folder) / "order.db", ["monday", "tuesday"])
