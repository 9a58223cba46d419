"""The offline skill runner: ``conversation-summary`` without a model.

The summary is selected, not written: the most important sentences, word for word, in order and under their speakers, so it
can leave something out but never invent something.  The same messages give the same summary.

``transcript.py`` turns text into sentences and lines, ``sentence_choice.py`` selects the sentences.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, final

from anyio import to_thread

from chatmemory.conversation.messages import ChatMessage
from chatmemory.conversation.skill_runner import SkillRequest, SkillRunnerTag
from chatmemory.effect import Effect, Failure, Layer, Outcome, Success
from chatmemory.effect.lazy import LazyModule
from chatmemory.errors import SkillExecutionError
from chatmemory_layers.skills.transcript import read_transcript, shorten, write_transcript

if TYPE_CHECKING:
    from chatmemory_layers.skills import sentence_choice
else:
    sentence_choice = LazyModule("chatmemory_layers.skills.sentence_choice")

CONVERSATION_SUMMARY: Final = "conversation-summary"

SHARE: Final = 0.4  # of the new text; together with the text of earlier summaries, the length to aim at
LEAST_CHARACTERS: Final = 240  # shorter conversations, such as two short exchanges, are kept whole


@final
class ExtractiveSkills:
    """Runs ``conversation-summary`` and refuses any other skill."""

    def run(self, skill_id: str, request: SkillRequest) -> Effect[str, SkillExecutionError]:
        """Return a summary of ``request.messages``, made in a worker thread, since 200 messages take 30 ms or more."""

        async def summary() -> Outcome[str, SkillExecutionError]:
            if skill_id != CONVERSATION_SUMMARY:
                return Failure(
                    SkillExecutionError(
                        skill_id,
                        "unknown_skill",
                        f"the extractive runner knows {CONVERSATION_SUMMARY!r} only",
                    )
                )
            return Success(
                await to_thread.run_sync(
                    summarize, request.messages, request.max_characters, abandon_on_cancel=True
                )
            )

        return Effect.from_outcome(summary)


def summarize(messages: Sequence[ChatMessage], max_characters: int) -> str:
    """Return the important parts of *messages*, oldest first, one line per turn; empty only without messages.

    It aims at the share ``SHARE`` of new text; text from earlier summaries may stay complete while there is room.
    """
    sentences = read_transcript(messages)
    if not sentences:
        return shorten(f"({len(messages)} messages without text)", max_characters) if messages else ""
    aim = sum(len(sentence.text) * (1.0 if sentence.is_kept else SHARE) for sentence in sentences)
    budget = min(max_characters, max(LEAST_CHARACTERS, int(aim)))
    return shorten(write_transcript(sentence_choice.choose(sentences, budget)), max_characters)


extractive: Final = Layer.succeed(SkillRunnerTag, ExtractiveSkills())
