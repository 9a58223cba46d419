"""Contexts and tags: Effect's cases."""

import pytest

from chatmemory.effect import Context, Effect, MissingServiceError, Reference, Success, Tag


class A(Tag[int]): ...


class B(Tag[int]): ...


class C(Tag[int]): ...


class Optional(Tag[str | None]): ...


def test_aliased_tags_are_one_service() -> None:
    class Here(Tag[int], key="shop.Price"): ...

    class There(Tag[int], key="shop.Price"): ...

    assert Context.of(Here, 1).get(There) == 1


def test_tags_of_one_interface_are_two_services() -> None:
    with pytest.raises(MissingServiceError, match=r"^Service not found: B \(available: A\)"):
        Context.of(A, 1).get(B)
    context = Context.of(A, 1).add(B, 2)
    assert (context.get(A), context.get(B), len(context)) == (1, 2, 2)
    assert context == Context.of(A, 3).merge(Context.of(B, 2)).merge(Context.of(A, 1))


def test_keeps_the_source_immutable_across_additions() -> None:
    source = Context.of(A, 1)
    source.add(B, 2)
    source.add(A, 3)
    source.merge(Context.of(A, 4))
    assert list(source) == [A.key]
    assert source.get(A) == 1


def test_distinguishes_an_undefined_service_from_an_absent_service() -> None:
    present = Context.of(Optional, None)
    assert Optional in present
    assert present.get(Optional) is None
    assert Optional not in Context.empty()


def test_a_merge_is_right_biased_keeps_the_order_and_copies_nothing_for_nothing() -> None:
    left, right = Context.of(A, 1).add(B, 2).add(A, 3), Context.of(C, 4).add(B, 5)
    merged = left.merge(right)
    assert (list(merged), merged.get(B)) == ([A.key, B.key, C.key], 5)
    assert left.merge(Context.empty()) is left
    assert Context.empty().merge(right) is right


def test_resolves_reference_defaults_lazily_and_caches_them() -> None:
    made: list[object] = []

    class Lazy(Reference[object]):
        @classmethod
        def default(cls) -> object:
            made.append(object())
            return made[-1]

    assert made == []
    first = Context.empty().get(Lazy)
    assert Context.of(A, 1).get(Lazy) is first
    assert Effect.service(Lazy).run_sync() == Success(first)
    assert made == [first]
    assert Context.of(Lazy, "another").get(Lazy) == "another"
