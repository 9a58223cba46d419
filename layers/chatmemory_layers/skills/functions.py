"""Skills that are the user's own functions: ``skills({"conversation-summary": summarize})``."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias, cast, final

from anyio import to_thread
from attrs import frozen

from chatmemory.conversation.skill_runner import SkillRequest, SkillRunnerTag
from chatmemory.effect import Effect, EffectFailed, Failure, Layer, Outcome, Success
from chatmemory.effect.defects import defect_of
from chatmemory.errors import SkillExecutionError

SkillFunction: TypeAlias = Callable[[SkillRequest], str | Awaitable[str] | Effect[str, Any]]
"""Returns a text for a request: directly, as a coroutine, or as an effect.

A plain function runs in a worker thread, so that it blocks no other task; it must not use objects of the event loop.
"""


@final
@frozen
class FunctionSkills:
    """Runs the function with the id of the skill."""

    functions: Mapping[str, SkillFunction]

    def run(self, skill_id: str, request: SkillRequest) -> Effect[str, SkillExecutionError]:
        """Run the skill, and return its text.

        Fails with:
            SkillExecutionError: ``unknown_skill``, ``raised`` (the exception is the cause), or ``malformed`` when the
                function returns something other than text.  The skill may also return its own error, or raise it by
                ``or_raise``.
        """

        async def text() -> Outcome[str, SkillExecutionError]:
            function = self.functions.get(skill_id)
            if function is None:
                known = ", ".join(map(repr, sorted(self.functions))) or "none"
                return Failure(SkillExecutionError(skill_id, "unknown_skill", f"known: {known}"))
            try:
                answer = await _call(function, request)
            except BaseException as exception:
                if (defect := defect_of(exception)) is None:
                    raise
                # The user's own code may raise anything: a defect of that code, not of this package.
                failure = defect.error if isinstance(defect, EffectFailed) else defect
                return Failure(_failed(skill_id, failure))
            if isinstance(answer, Failure):
                return Failure(_failed(skill_id, cast("Failure[object]", answer).failure()))
            if isinstance(answer, Success):
                answer = cast("Success[object]", answer).unwrap()
            if isinstance(answer, str):
                return Success(answer)
            return Failure(
                SkillExecutionError(skill_id, "malformed", f"expected text, not {type(answer).__name__}")
            )

        return Effect.from_outcome(text)


def skills(functions: Mapping[str, SkillFunction]) -> Layer[SkillRunnerTag]:
    """Return the layer that runs *functions*, by skill id.  Keep it in a variable: two calls make two layers."""
    return Layer.succeed(SkillRunnerTag, FunctionSkills(dict(functions)))


async def _call(function: SkillFunction, request: SkillRequest) -> object:
    """Return the result of *function*: its value, or the outcome of the effect that it returns."""
    if inspect.iscoroutinefunction(function):
        return await function(request)
    answer = await to_thread.run_sync(function, request, abandon_on_cancel=True)
    return await cast("Awaitable[object]", answer) if inspect.isawaitable(answer) else answer


def _failed(skill_id: str, failure: object) -> SkillExecutionError:
    """Return the error for *failure*; the text of an exception may quote the conversation, and stays in the cause."""
    if isinstance(failure, SkillExecutionError):
        return failure
    cause = failure if isinstance(failure, BaseException) else None
    return SkillExecutionError(skill_id, "raised", type(failure).__name__, cause=cause)
