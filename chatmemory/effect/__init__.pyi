from chatmemory.effect.catching import catch as catch
from chatmemory.effect.context import Context as Context
from chatmemory.effect.do import Do as Do
from chatmemory.effect.effect import Effect as Effect
from chatmemory.effect.key import MissingServiceError as MissingServiceError, Reference as Reference
from chatmemory.effect.layers.layer import Delegating as Delegating, Layer as Layer
from chatmemory.effect.layers.layer_errors import (
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
from chatmemory.effect.running.runtime import ManagedRuntime as ManagedRuntime, Runner as Runner
from chatmemory.effect.running.thread_runtime import ThreadRuntime as ThreadRuntime
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
from chatmemory.effect.stream import Stream as Stream
from chatmemory.effect.suspended import SuspendedError as SuspendedError
from chatmemory.effect.tag import Tag as Tag
