"""``own_words``: what a person typed, without the tag that a tool encloses it in.

Histories are kept as they are; whoever reads or judges a turn wants its words.
"""

from typing import Final

TAG: Final = "user_query"  # of Cursor


def own_words(text: str) -> str:
    r"""Return *text* without the tag, where it encloses all of it.

    >>> own_words("<user_query>\nsort by id?\n</user_query>\n"), own_words("what does <user_query> mean?")
    ('sort by id?', 'what does <user_query> mean?')
    """
    said = text.strip()
    begin, end = f"<{TAG}>", f"</{TAG}>"
    if said.startswith(begin) and said.endswith(end):
        return said[len(begin) : -len(end)].strip()
    return text
