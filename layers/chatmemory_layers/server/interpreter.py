"""``suit_many_clients``: how the interpreter of a server divides its time.

Measured with 64 clients that read pages at once (``benchmarks/http_load.py``).
"""

import gc
import sys
from typing import Final

SWITCH_SECONDS: Final = 0.0003
"""How long one thread may compute while another waits.  At Python's 5 ms a busy event loop holds up each statement of the
threads that ask SQLite: the clients were answered at a quarter of the rate."""


def suit_many_clients() -> None:
    """Adjust the interpreter; call it when everything that stays is loaded, for the collector no longer looks at that."""
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.collect()
    gc.freeze()
