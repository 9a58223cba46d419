"""``suit_many_clients``: how the interpreter of a server divides its time.

Measured with 64 clients that read pages at once (``benchmarks/http_load.py``).
"""

import gc
import sys
from typing import Final

SWITCH_SECONDS: Final = 0.0003
"""How long one thread may compute while another waits.  At Python's 5 ms a busy event loop holds up each statement of the
threads that ask SQLite: the clients were answered at a quarter of the rate."""

NEW_OBJECTS: Final = 10_000
"""How many containers are made before the garbage collector looks at them.  At Python's 700 it takes the messages of
requests that are being answered for old, and goes through everything ever more often: a quarter of the time."""


def suit_many_clients() -> None:
    """Adjust the interpreter; call it when everything that stays is loaded, for the collector no longer looks at that."""
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS)
