"""A chat client that says what stands in its script, and keeps what it was shown."""

from collections.abc import AsyncIterable, Awaitable, Mapping, Sequence
from typing import Any

from agent_framework import (
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
)


class ScriptedClient(FunctionInvocationLayer[Any], ChatMiddlewareLayer[Any], BaseChatClient[Any]):
    """Answers each call with the next of *answers*, with the last one when there is no other: a text, or contents."""

    def __init__(self, *answers: str | list[Content] | Exception) -> None:
        super().__init__()
        self.answers = list(answers)
        self.shown: list[list[Message]] = []

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **kwargs: Any
    ) -> Awaitable[ChatResponse[Any]] | ResponseStream[ChatResponseUpdate, ChatResponse[Any]]:
        self.shown.append(list(messages))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        contents = [Content.from_text(answer)] if isinstance(answer, str) else answer
        return self._build_response_stream(streamed(contents)) if stream else responded(contents)

    def texts(self) -> list[list[str]]:
        """Return what was shown in each call."""
        return [[message.text for message in messages] for messages in self.shown]


async def responded(contents: list[Content]) -> ChatResponse[Any]:
    return ChatResponse(messages=[Message("assistant", contents)])


async def streamed(contents: list[Content]) -> AsyncIterable[ChatResponseUpdate]:
    for content in contents:
        yield ChatResponseUpdate(role="assistant", contents=[content])
