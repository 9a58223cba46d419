"""``SaveForm``: the form in which a person saves a message to long-term memory (spec 002, the save dialog).

A program shows the form that ``opened_form`` returns, and then the form that ``fill_form`` returns.  The second form must
not overwrite what the person has typed in the meantime.
"""

from typing import Final, Literal, final

from attrs import frozen

from chatmemory.effect import Effect
from chatmemory.errors import RecallError
from chatmemory.input.json_value import Json
from chatmemory.longterm.contract import LongTermMemory
from chatmemory.longterm.extraction.proposals import Extraction, Speaker
from chatmemory.longterm.memories import Category

DEFAULT_KEYS: Final[dict[Speaker, str]] = {
    "user": "用户输入",
    "assistant": "AI回复",
}  # as spec 002 words them
DEFAULT_CATEGORY: Final[Category] = "fact"
DEFAULT_CONFIDENCE: Final = 0.8  # a person has chosen the message, and can change the confidence
LEAST_CONFIDENCE: Final = 0.5  # a proposal below it does not help; spec 002
NOTHING_FOUND: Final = "nothing worth remembering was found: the form has the message itself"


@final
@frozen
class SaveForm:
    """The fields of the dialog.

    Attributes:
        status: ``loading``: the extraction is running, and the fields have their defaults.  ``extracted``: the fields
            come from a proposal.  ``default``: no proposal was good enough.
        hint: why the fields have their defaults, for a person to read; None otherwise.
    """

    status: Literal["loading", "extracted", "default"]
    key: str
    value: Json
    category: Category
    confidence: float
    hint: str | None = None


def opened_form(content: str, *, role: Speaker) -> SaveForm:
    """Return the form that is shown at first: it is filled with the message itself until ``fill_form`` has an answer.

    Args:
        content: the text of the message.
        role: who wrote the message.

    Returns:
        the form, with the status ``loading``.
    """
    return _by_default("loading", content, role, None)


def fill_form(memory: LongTermMemory, content: str, *, role: Speaker) -> Effect[SaveForm]:
    """Extract memories from *content* and return the form filled with the best proposal; it never fails.

    Args:
        memory: the service that extracts.
        content: the text of the message.
        role: who wrote the message.

    Returns:
        the form; with the defaults and a ``hint`` with the reason when the proposals are too weak or the extraction
        failed.
    """

    def fill(extraction: Extraction) -> SaveForm:
        best = extraction.best
        if best is None or best.confidence < LEAST_CONFIDENCE:
            return _by_default("default", content, role, NOTHING_FOUND)
        return SaveForm(
            "extracted", best.key, best.value, best.category, best.confidence, hint=extraction.note
        )

    def fall_back(error: RecallError) -> Effect[SaveForm]:
        return Effect.succeed(_by_default("default", content, role, str(error)))

    return memory.extract(content, role=role).map(fill).lash(fall_back)


def _by_default(
    status: Literal["loading", "default"], content: str, role: Speaker, hint: str | None
) -> SaveForm:
    return SaveForm(status, DEFAULT_KEYS[role], content, DEFAULT_CATEGORY, DEFAULT_CONFIDENCE, hint)
