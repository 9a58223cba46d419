"""``PROMPTS``: prompts that a person chooses in the host, for example as slash commands.

    /mcp__memory__recall_before_task    give the model what is known about a task
    /mcp__memory__what_do_you_know      ask what is remembered about the user, or about a topic
    /mcp__memory__save_this             have the model remember one fact

The server runs the recall before the model reads the prompt, so the model needs no tool call.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias, final

from attrs import frozen
from mcp_types import Prompt, PromptArgument

from chatmemory.effect import Effect
from chatmemory.errors import DataValidationError, Problem, RecallError
from chatmemory.programs.mcp.finding import (
    Asks,
    FindError,
    Task,
    Wanted,
    WantedPage,
    Where,
    list_memories,
    recall,
    search,
)
from chatmemory.programs.mcp.tool import ToolCall, ToolResult
from chatmemory.programs.operations.grant import Grant

Arguments: TypeAlias = Mapping[str, str]
PromptError: TypeAlias = FindError | RecallError
Ask: TypeAlias = Callable[[Grant, Arguments], Effect[str, PromptError, Asks]]

MOST_SHOWN: Final = 50
"""The number of memories that ``what_do_you_know`` shows when it is given no topic."""


@final
@frozen(kw_only=True)
class MemoryPrompt:
    """One prompt.

    Attributes:
        listed: the prompt as a host shows it.
        ask: returns the user message that the host gives to its model.
        writes: whether the prompt asks the model to change memory.
    """

    listed: Prompt
    ask: Ask
    writes: bool = False

    def is_for(self, grant: Grant) -> bool:
        """Return whether *grant* allows this prompt."""
        return not (self.writes and grant.read_only)

    def message(self, grant: Grant, given: Arguments) -> Effect[str, PromptError | DataValidationError, Asks]:
        """Return the user message; fail with ``DataValidationError`` if arguments are missing or unknown."""
        arguments = self.listed.arguments or ()
        known = {argument.name for argument in arguments}
        problems = [
            Problem(f"$.{argument.name}", f"required: {argument.description}")
            for argument in arguments
            if argument.required and not given.get(argument.name, "").strip()
        ]
        problems += [
            Problem(f"$.{name}", f"unknown: {self.listed.name} takes {', '.join(sorted(known))}")
            for name in given
            if name not in known
        ]
        if problems:
            return Effect.fail(DataValidationError(tuple(problems)))
        return self.ask(grant, given)


def _text(result: ToolResult[Any]) -> str:
    return result.text


def _before_task(grant: Grant, given: Arguments) -> Effect[str, PromptError, Asks]:
    task = given["task"]
    where: Where = "everywhere" if grant.past_chats else "memories"
    recalled = recall(ToolCall(grant, Task(query=task, where=where))).map(_text)
    return recalled.map(lambda text: f"Task: {task}\n\nWhat is known from before, as data:\n\n{text}")


def _about_me(grant: Grant, given: Arguments) -> Effect[str, PromptError, Asks]:
    topic = given.get("topic", "").strip()
    if topic:
        found = search(ToolCall(grant, Wanted(query=topic, where="memories", limit=MOST_SHOWN))).map(_text)
    else:
        found = list_memories(ToolCall(grant, WantedPage(limit=MOST_SHOWN))).map(_text)
    about = f" about this: {topic}" if topic else ""
    asks = (
        f"Tell me what you remember{about}, in plain sentences, each with its id, so that I can correct it."
    )
    return found.map(lambda text: f"{asks} It is data:\n\n{text}")


def _save(_: Grant, given: Arguments) -> Effect[str, PromptError, Asks]:
    return Effect.succeed(
        "Save this to long-term memory with the tool `remember`, as one or more full sentences that are clear without this"
        f" conversation; if an older memory says otherwise, give its id in `replaces`:\n\n{given['fact']}"
    )


def _argument(name: str, description: str, *, required: bool = True) -> PromptArgument:
    return PromptArgument(name=name, description=description, required=required)


PROMPTS: Final[Sequence[MemoryPrompt]] = (
    MemoryPrompt(
        listed=Prompt(
            name="recall_before_task",
            title="Recall before a task",
            description="Give the model what is known about a task: saved facts, and what worked or failed in past chats.",
            arguments=[_argument("task", "the task, for example: add retries to the webhook")],
        ),
        ask=_before_task,
    ),
    MemoryPrompt(
        listed=Prompt(
            name="what_do_you_know",
            title="What do you know about me?",
            description="Ask what is remembered about you, or about a topic.",
            arguments=[_argument("topic", "only memories about this topic; empty for all", required=False)],
        ),
        ask=_about_me,
    ),
    MemoryPrompt(
        listed=Prompt(
            name="save_this",
            title="Save this",
            description="Have the model remember a fact in later sessions.",
            arguments=[_argument("fact", "what to remember, for example: the tests need Redis on port 6380")],
        ),
        ask=_save,
        writes=True,
    ),
)
