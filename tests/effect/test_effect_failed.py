"""``EffectFailed``: typed failures for those who catch exceptions."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from attrs import frozen

from chatmemory import ConversationNotFoundError, GenericMemoryError, RepositoryError
from chatmemory.effect import (
    Effect,
    EffectFailed,
    Failure,
    Layer,
    ManagedRuntime,
    Tag,
)
from chatmemory.errors import ReadError

pytestmark = pytest.mark.anyio

NOT_FOUND = ConversationNotFoundError("c1")


class Price(Tag[int]): ...


@frozen
class ShopError:
    """Something of the shop went wrong."""

    detail: str


@frozen
class SoldOutError(ShopError):
    """Nothing is left."""


def test_it_says_what_failed_and_travels_to_another_process() -> None:
    failed = EffectFailed(NOT_FOUND)
    assert str(failed) == "no conversation 'c1': add a message to it first"
    assert type(failed).__name__ == "EffectFailed[ConversationNotFoundError]"
    again = pickle.loads(pickle.dumps(failed))
    assert again.error == failed.error == NOT_FOUND
    assert type(again) is type(failed)


def test_it_is_caught_by_the_class_of_its_error() -> None:
    def caught() -> str:
        try:
            Failure(NOT_FOUND).unwrap()
        except EffectFailed.of(ShopError) as failed:
            return failed.error.detail
        except EffectFailed[ConversationNotFoundError] as failed:
            return failed.error.conversation_id

    assert caught() == "c1"


def test_a_subclass_of_errors_is_caught_with_its_base() -> None:
    for kind in (EffectFailed[SoldOutError], EffectFailed[ShopError], EffectFailed):
        with pytest.raises(kind):
            Failure(SoldOutError("gone")).unwrap()
    with pytest.raises(EffectFailed), pytest.raises(EffectFailed[SoldOutError]):
        Failure(ShopError("closed")).unwrap()
    with pytest.raises(EffectFailed[ReadError], match="no conversation 'c1'"):
        Failure(NOT_FOUND).unwrap()  # the name of a union


def test_any_error_is_caught_by_the_class_alone_and_what_is_no_class_is_refused() -> None:
    kind: Any = NOT_FOUND
    assert EffectFailed[Any] is EffectFailed[object] is EffectFailed
    assert EffectFailed[ShopError] is EffectFailed[ShopError]
    with pytest.raises(TypeError, match=r"takes the class of an error.*except EffectFailed\["):
        EffectFailed[kind]


def test_the_exception_that_an_error_keeps_is_its_cause() -> None:
    torn = OSError("torn")
    beneath = GenericMemoryError(RepositoryError("read messages", "unexpected", cause=torn))
    assert EffectFailed(beneath).__cause__ is torn
    assert EffectFailed(torn).__cause__ is torn
    assert EffectFailed(NOT_FOUND).__cause__ is None


async def test_a_layer_that_fails_shows_the_cause_too() -> None:
    torn = OSError("torn")
    broken = Layer.effect(Price, Effect.fail(RepositoryError("open the store", "unexpected", cause=torn)))
    with pytest.raises(EffectFailed[RepositoryError]) as failed:
        async with ManagedRuntime(broken):
            raise AssertionError
    assert failed.value.__cause__ is torn
