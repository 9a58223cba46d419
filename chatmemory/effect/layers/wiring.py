"""``wire``: composes a bag of layers by what each needs and gives.

It writes the ``|`` and ``>>`` that one would write by hand, and no more.  What it cannot do is check types: a layer
that is missing from the bag is reported when ``wire`` is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from graphlib import CycleError, TopologicalSorter
from typing import Any, Never, TypeAlias, final

from attrs import define

from chatmemory.effect.effect import Effect
from chatmemory.effect.key import MissingServiceError, short_name
from chatmemory.effect.layers.layer import Layer
from chatmemory.effect.layers.plan import region_of, survey
from chatmemory.effect.layers.region import Region
from chatmemory.effect.layers.shape import AnyTag, Feed, Leaf, Merge, Replace, Shape
from chatmemory.effect.layers.wiring_errors import AmbiguousServiceError, LayerCycleError

__all__ = ["wire"]

AnyLayer: TypeAlias = Layer[Any, Any, Any]


def wire(
    *layers: AnyLayer, override: Iterable[AnyLayer] = (), expose: Iterable[AnyTag] | None = None
) -> Layer[Any, Any, Never]:
    """Return the layer that gives the services of *layers*, each fed by the others.

    Args:
        layers: the bag, in any order.  They are acquired in parallel where they do not need each other.
        override: layers that replace what *layers* give, however deep, as ``Layer.replace`` does.
        expose: the tags to give; only these, and what they need, are built.  By default all.

    Raises:
        MissingServiceError: a layer, or *expose*, needs what no layer gives.
        AmbiguousServiceError: two layers of the bag, or two overrides, give the same service.
        LayerCycleError: layers need each other in a circle.
        UnknownReplacementError: an override gives what no layer of the bag gives.
    """
    fakes = [layer.shape for layer in override]
    region = region_of(fakes)
    pieces = [_Piece.of(layer, region if fakes else None) for layer in layers]
    region.check()
    providers = _providers(pieces)
    wanted = pieces if expose is None else _known(expose, providers, "expose")
    graph = _reachable(wanted, providers)
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise LayerCycleError([piece.name for piece in reversed(error.args[1])]) from None
    fed: dict[_Piece, Shape] = {}
    for piece in order:
        below = [fed[one] for one in graph[piece]]
        fed[piece] = Feed(_merge(below), piece.shape, keeps=False) if below else piece.shape
    whole = _merge([fed[piece] for piece in dict.fromkeys(wanted)])
    return Layer(Replace(whole, fakes) if fakes else whole)


@final
@define(eq=False)
class _Piece:
    name: str
    shape: Shape
    needs: Sequence[AnyTag]
    gives: Sequence[str]

    @staticmethod
    def of(layer: AnyLayer, region: Region | None) -> _Piece:
        needs, gives = survey(layer.shape, region)
        return _Piece("|".join(map(short_name, gives)) or repr(layer), layer.shape, needs, gives)


def _providers(pieces: Iterable[_Piece]) -> dict[str, _Piece]:
    providers: dict[str, _Piece] = {}
    for piece in pieces:
        for key in piece.gives:
            other = providers.setdefault(key, piece)
            if other.shape is not piece.shape:
                raise AmbiguousServiceError(
                    f"{short_name(key)} is given by both layer {other.name} and layer {piece.name}: "
                    "name one of them in wire(override=[...])"
                )
    return providers


def _reachable(wanted: Iterable[_Piece], providers: dict[str, _Piece]) -> dict[_Piece, list[_Piece]]:
    """Return the pieces to build, each with those that feed it."""
    graph: dict[_Piece, list[_Piece]] = {}
    waiting = list(wanted)
    while waiting:
        piece = waiting.pop()
        if piece not in graph:
            graph[piece] = _known(piece.needs, providers, f"layer {piece.name}")
            waiting += graph[piece]
    return graph


def _known(tags: Iterable[AnyTag], providers: dict[str, _Piece], needed_by: str) -> list[_Piece]:
    known: dict[_Piece, None] = {}
    for tag in tags:
        if tag.key in providers:
            known[providers[tag.key]] = None
        elif not tag.has_default:
            raise MissingServiceError(tag.key, needed_by=needed_by, available=providers)
    return list(known)


def _merge(shapes: Sequence[Shape]) -> Shape:
    return reduce(Merge, shapes) if shapes else Leaf("nothing", lambda _: Effect.succeed({}), ())
