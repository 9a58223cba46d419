"""The laws of a message repository, for a backend of your own: ``pip install chatmemory-effect[laws]``.

    from chatmemory.laws import MessageRepositoryLaws

    class TestMyRepository(MessageRepositoryLaws):
        repository = my_message_repository      # a Layer that provides MessageRepositoryTag

Run pytest on it.  Each test is named after its law; a law that is broken is named in the failure, with what was found
and what should have been.  The laws use conversations of their own and can run on a store that holds others.
A repository that keeps nothing says ``is_durable = False``; one that needs a fixture sets ``self.repository`` in it.

L1 append, L2 atomic batch, L3 isolation, L4 clear, L5 reopen, L6 cancel, L7 race, L10 window, L11 empty, L12 retry,
L14 coverage, L20 errors, L21 equivalence; W1 outbox, W2 lease, W3 settle.
"""

from chatmemory.laws.law import LawBrokenError
from chatmemory.laws.message_repository_laws import MessageRepositoryLaws

__all__ = ["LawBrokenError", "MessageRepositoryLaws"]
