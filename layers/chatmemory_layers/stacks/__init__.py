"""Ready-made stacks: layers that need nothing and give a whole memory, of conversations and beyond them.

``embedded`` keeps it in a file, ``postgres`` in a database, ``testing`` in dictionaries; ``configured`` and
``from_configuration`` do what the settings say.  The parts that a stack is made of are loaded when the first one is made.
"""

from chatmemory.effect.lazy_names import lazy_names

TYPE_CHECKING = False  # for the checkers it is True; to import typing takes longer than all of this

if TYPE_CHECKING:
    from chatmemory_layers.parts import (
        Embedders as Embedders,
        Parts as Parts,
        Repositories as Repositories,
        Skills as Skills,
        StackError as StackError,
    )
    from chatmemory_layers.stacks.ready_made import (
        MemoryTags as MemoryTags,
        Stack as Stack,
        configured as configured,
        embedded as embedded,
        from_configuration as from_configuration,
        postgres as postgres,
        testing as testing,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "chatmemory_layers.parts": "Embedders Parts Repositories Skills StackError",
            "chatmemory_layers.stacks.ready_made": (
                "MemoryTags Stack configured embedded from_configuration postgres testing"
            ),
        },
    )
