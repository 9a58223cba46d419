"""The kernel: effects, services, layers, in Python's own manners on ``returns`` and ``anyio``.

Each name loads its module when it is first used: a command that is over in a moment needs few of them.
"""

from typing import TYPE_CHECKING

from chatmemory.on_demand import names_on_demand

if TYPE_CHECKING:
    from chatmemory.effect.catching import (
        catch as catch,
        catch_layer as catch_layer,
    )
    from chatmemory.effect.clock import (
        Clock as Clock,
        ClockTag as ClockTag,
        SystemClock as SystemClock,
        TestClock as TestClock,
    )
    from chatmemory.effect.context import (
        Context as Context,
        MissingServiceError as MissingServiceError,
    )
    from chatmemory.effect.do import Do as Do
    from chatmemory.effect.effect import Effect as Effect
    from chatmemory.effect.ids import (
        Ids as Ids,
        IdsTag as IdsTag,
        SequentialIds as SequentialIds,
        TimeOrderedIds as TimeOrderedIds,
    )
    from chatmemory.effect.layer import Layer as Layer
    from chatmemory.effect.memo import MemoMap as MemoMap
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
    from chatmemory.effect.plan import LayerCycleError as LayerCycleError
    from chatmemory.effect.runner import Runner as Runner
    from chatmemory.effect.runtime import ManagedRuntime as ManagedRuntime
    from chatmemory.effect.schedule import Schedule as Schedule
    from chatmemory.effect.scope import Scope as Scope
    from chatmemory.effect.suspended import SuspendedError as SuspendedError
    from chatmemory.effect.tag import (
        Reference as Reference,
        Tag as Tag,
    )
    from chatmemory.effect.thread_runtime import ThreadRuntime as ThreadRuntime
    from chatmemory.effect.wiring import (
        AmbiguousServiceError as AmbiguousServiceError,
        wire as wire,
    )
else:
    __getattr__, __dir__ = names_on_demand(
        __name__,
        {
            "chatmemory.effect.catching": "catch catch_layer",
            "chatmemory.effect.clock": "Clock ClockTag SystemClock TestClock",
            "chatmemory.effect.context": "Context MissingServiceError",
            "chatmemory.effect.do": "Do",
            "chatmemory.effect.effect": "Effect",
            "chatmemory.effect.ids": "Ids IdsTag SequentialIds TimeOrderedIds",
            "chatmemory.effect.layer": "Layer",
            "chatmemory.effect.memo": "MemoMap",
            "chatmemory.effect.outcome": (
                "Cause Die EffectFailed EffectInterrupted Exit Fail Failure Interrupt Outcome Success"
            ),
            "chatmemory.effect.plan": "LayerCycleError",
            "chatmemory.effect.runner": "Runner",
            "chatmemory.effect.runtime": "ManagedRuntime",
            "chatmemory.effect.schedule": "Schedule",
            "chatmemory.effect.scope": "Scope",
            "chatmemory.effect.suspended": "SuspendedError",
            "chatmemory.effect.tag": "Reference Tag",
            "chatmemory.effect.thread_runtime": "ThreadRuntime",
            "chatmemory.effect.wiring": "AmbiguousServiceError wire",
        },
    )
