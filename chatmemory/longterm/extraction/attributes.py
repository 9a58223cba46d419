"""``SEVERAL_VALUED``: which attributes of a user have several values at once; every other has one.

The name of an attribute may say whose or of what it is: ``age:son``, ``favourite:book``, ``database:relay``.  How statements
about attributes are found is said in ``attribute_rules.py``.
"""

from typing import Final

SEVERAL_VALUED: Final = frozenset(
    {
        "allergy",
        "child",
        "condition",
        "experience",
        "hobby",
        "like",
        "dislike",
        "pet",
        "skill",
        "spoken language",
        "visited",
    }
)
"""A statement about one of these is added to those before it."""


def is_single_valued(attribute: str) -> bool:
    """Tell whether a newer statement about *attribute* ends the older ones.

    >>> is_single_valued("residence"), is_single_valued("favourite:book"), is_single_valued("pet")
    (True, True, False)
    """
    return attribute.partition(":")[0] not in SEVERAL_VALUED
