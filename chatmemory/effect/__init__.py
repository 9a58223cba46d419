"""The kernel: effects, services, layers, in Python's own manners on ``returns`` and ``anyio``."""

from chatmemory.effect.catch import catch, catch_layer
from chatmemory.effect.clock import Clock, ClockTag, SystemClock, TestClock
from chatmemory.effect.context import Context, MissingServiceError
from chatmemory.effect.do import Do
from chatmemory.effect.effect import Effect
from chatmemory.effect.ids import Ids, IdsTag, SequentialIds, TimeOrderedIds
from chatmemory.effect.layer import Layer
from chatmemory.effect.memo import MemoMap
from chatmemory.effect.outcome import (
    Cause,
    Die,
    EffectFailed,
    EffectInterrupted,
    Exit,
    Fail,
    Failure,
    Interrupt,
    Outcome,
    Success,
)
from chatmemory.effect.plan import LayerCycleError
from chatmemory.effect.runtime import ManagedRuntime
from chatmemory.effect.schedule import Schedule
from chatmemory.effect.scope import Scope
from chatmemory.effect.suspended import SuspendedError
from chatmemory.effect.tag import Reference, Tag
from chatmemory.effect.wiring import AmbiguousServiceError, wire

__all__ = [
    "AmbiguousServiceError",
    "Cause",
    "Clock",
    "ClockTag",
    "Context",
    "Die",
    "Do",
    "Effect",
    "EffectFailed",
    "EffectInterrupted",
    "Exit",
    "Fail",
    "Failure",
    "Ids",
    "IdsTag",
    "Interrupt",
    "Layer",
    "LayerCycleError",
    "ManagedRuntime",
    "MemoMap",
    "MissingServiceError",
    "Outcome",
    "Reference",
    "Schedule",
    "Scope",
    "SequentialIds",
    "Success",
    "SuspendedError",
    "SystemClock",
    "Tag",
    "TestClock",
    "TimeOrderedIds",
    "catch",
    "catch_layer",
    "wire",
]
