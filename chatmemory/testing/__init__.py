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

__getattr__, __dir__, __all__ = lazy_names(__name__)
