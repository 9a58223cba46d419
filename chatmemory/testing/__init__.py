"""Parts for the tests of programs that use chatmemory: ``Spy`` and ``Stub`` for every contract, and what they are told to do.

    from chatmemory.testing import Spy, Stub, after, hangs, loses_answer, passes

    skills = Stub(SkillRunnerTag, run=["a summary", Failure(too_slow), after(30, "a late one")])
    messages = Spy(MessageRepositoryTag, append=[passes, loses_answer(), hangs])

A ``Stub`` stands alone and answers by its script; a ``Spy`` stands around the real part and does what its script says, or
what the real part does.  Both have a ``layer``, and record the ``calls``.  Repositories that keep what they are given are
in ``chatmemory_layers.in_memory``, whole stacks over them in ``chatmemory_layers.stacks.testing()``, and fixtures in the
pytest plugin, which needs no setting up.  Each name loads its module when it is first used.
"""

from chatmemory.effect.lazy_names import lazy_names

TYPE_CHECKING = False  # for the checkers it is True; to import typing takes longer than all of this

if TYPE_CHECKING:
    from chatmemory.effect.services.clock import TestClock as TestClock
    from chatmemory.effect.services.ids import SequentialIds as SequentialIds
    from chatmemory.testing.call import Call as Call, Calls as Calls
    from chatmemory.testing.script import ScriptUsedUpError as ScriptUsedUpError
    from chatmemory.testing.spy import Spy as Spy
    from chatmemory.testing.step import (
        Step as Step,
        after as after,
        forever as forever,
        hangs as hangs,
        loses_answer as loses_answer,
        passes as passes,
        raises as raises,
    )
    from chatmemory.testing.stub import Stub as Stub
    from chatmemory.testing.table_embedder import TableEmbedder as TableEmbedder
    from chatmemory.testing.text_files import TextFiles as TextFiles
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "chatmemory.effect.services.clock": "TestClock",
            "chatmemory.effect.services.ids": "SequentialIds",
            "chatmemory.testing.call": "Call Calls",
            "chatmemory.testing.script": "ScriptUsedUpError",
            "chatmemory.testing.spy": "Spy",
            "chatmemory.testing.step": "Step after forever hangs loses_answer passes raises",
            "chatmemory.testing.stub": "Stub",
            "chatmemory.testing.table_embedder": "TableEmbedder",
            "chatmemory.testing.text_files": "TextFiles",
        },
    )
