"""Outcomes are closed unions: a ``match`` that forgets a case is a type error."""

from __future__ import annotations

from typing import assert_never, assert_type

from chatmemory.effect import Failure, Outcome, Success
from tests.typing.world import Chat, NotFound, ReadError, StoreBroken


async def an_exhaustive_match(chat: Chat) -> str:
    outcome = await chat.messages("c1")
    assert_type(outcome, Outcome[list[str], ReadError])
    match outcome:
        case Success(messages):
            assert_type(messages, list[str])
            return messages[0]
        case Failure(error):
            match error:
                case NotFound(conversation_id):
                    return conversation_id
                case StoreBroken():
                    return "broken"
                case _:
                    assert_never(error)
        case _:
            assert_never(outcome)


def by_the_literal_tag(error: ReadError) -> str:
    match error.tag:
        case "NotFound":
            return "404"
        case "StoreBroken":
            return "503"
        case _:
            assert_never(error.tag)


async def a_forgotten_error(chat: Chat) -> str:
    match await chat.messages("c1"):
        case Success(messages):
            return messages[0]
        case Failure(error):
            match error:
                case NotFound(conversation_id):
                    return conversation_id
                case _:
                    assert_never(error)  # type: ignore[arg-type]  # StoreBroken is left


def a_forgotten_tag(error: ReadError) -> str:
    match error.tag:
        case "NotFound":
            return "404"
        case _:
            assert_never(error.tag)  # type: ignore[arg-type]  # "StoreBroken" is left


async def a_forgotten_failure(chat: Chat) -> str:
    outcome = await chat.messages("c1")
    match outcome:
        case Success(messages):
            return messages[0]
        case _:
            assert_never(outcome)  # type: ignore[arg-type]  # Failure is left
