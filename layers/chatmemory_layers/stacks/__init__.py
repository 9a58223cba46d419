"""Ready-made stacks: layers that need nothing and give conversations and long-term memory.

``embedded`` keeps them in a file, ``postgres`` in a database, ``testing`` in dictionaries; ``configured`` and
``from_configuration`` follow the settings.  The parts of a stack are loaded when the first stack is made.
"""

from chatmemory.effect.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
