"""``wire``: connects layers automatically, by the services that each needs and gives.

It combines the layers with ``|`` and ``>>`` as one would by hand, and does nothing else.  It cannot check types: a
missing layer is reported when ``wire`` is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import Any, Never, TypeAlias, final

from chatmemory.effect.checks.mistakes import require_tag
from chatmemory.effect.effect import Effect
from chatmemory.effect.key import MissingServiceError, short_name
from chatmemory.effect.layers.layer import Layer, shape_of
from chatmemory.effect.layers.plan import region_of, survey
from chatmemory.effect.layers.region import Region
from chatmemory.effect.layers.shape import AnyTag, Feed, Leaf, Merge, Replace, Shape
from chatmemory.effect.layers.wiring_errors import AmbiguousServiceError, LayerCycleError

__all__ = ["wire"]

AnyLayer: TypeAlias = Layer[Any, Any, Any]


def wire(
    *layers: AnyLayer, override: Iterable[AnyLayer] = (), expose: Iterable[AnyTag] | None = None
) -> Layer[Any, Any, Never]:
    """Return a layer that gives the services of *layers*, each fed by the others.

    Args:
        layers: the layers, in any order.  Layers that do not need each other are acquired in parallel.
        override: layers that replace those of *layers* at any depth, as ``Layer.replace`` does.
        expose: the tags to give; only these, and what they need, are built.  None: all.

    Raises:
        MissingServiceError: a layer, or *expose*, needs a service that no layer gives.
        AmbiguousServiceError: two layers, or two overrides, give the same service.
        LayerCycleError: layers need each other in a cycle.
        UnknownReplacementError: an override gives a service that no layer gives.
    """
    if hasattr(override, "provide_to"):
        raise TypeError("override is a list of layers: write wire(..., override=[layer])")
    if isinstance(expose, type):
        raise TypeError(f"expose is a list of tags: write wire(..., expose=[{expose.__name__}])")
    expose = None if expose is None else tuple(expose)
    fakes = [shape_of(layer) for layer in override]
    region = region_of(fakes)
    pieces = [_Piece(layer, region if fakes else None) for layer in layers]
    region.check()
    providers = _providers(pieces)
    for tag in expose or ():
        require_tag(tag)
    wanted = pieces if expose is None else _known(expose, providers, "expose")
    fed: dict[_Piece, Shape] = {}
    for piece, feeders in _in_order(wanted, providers):
        below = [fed[feeder] for feeder in feeders]
        fed[piece] = Feed(_merge(below), piece.shape, keeps=False) if below else piece.shape
    whole = _merge([fed[piece] for piece in dict.fromkeys(wanted)])
    return Layer(Replace(whole, fakes) if fakes else whole)


@final
class _Piece:
    """One of the layers to connect."""

    __slots__ = ("gives", "name", "needs", "shape")

    def __init__(self, layer: AnyLayer, region: Region | None) -> None:
        self.shape = shape_of(layer)
        self.needs, self.gives = survey(self.shape, region)
        self.name = "|".join(map(short_name, self.gives)) or repr(layer)


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


def _in_order(
    wanted: Iterable[_Piece], providers: dict[str, _Piece]
) -> Iterator[tuple[_Piece, Sequence[_Piece]]]:
    """Yield the pieces to build, each after the pieces that feed it and together with them.

    ``graphlib`` sorts too, but takes five times as many steps as this depth-first walk.
    """
    path: dict[_Piece, Sequence[_Piece]] = {}
    done: set[_Piece] = set()
    waiting = list(wanted)
    while waiting:
        piece = waiting[-1]
        if piece in done:
            waiting.pop()
        elif piece in path:  # all the pieces that feed it are done
            done.add(piece)
            yield piece, path.pop(piece)
        else:
            feeders = path[piece] = _known(piece.needs, providers, f"layer {piece.name}")
            for feeder in feeders:
                if feeder in path:
                    names = [one.name for one in path]
                    raise LayerCycleError([*names[names.index(feeder.name) :], feeder.name])
                if feeder not in done:
                    waiting.append(feeder)


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
