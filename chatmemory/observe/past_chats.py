"""What an operator sees of past chats: as ``operations.py`` shows it of a memory."""

from typing import Never

from attrs import asdict

from chatmemory.effect import Do, Effect, Layer
from chatmemory.effect.services.clock import ClockTag
from chatmemory.observe.operations import Facts, numbers_of, observe
from chatmemory.pastchats.contract import PastChats, PastChatsIndex, PastChatsIndexService, PastChatsService
from chatmemory.pastchats.finding.prompt_hits import PastRecall, PromptSearchResult
from chatmemory.pastchats.past_chats import IndexReport, PastConversationPage, PastTurnPage


def past_numbers_of(value: object) -> Facts:
    """Return the numbers of a value, and names of kinds; nothing that somebody said."""
    match value:
        case PromptSearchResult(hits=hits, mode=mode):
            return {"hits": len(hits), "mode": mode}
        case PastRecall() as recalled:
            counts = {"exchanges": len(recalled.exchanges), "left_out": recalled.left_out}
            return {**counts, "tokens": recalled.tokens, "mode": recalled.mode}
        case PastConversationPage() as listed:
            return {"conversations": len(listed.conversations)}
        case PastTurnPage() as page:
            return {"turns": len(page.turns)}
        case IndexReport() as report:
            counts = {"files": report.files, "unchanged": report.unchanged, "failed": report.failed}
            return {**counts, **asdict(report.turns), "issues": len(report.issues)}
        case _:
            return numbers_of(value)


@Effect.gen
async def _observe_past_chats(do: Do[Never, PastChatsService]) -> PastChats:
    return observe(do.service(PastChatsService), PastChats, do.service(ClockTag), past_numbers_of)


@Effect.gen
async def _observe_past_chats_index(do: Do[Never, PastChatsIndexService]) -> PastChatsIndex:
    return observe(do.service(PastChatsIndexService), PastChatsIndex, do.service(ClockTag), past_numbers_of)


observed_past_chats = Layer.effect(PastChatsService, _observe_past_chats(), needs=[PastChatsService])
"""The past chats at hand, observed if anybody looks."""

observed_past_chats_index = Layer.effect(
    PastChatsIndexService, _observe_past_chats_index(), needs=[PastChatsIndexService]
)
"""The index of past chats at hand, observed if anybody looks."""
