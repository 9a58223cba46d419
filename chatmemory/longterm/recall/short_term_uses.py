"""``short_term_uses``: which short-term memories a context uses without showing them.

A recall never shows a short-term memory (spec 000), and still those that are hit in many sessions are to become long-term
(spec 001, D4).  So a hit counts: what would answer the user's message, if it were long-term.
"""

from collections.abc import Sequence
from typing import Final

from chatmemory.longterm.memories import Memory
from chatmemory.text.search_terms import LEAST_SHARE, lexical_scores, memory_terms, query_terms

LOOKED_AT: Final = 400
"""The newest short-term memories of a user, to which a context compares its message: 200 turns."""


def short_term_uses(
    query: str, newest: Sequence[Memory], *, session_id: str, limit: int
) -> tuple[Memory, ...]:
    """Return those of *newest* that the user stated in other sessions and that share words with *query*, best first.

    Words alone are compared: few short-term memories share a query's words by chance, and their vectors are not indexed.

    Args:
        query: the user's message.
        newest: short-term memories.
        session_id: the session of the context; what was said in it stands in its window.
        limit: the largest number of memories.
    """
    others = [
        memory
        for memory in newest
        if (memory.source, memory.role) == ("user_stated", "user") and memory.session_id != session_id
    ]
    texts = [
        memory_terms(memory.content, key=memory.key, value=memory.value, tags=memory.tags)
        for memory in others
    ]
    scores = lexical_scores(query_terms(query), texts, least_share=LEAST_SHARE)
    hits = [index for index, score in enumerate(scores) if score]
    best = sorted(hits, key=scores.__getitem__, reverse=True)[:limit]
    return tuple([others[index] for index in best])
