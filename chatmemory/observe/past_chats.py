"""Spans and log records of the operations on past chats, as ``operations.py`` makes them for memories."""

from attrs import asdict

from chatmemory.observe.operations import Facts, numbers_of, observing
from chatmemory.pastchats.contract import PastChats, PastChatsIndex, PastChatsIndexService, PastChatsService
from chatmemory.pastchats.finding.prompt_hits import PastRecall, PromptSearchResult
from chatmemory.pastchats.past_chats import IndexReport, PastConversationPage, PastTurnPage


def past_numbers_of(value: object) -> Facts:
    """Return the numbers and the names of kinds in a value, but no text of a message or a memory."""
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


observed_past_chats = observing(PastChatsService, PastChats, past_numbers_of)
"""The provided past chats, observed if a tracer or a debug log is set up."""

observed_past_chats_index = observing(PastChatsIndexService, PastChatsIndex, past_numbers_of)
"""The provided index of past chats, observed if a tracer or a debug log is set up."""
