"""An agent of the OpenAI Agents SDK that remembers: what is said on Monday is known on Tuesday, in another program.

    pip install 'chatmemory-effect[openai-agents]'
    python examples/openai_agents_agent.py

The model is scripted, so that no network is needed; with a real one nothing else changes.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from agents import Agent, FunctionTool, RunConfig, Runner, function_tool
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from agents.testing.model import ModelCall

from chatmemory import LongTermMemoryService, Namespace, ThreadRuntime
from chatmemory.integrations.openai_agents import ChatMemorySession
from chatmemory_layers import stacks
from chatmemory_layers.stacks import MemoryTags

MEI = Namespace("mei", "harbor")
UNTRACED = RunConfig(tracing_disabled=True)


async def converse(store: Path, session_id: str, question: str, model: ScriptedModel) -> str:
    """Ask the agent in one session; the program may end before the next."""
    async with ThreadRuntime(stacks.embedded(store)) as runtime:
        agent = Agent("Harbor", instructions="You help Mei.", tools=[recall_from(runtime)], model=model)
        session = ChatMemorySession(session_id, runtime)
        answer = await Runner.run(agent, question, session=session, run_config=UNTRACED)
        saving = LongTermMemoryService.use(
            lambda memory: memory.auto_save(MEI, question, session_id=session_id)
        )
        (await runtime.run(saving)).unwrap()
        return str(answer.final_output)


def recall_from(runtime: ThreadRuntime[MemoryTags]) -> FunctionTool:
    """Make the tool by which the agent asks its long-term memory."""

    @function_tool
    async def recall(query: str) -> str:
        """Return what is remembered of earlier sessions."""
        recalling = LongTermMemoryService.use(lambda memory: memory.recall(MEI, query))
        recalled = (await runtime.run(recalling)).unwrap()
        return "\n".join(hit.memory.content for hit in recalled.hits)

    return recall


def answer_with_what_was_recalled(call: ModelCall) -> ModelStep:
    """Answer as a model would that read the result of its tool."""
    recalled = call.input[-1]["output"]
    return ModelStep([assistant_message(f"Without nuts, then: {recalled}")])


async def main(store: Path) -> None:
    """Two sessions, two programs, one memory."""
    monday = ScriptedModel([[assistant_message("好的，我记住了。")]])
    tuesday = ScriptedModel(
        [
            [function_call("recall", {"query": "她对什么过敏？"}, call_id="c1")],
            ModelStep.respond(answer_with_what_was_recalled),
        ]
    )
    print(await converse(store, "monday", "I work in Hangzhou. 我对花生过敏。", monday))
    print(await converse(store, "tuesday", "Order me a snack, please.", tuesday))
    async with ThreadRuntime(stacks.embedded(store)) as runtime:
        for item in await ChatMemorySession("tuesday", runtime).get_items():
            print(item)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(main(Path(sys.argv[1])))
    else:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(main(Path(folder) / "agent.db"))
