"""Every method of every contract can be scripted, and watched, whatever it returns."""

import inspect
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

import chatmemory
from chatmemory.effect import ClockTag, Effect, EffectFailed, Failure, Tag
from chatmemory.effect.key import Key
from chatmemory.errors import RepositoryError
from chatmemory.testing import Spy, Stub, passes
from chatmemory.testing.double import Contract, Member
from tests.for_each import for_each

EXPORTED = [getattr(chatmemory, name) for name in dir(chatmemory)]
CLASSES = [value for value in EXPORTED if inspect.isclass(value)]
TAGS: list[Any] = [value for value in CLASSES if issubclass(value, Key) and value is not Tag]
BUSY = RepositoryError("read", "busy")


def methods() -> Iterator[Any]:
    for tag in [*TAGS, ClockTag]:
        for member in Contract.of(tag).members.values():
            if member.kind != "attribute":
                yield pytest.param(tag, member, id=f"{tag.__name__}-{member.name}")


def call(service: Any, member: Member) -> Any:
    """Call the method with None for everything that it must be given."""
    assert member.signature is not None
    parameters = list(member.signature.parameters.values())[1:]
    needed = [one for one in parameters if one.default is one.empty]
    named = {one.name: None for one in needed if one.kind is one.KEYWORD_ONLY}
    return getattr(service, member.name)(*[None] * (len(needed) - len(named)), **named)


METHODS = list(methods())


async def answer(made: Any) -> Any:
    """Return what a call comes to, or raise what it fails with."""
    match made:
        case Effect():
            return await made.or_raise()
        case AsyncIterator():
            items = [item async for item in made]
            return await Effect.from_result(items[0]).or_raise() if items == [Failure(BUSY)] else items
        case _:
            return await made if inspect.isawaitable(made) else made


def test_there_is_a_contract_for_each_part_of_a_memory() -> None:
    assert len(TAGS) == 20
    assert all(Contract.of(tag).members for tag in TAGS)


@for_each(("tag", "member"), METHODS)
async def test_a_stub_answers_and_a_spy_around_it_lets_the_second_call_fail(tag: Any, member: Member) -> None:
    stub: Stub[Any, Any] = Stub(tag, **{member.name: [["an answer"]]})
    spy: Spy[Any, Any] = Spy(tag, **{member.name: [passes, Failure(BUSY)]})
    service = spy.around(stub.service)
    assert await answer(call(service, member)) == ["an answer"]
    with pytest.raises(EffectFailed, match="busy"):
        await answer(call(service, member))
    assert [(made.service, made.method) for made in stub.calls] == [(Contract.of(tag).name, member.name)]
    assert [made.outcome for made in spy.calls][1:] == [Failure(BUSY)]
