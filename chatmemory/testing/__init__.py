"""Parts for the tests of programs that use chatmemory: ``Spy`` and ``Stub`` for every contract, and their scripts.

    from chatmemory.testing import Spy, Stub, after, hangs, loses_answer, passes

    skills = Stub(SkillRunnerTag, run=["a summary", Failure(too_slow), after(30, "a late one")])
    messages = Spy(MessageRepositoryTag, append=[passes, loses_answer(), hangs])

A ``Stub`` works without the real part and answers by its script; a ``Spy`` wraps the real part and follows its script, or
lets the real part answer.  Both have a ``layer``, and record the ``calls``.  Repositories that store data are in
``chatmemory_layers.in_memory``, whole stacks over them in ``chatmemory_layers.stacks.testing()``.  Fixtures are in the
pytest plugin, which needs no setting up.  Each name loads its module when it is first used.
"""

from chatmemory.effect.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
