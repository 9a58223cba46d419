"""Conversation memory, long-term memory and past chats for AI agents, as typed effects.

All public names can be imported from here.  Each name loads its module when it is first used, so that
``import chatmemory`` takes almost no time.
"""

from chatmemory.effect.lazy import lazy_names
from chatmemory.namesake import warn_of_namesake

__distribution__ = "chatmemory-effect"  # tells this package apart from another chatmemory
warn_of_namesake(__path__[0])

__getattr__, __dir__, __all__ = lazy_names(__name__)
