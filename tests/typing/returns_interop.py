# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownLambdaType=false, reportAssertTypeFailure=false
"""The functions of ``returns`` over effects, as mypy sees them with its plugin.

pyright knows no plugin: to it an effect is no container, and what the pointfree functions return is unknown.
``Effect.from_result`` is typed in both.
"""

from typing import assert_type

from returns.pipeline import flow, pipe
from returns.pointfree import alt, bind, lash, map_
from returns.result import safe

from chatmemory.effect import Effect, catch
from tests.typing.world import Chat, ChatTag, NotFound, ReadError, StoreBroken, TooSlow


def count(messages: list[str]) -> int:
    return len(messages)


def again(number: int) -> Effect[str, ReadError]:
    return Effect.succeed(str(number))


def slowly(_number: int) -> Effect[str, TooSlow]:
    return Effect.fail(TooSlow())


def text(error: ReadError) -> str:
    return error.tag


def nothing(_error: ReadError) -> Effect[list[str], TooSlow]:
    return Effect.succeed([])


def one_by_one(chat: Chat) -> None:
    recovered = lash(nothing)(chat.messages("c1"))  # pyright: ignore[reportArgumentType]  # no plugin
    assert_type(recovered, Effect[list[str], TooSlow])


def one_after_another(chat: Chat) -> None:
    flown = flow(chat.messages("c1"), map_(count), bind(again), alt(text))  # pyright: ignore[reportArgumentType]  # no plugin
    assert_type(flown, Effect[str, str])
    assert_type(pipe(map_(count), map_(str))(chat.messages("c1")), Effect[str, ReadError])
    caught = flow(chat.messages("c1"), catch(NotFound, lambda _: Effect.succeed(list[str]())), map_(count))
    assert_type(caught, Effect[int, StoreBroken])


def services_stay() -> None:
    prefix = ChatTag.use(lambda chat: chat.messages("c1"))
    assert_type(flow(prefix, map_(count)), Effect[int, ReadError, ChatTag])


def methods_join_errors_where_bind_of_returns_does_not(chat: Chat) -> None:
    counted = chat.messages("c1").map(count)
    assert_type(counted.bind(slowly), Effect[str, ReadError | TooSlow])
    bind(slowly)(counted)  # type: ignore[arg-type]  # TooSlow is not ReadError


@safe(exceptions=(ValueError,))
def parse(written: str, *, base: int = 10) -> int:
    return int(written, base)


def safe_functions_bind(chat: Chat) -> None:
    assert_type(Effect.from_result(parse("12", base=8)), Effect[int, ValueError])
    parsed = chat.messages("c1").bind(lambda messages: Effect.from_result(parse(messages[0])))
    assert_type(parsed, Effect[int, ReadError | ValueError])
    Effect.from_result(parse(12))  # type: ignore[arg-type]  # a text is wanted
    Effect.from_result(parse)  # type: ignore[arg-type]  # it is not called
