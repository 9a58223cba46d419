"""Contexts and tags: Effect's cases."""

from __future__ import annotations

import pytest

from chatmemory.effect import Context, Effect, Failure, MissingServiceError, Reference, Success, Tag


class A(Tag[int]): ...


class B(Tag[int]): ...


class C(Tag[int]): ...


class Optional(Tag[str | None]): ...


def test_error_messages() -> None:
    with pytest.raises(MissingServiceError, match=r"^Service not found: A \(available: nothing\)"):
        Context.empty().get(A)


def test_the_class_of_a_service_is_not_its_tag() -> None:
    class Price: ...

    with pytest.raises(TypeError, match="Price'> is not a tag: services are asked for by their tags"):
        Context.of(A, 1).get(Price)


def test_adds_and_retrieves_services() -> None:
    context = Context.of(A, 1).add(B, 2)
    assert (context.get(A), context.get(B)) == (1, 2)


def test_picks_services_and_merges() -> None:
    context = Context.of(A, 1).merge(Context.of(B, 2)).merge(Context.of(C, 3)).pick(A, B)
    assert list(context) == [A.key, B.key]
    assert (context.get(A), context.get_or(C, None)) == (1, None)


def test_omits_services() -> None:
    context = Context.of(A, 1).add(B, 2).add(C, 3).omit(A, B)
    assert list(context) == [C.key]


def test_aliased_tags_are_one_service() -> None:
    class Here(Tag[int], key="shop.Price"): ...

    class There(Tag[int], key="shop.Price"): ...

    assert Context.of(Here, 1).get(There) == 1


def test_tags_of_one_interface_are_two_services() -> None:
    with pytest.raises(MissingServiceError):
        Context.of(A, 1).get(B)


def test_merge_all() -> None:
    merged = Context.of(A, 1).merge(Context.of(B, 2)).merge(Context.of(A, 3))
    assert merged == Context.of(A, 3).add(B, 2)


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
    assert present.get_or(Optional, "otherwise") is None
    assert Optional not in Context.empty()
    assert Context.empty().get_or(Optional, "otherwise") == "otherwise"


def test_merges_with_right_bias_and_preserves_empty_operand_identity() -> None:
    left, right = Context.of(A, 1).add(B, 1), Context.of(B, 2)
    assert left.merge(right).get(B) == 2
    assert left.merge(Context.empty()) is left
    assert Context.empty().merge(right) is right


def test_preserves_insertion_order_for_replacements_and_appends() -> None:
    context = Context.of(A, 1).add(B, 2).add(A, 3).merge(Context.of(C, 4).add(B, 5))
    assert list(context) == [A.key, B.key, C.key]


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


def test_an_accessor_asks_for_the_service_when_it_runs() -> None:
    assert A.get().provide(Context.of(A, 1)).run_sync() == Success(1)
    assert A.use(Effect.fail).provide(Context.of(A, 1)).run_sync() == Failure(1)


def test_a_missing_service_is_a_defect() -> None:
    with pytest.raises(MissingServiceError):
        A.get().lash(lambda _: Effect.succeed(0)).run_sync()
