"""``EffectFailed``: typed failures for those who catch exceptions."""

import pickle

import pytest

from chatmemory import ConversationNotFoundError, GenericMemoryError, RepositoryError
from chatmemory.effect import Effect, EffectFailed, Failure, Layer, ManagedRuntime, Tag

pytestmark = pytest.mark.anyio

NOT_FOUND = ConversationNotFoundError("c1")


class Price(Tag[int]): ...


def test_it_says_what_failed_and_travels_to_another_process() -> None:
    with pytest.raises(EffectFailed, match="no conversation 'c1': add a message to it first") as caught:
        Failure(NOT_FOUND).unwrap()
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.error == caught.value.error == NOT_FOUND
    assert again.tag == "ConversationNotFoundError"
    assert EffectFailed("sold out").tag == "str"


def test_the_exception_that_an_error_keeps_is_its_cause() -> None:
    torn = OSError("torn")
    beneath = GenericMemoryError(RepositoryError("read messages", "unexpected", cause=torn))
    assert EffectFailed(beneath).__cause__ is torn
    assert EffectFailed(torn).__cause__ is torn
    assert EffectFailed(NOT_FOUND).__cause__ is None


async def test_a_layer_that_fails_shows_the_cause_too() -> None:
    torn = OSError("torn")
    broken = Layer.effect(Price, Effect.fail(RepositoryError("open the store", "unexpected", cause=torn)))
    with pytest.raises(EffectFailed) as failed:
        async with ManagedRuntime(broken):
            raise AssertionError
    assert failed.value.__cause__ is torn
