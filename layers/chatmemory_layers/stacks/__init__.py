"""Ready-made stacks: layers that need nothing and give a whole memory, of conversations and beyond them.

``embedded`` keeps it in a file, ``postgres`` in a database, ``testing`` in dictionaries; ``configured`` and
``from_configuration`` do what the settings say.  The parts that a stack is made of are loaded when the first one is made.
"""

from chatmemory.effect.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
