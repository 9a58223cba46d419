"""Errors join when effects are chained, and leave the union when they are caught."""

from __future__ import annotations

from typing import assert_type

from chatmemory.effect import Effect, Schedule, catch
from tests.typing.programs.world import Chat, NotFound, ReadError, StoreBroken, TooSlow


def errors_join(chat: Chat) -> None:
    assert_type(chat.messages("c1").map(len), Effect[int, ReadError])
    slow = chat.messages("c1").bind(lambda _: Effect.fail(TooSlow()))
    assert_type(slow.lash(lambda error: Effect.succeed(error.tag)).map(len), Effect[int])
    assert_type(chat.messages("c1").timeout(3, TooSlow), Effect[list[str], ReadError | TooSlow])
    assert_type(chat.messages("c1").alt(str), Effect[list[str], str])


def start_anew(error: NotFound) -> Effect[list[str], TooSlow]:
    return Effect.succeed([error.conversation_id])


def a_caught_error_leaves_the_union(chat: Chat) -> Effect[list[str], StoreBroken | TooSlow]:
    caught = catch(NotFound, start_anew)(chat.messages("c1"))
    assert_type(caught, Effect[list[str], StoreBroken | TooSlow])
    assert_type(
        chat.messages("c1").pipe(catch(NotFound, start_anew)), Effect[list[str], StoreBroken | TooSlow]
    )
    return caught


def what_is_not_caught_stays(chat: Chat) -> Effect[list[str]]:
    return catch(NotFound, start_anew)(chat.messages("c1"))  # type error: StoreBroken and TooSlow are left


def a_handler_fits_its_error(chat: Chat) -> None:
    catch(StoreBroken, start_anew)  # type error: the handler is for NotFound
    chat.messages("c1").lash(start_anew)  # type error: StoreBroken is not handled


async def a_plain_await(chat: Chat) -> int:
    messages = await chat.messages("c1").or_raise()
    assert_type(messages, list[str])
    return messages  # type error: a list is no number


def is_worth_trying(error: ReadError) -> bool:
    return isinstance(error, StoreBroken) and error.retry_is_safe


def is_long(text: str) -> bool:
    return len(text) > 1


def retries(chat: Chat) -> None:
    patient = Schedule.exponential(0.1).jittered() & Schedule.recurs(5)
    assert_type(patient, Schedule[object, tuple[float, int]])
    picky = patient.while_input(is_worth_trying)
    assert_type(picky, Schedule[ReadError, tuple[float, int]])
    assert_type(chat.messages("c1").retry(picky), Effect[list[str], ReadError])
    assert_type(chat.messages("c1").retry(patient, while_=is_worth_trying), Effect[list[str], ReadError])
    assert_type(chat.messages("c1").repeat(Schedule.recurs(3)), Effect[int, ReadError])
    chat.messages("c1").retry(Schedule.forever().while_input(is_long))  # type error: errors are no text
    chat.messages("c1").retry(patient, until=is_long)  # type error: errors are no text
    picky.while_input(is_long)  # type error: no input is an error and a text


def exceptions_are_named() -> None:
    async def read() -> bytes:
        raise OSError

    read_file = Effect.attempt(read, OSError, to=lambda error: StoreBroken(error.errno is None))
    assert_type(read_file, Effect[bytes, StoreBroken])
    Effect.attempt(read, OSError)  # type error: what becomes of the exception is not said
