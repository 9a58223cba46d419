"""``POST /memory/extract`` (spec 002): proposes a memory for a text, with which the page fills its form."""

from collections.abc import Sequence
from typing import Final, final

from attrs import frozen

from chatmemory.effect import Do, Effect
from chatmemory.errors import RecallError
from chatmemory.input.json_value import Json
from chatmemory.longterm.contract import LongTermMemoryService
from chatmemory.longterm.extraction.memory_extractor import ProposedMemory, Speaker
from chatmemory.longterm.memories import Category
from chatmemory.longterm.saving.memory_drafts import DEFAULT_CATEGORY
from chatmemory.programs.http.operation import Call, NoParameters, Operation
from chatmemory.programs.operations.refusal import Refusal


@final
@frozen(kw_only=True)
class ExtractRequest:
    """The message from which to extract a memory.

    Attributes:
        content: the text of the message.
        role: the role of its author, on which the extraction depends; null for `user`.
    """

    content: str
    role: Speaker | None = "user"


@final
@frozen(kw_only=True)
class ExtractedMemory:
    """The proposal with the highest confidence; if nothing was found, the text itself with a confidence of 0.

    Attributes:
        key: the subject, in the language of the text; "" if nothing was found.
        value: the fact, or the text itself.
        confidence: 0 to 1; a proposal below 0.5 is not worth saving.
        content: the fact as a full sentence for a model.
        extractor: `rules`, or the id of the skill that found it.
        note: why the rules were used instead of a skill; null otherwise.
        proposals: all proposals, highest confidence first.
    """

    key: str
    value: Json
    category: Category
    confidence: float
    content: str
    extractor: str
    note: str | None
    proposals: tuple[ProposedMemory, ...]


@Effect.gen
async def extract_memory(
    do: Do[RecallError | Refusal, LongTermMemoryService], call: Call[NoParameters, ExtractRequest]
) -> ExtractedMemory:
    """Propose a memory for a message, without saving it."""
    content = call.body.content
    found = await do(do.service(LongTermMemoryService).extract(content, role=call.body.role or "user"))
    best = found.best
    return ExtractedMemory(
        key="" if best is None else best.key,
        value=content if best is None else best.value,
        category=DEFAULT_CATEGORY if best is None else best.category,
        confidence=0.0 if best is None else best.confidence,
        content=content if best is None else best.content,
        extractor=found.extractor,
        note=found.note,
        proposals=found.proposals,
    )


EXTRACTION: Final[Sequence[Operation]] = (
    Operation(
        "POST",
        "/memory/extract",
        extract_memory,
        reads_only=True,
        asks_models=True,
        example={"body": {"content": "我喜欢用 Python 写代码，因为它简洁易读", "role": "user"}},
    ),
)
