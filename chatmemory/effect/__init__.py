"""The kernel: effects, services, layers, in Python's own manners on ``returns`` and ``anyio``.

Each name loads its module when it is first used: a command that is over in a moment needs few of them.
"""

import os

from chatmemory.effect.lazy_names import lazy_names

TYPE_CHECKING = False  # for the checkers it is True; to import typing takes longer than all of this

if TYPE_CHECKING:
    from chatmemory.effect.catching import (
        catch as catch,
        catch_layer as catch_layer,
    )
    from chatmemory.effect.concurrency.deferred import Deferred as Deferred
    from chatmemory.effect.concurrency.queue import Queue as Queue
    from chatmemory.effect.concurrency.ref import Ref as Ref
    from chatmemory.effect.concurrency.semaphore import Semaphore as Semaphore
    from chatmemory.effect.context import Context as Context
    from chatmemory.effect.do import Do as Do
    from chatmemory.effect.effect import (
        Effect as Effect,
        Fiber as Fiber,
    )
    from chatmemory.effect.key import (
        MissingServiceError as MissingServiceError,
        Reference as Reference,
    )
    from chatmemory.effect.layers.layer import Layer as Layer
    from chatmemory.effect.layers.memo import MemoMap as MemoMap
    from chatmemory.effect.layers.wiring import wire as wire
    from chatmemory.effect.layers.wiring_errors import (
        AmbiguousServiceError as AmbiguousServiceError,
        LayerCycleError as LayerCycleError,
        ShadowedServiceError as ShadowedServiceError,
        UnknownReplacementError as UnknownReplacementError,
    )
    from chatmemory.effect.outcome import (
        Cause as Cause,
        Die as Die,
        EffectFailed as EffectFailed,
        EffectInterrupted as EffectInterrupted,
        Exit as Exit,
        Fail as Fail,
        Failure as Failure,
        Interrupt as Interrupt,
        Outcome as Outcome,
        Success as Success,
    )
    from chatmemory.effect.running.runner import Runner as Runner
    from chatmemory.effect.running.runtime import ManagedRuntime as ManagedRuntime
    from chatmemory.effect.running.thread_runtime import ThreadRuntime as ThreadRuntime
    from chatmemory.effect.scope import (
        Scope as Scope,
        ScopeTag as ScopeTag,
    )
    from chatmemory.effect.services.clock import (
        Clock as Clock,
        ClockTag as ClockTag,
        SystemClock as SystemClock,
        TestClock as TestClock,
    )
    from chatmemory.effect.services.ids import (
        Ids as Ids,
        IdsTag as IdsTag,
        SequentialIds as SequentialIds,
        TimeOrderedIds as TimeOrderedIds,
    )
    from chatmemory.effect.services.schedule import Schedule as Schedule
    from chatmemory.effect.services.tracer import (
        CurrentSpan as CurrentSpan,
        Span as Span,
        Tracer as Tracer,
        TracerTag as TracerTag,
    )
    from chatmemory.effect.stream.stream import Stream as Stream
    from chatmemory.effect.suspended import SuspendedError as SuspendedError
    from chatmemory.effect.tag import Tag as Tag
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "chatmemory.effect.catching": "catch catch_layer",
            "chatmemory.effect.services.clock": "Clock ClockTag SystemClock TestClock",
            "chatmemory.effect.concurrency.deferred": "Deferred",
            "chatmemory.effect.concurrency.queue": "Queue",
            "chatmemory.effect.concurrency.ref": "Ref",
            "chatmemory.effect.concurrency.semaphore": "Semaphore",
            "chatmemory.effect.context": "Context",
            "chatmemory.effect.key": "MissingServiceError Reference",
            "chatmemory.effect.do": "Do",
            "chatmemory.effect.effect": "Effect Fiber",
            "chatmemory.effect.services.ids": "Ids IdsTag SequentialIds TimeOrderedIds",
            "chatmemory.effect.layers.layer": "Layer",
            "chatmemory.effect.layers.memo": "MemoMap",
            "chatmemory.effect.outcome": (
                "Cause Die EffectFailed EffectInterrupted Exit Fail Failure Interrupt Outcome Success"
            ),
            "chatmemory.effect.running.runner": "Runner",
            "chatmemory.effect.running.runtime": "ManagedRuntime",
            "chatmemory.effect.services.schedule": "Schedule",
            "chatmemory.effect.scope": "Scope ScopeTag",
            "chatmemory.effect.services.tracer": "CurrentSpan Span Tracer TracerTag",
            "chatmemory.effect.stream.stream": "Stream",
            "chatmemory.effect.suspended": "SuspendedError",
            "chatmemory.effect.tag": "Tag",
            "chatmemory.effect.running.thread_runtime": "ThreadRuntime",
            "chatmemory.effect.layers.wiring": "wire",
            "chatmemory.effect.layers.wiring_errors": (
                "AmbiguousServiceError LayerCycleError ShadowedServiceError UnknownReplacementError"
            ),
        },
    )
    if os.environ.get("CHATMEMORY_DEBUG", "0") not in {"", "0"}:
        from chatmemory.effect import debug

        debug.enable()
