"""The kernel: effects, services and layers, as plain Python on ``returns`` and ``anyio``.

Each name loads its module when it is first used: a short command needs few of them.
"""

import os

from chatmemory.effect.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)

if os.environ.get("CHATMEMORY_DEBUG", "0") not in {"", "0"}:
    from chatmemory.effect import debug

    debug.enable()
