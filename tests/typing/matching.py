"""Errors join when effects are chained, and leave the union when they are caught; a ``match`` that forgets one is a type error.  Exceptions are caught by the class of the error."""

from typing import Never, TypeAlias, assert_never, assert_type

from chatmemory import ChatMemory, ConversationNotFoundError, EffectFailed
from chatmemory.effect import Effect, Failure, Outcome, Schedule, Success, catch
from tests.typing.world import Chat, NotFound, PrefixTag, ReadError, StoreBroken, StoreTag, TooSlow


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


async def newest(memory: ChatMemory) -> str:
    try:
        messages = await memory.get_messages("c1").or_raise()
    except EffectFailed as failed:
        return (
            failed.error.conversation_id
            if isinstance(failed.error, ConversationNotFoundError)
            else failed.tag
        )
    return messages[0].content


async def asks_for_a_field_that_is_not_there(memory: ChatMemory) -> str:
    try:
        return str(await memory.get_messages("c1").or_raise())
    except EffectFailed as failed:
        return failed.error.conversation_id  # type: ignore[attr-defined, no-any-return]  # of which error?


def errors_join(chat: Chat) -> None:
    assert_type(chat.messages("c1").map(len), Effect[int, ReadError])
    slow = chat.messages("c1").bind(lambda _: Effect.fail(TooSlow()))
    assert_type(slow.lash(lambda error: Effect.succeed(error.tag)).map(len), Effect[int])
    assert_type(chat.messages("c1").timeout(3, TooSlow), Effect[list[str], ReadError | TooSlow])
    assert_type(chat.messages("c1").alt(str), Effect[list[str], str])


def start_anew(error: NotFound) -> Effect[list[str], TooSlow]:
    return Effect.succeed([error.conversation_id])


def a_caught_error_leaves_the_union(chat: Chat) -> Effect[list[str], TooSlow]:
    caught = catch(NotFound, start_anew)(chat.messages("c1"))
    assert_type(caught, Effect[list[str], StoreBroken | TooSlow])
    return caught  # type: ignore[return-value]  # StoreBroken is left


class Cut: ...


class Lost: ...


class Torn: ...


Rest: TypeAlias = Cut | Lost | Torn | TooSlow


def torn(chat: Chat) -> Effect[int, NotFound | Cut | Lost | Torn, StoreTag]:
    return StoreTag.use(lambda _: chat.messages("c1").map(len).alt(lambda _: Torn()))


def ask(error: NotFound) -> Effect[str, TooSlow, PrefixTag]:
    return PrefixTag.get().map(lambda prefix: prefix + error.conversation_id)


def many_errors_stay(chat: Chat) -> None:
    assert_type(
        torn(chat).pipe(catch(Cut, lambda _: Effect.succeed(0))),
        Effect[int, NotFound | Lost | Torn, StoreTag],
    )
    asking = catch(NotFound, ask)
    assert_type(asking(torn(chat)), Effect[int | str, Rest, StoreTag | PrefixTag])
    assert_type(torn(chat).pipe(asking).map(str), Effect[str, Rest, StoreTag | PrefixTag])


def one_after_another_is_caught(chat: Chat) -> None:
    two_left = torn(chat).pipe(catch(NotFound, ask)).pipe(catch(Cut, lambda _: Effect.fail(TooSlow())))
    assert_type(two_left, Effect[int | str, Lost | Torn | TooSlow, StoreTag | PrefixTag])
    inside_out = catch(Lost, lambda _: Effect.succeed(1))(catch(Torn, lambda _: Effect.succeed(1))(two_left))
    assert_type(inside_out, Effect[int | str, TooSlow, StoreTag | PrefixTag])
    none_left = inside_out.pipe(catch(TooSlow, lambda _: Effect.succeed(2)))
    assert_type(none_left, Effect[int | str, Never, StoreTag | PrefixTag])


def none_is_an_error_like_others(effect: Effect[int, NotFound | str | None]) -> None:
    assert_type(effect.pipe(catch(str, lambda text: Effect.succeed(len(text)))), Effect[int, NotFound | None])


def a_handler_fits_its_error(chat: Chat) -> None:
    catch(StoreBroken, start_anew)  # type: ignore[arg-type]  # the handler is for NotFound
    assert_type(chat.messages("c1").pipe(lambda effect: effect.map(len)), Effect[int, ReadError])
    chat.messages("c1").lash(start_anew)  # type: ignore[arg-type]  # StoreBroken is not handled


def is_worth_trying(error: ReadError) -> bool:
    return isinstance(error, StoreBroken) and error.retry_is_safe


def is_long(text: str) -> bool:
    return len(text) > 1


def retries(chat: Chat) -> None:
    patient = Schedule.exponential(0.1).jittered() & Schedule.recurs(5)
    assert_type(patient, Schedule[object])
    assert_type(chat.messages("c1").retry(patient), Effect[list[str], ReadError])
    assert_type(chat.messages("c1").retry(patient, while_=is_worth_trying), Effect[list[str], ReadError])
    chat.messages("c1").retry(patient, while_=is_long)  # type: ignore[arg-type]  # errors are no text


def exceptions_are_named() -> None:
    async def read() -> bytes:
        raise OSError

    read_file = Effect.attempt(read, OSError, to=lambda error: StoreBroken(error.errno is None))
    assert_type(read_file, Effect[bytes, StoreBroken])
    Effect.attempt(read, OSError)  # type: ignore[call-arg]  # what becomes of the exception is not said
