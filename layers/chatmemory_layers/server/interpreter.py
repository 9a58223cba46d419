"""``suit_many_clients``: adjusts how the Python interpreter of a server shares its time among threads.

Measured with 64 clients that read pages at once (``benchmarks/http_load.py``).
"""

import gc
import sys
from typing import Final

SWITCH_SECONDS: Final = 0.0003
"""How long one thread may compute while another waits.  At Python's 5 ms, a busy event loop delays each statement of the
threads that query SQLite: the clients were answered at a quarter of the rate."""


def suit_many_clients() -> None:
    """Adjust the interpreter; call it after all modules are loaded, because the collector then ignores existing objects."""
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.collect()
    gc.freeze()
