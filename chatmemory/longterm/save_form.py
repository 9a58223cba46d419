"""``SaveForm``: what a person finds filled in when saving a message to long-term memory (spec 002, the save dialog).

Whoever shows the form opens it with ``opened_form``, has it filled by ``fill_form``, and lets what the person has typed
meanwhile win over a late answer.
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
DEFAULT_CONFIDENCE: Final = 0.8  # what a person chooses to save is worth something; the slider is theirs
LEAST_CONFIDENCE: Final = 0.5  # below it, a proposal is no help; spec 002
NOTHING_FOUND: Final = "nothing was found that is worth remembering: the message itself is filled in"


@final
@frozen
class SaveForm:
    """The fields of the dialog.

    Attributes:
        status: ``loading``: the extraction is under way, and these are the defaults.  ``extracted``: they are
            proposed.  ``default``: no proposal was good enough.
        hint: why the defaults stand there, for a person to read.
    """

    status: Literal["loading", "extracted", "default"]
    key: str
    value: Json
    category: Category
    confidence: float
    hint: str | None = None


def opened_form(content: str, *, role: Speaker) -> SaveForm:
    """Return the form as it opens: the message itself, waiting for something better."""
    return _by_default("loading", content, role, None)


def fill_form(memory: LongTermMemory, content: str, *, role: Speaker) -> Effect[SaveForm]:
    """Have *content* extracted and return the form filled with the surest proposal; it never fails."""

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
