"""``active_meter``: OpenTelemetry's meter for the counts of a backend, if metrics were set up before a store is opened."""

import sys
from typing import TYPE_CHECKING

from chatmemory.observe.tracing import NAME

if TYPE_CHECKING:
    from opentelemetry.metrics import Meter


def active_meter() -> "Meter | None":
    """Return a meter; None without OpenTelemetry, or when no metrics are set up."""
    # As for a tracer: a program that has set up metrics has imported them.
    if "opentelemetry.sdk.metrics" not in sys.modules:
        return None
    from opentelemetry import metrics

    provider = metrics.get_meter_provider()
    if type(provider).__module__.startswith("opentelemetry.metrics"):  # the default, which records nothing
        return None
    return provider.get_meter(NAME)
