"""Conversation memory, long-term memory and past chats for AI agents, as typed effects.

Everything that a user needs by name can be imported from here; each name loads its module when it is first used, so
that ``import chatmemory`` costs next to nothing.
"""

from chatmemory.effect.lazy_names import lazy_names
from chatmemory.namesake import warn_of_namesake

__distribution__ = "chatmemory-effect"  # by which chatmemory_layers knows us from another chatmemory
warn_of_namesake(__path__[0])

__getattr__, __dir__, __all__ = lazy_names(__name__)
