"""Converts values to the JSON objects that the commands print; ``printed_past_chats.py`` defines their types."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, cast

import attrs

from chatmemory.pastchats.prompt import source_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chatmemory.pastchats.finding.prompt_hits import PastRecall, PromptHit, PromptSearchResult
    from chatmemory.pastchats.past_chats import PastChatsStatistics
    from chatmemory.pastchats.prompt import Prompt
    from chatmemory.programs.pastchats.printed_past_chats import (
        PrintedHit,
        PrintedRecall,
        PrintedSearch,
        PrintedStatistics,
        PrintedTurn,
        PrintedTurns,
    )


def json_text(value: object) -> str:
    """Return *value*, which may hold attrs classes, as one line of JSON; characters beyond ASCII are not escaped."""
    return json.dumps(value, ensure_ascii=False, default=_plain)


def prompt_object(prompt: Prompt) -> PrintedTurn:
    """Convert a stored turn."""
    return {
        "source": source_of(prompt),
        "path": prompt.source,
        "turn": prompt.turn_index,
        "conversation": prompt.conversation_id,
        "project": prompt.project,
        "format": prompt.format,
        "role": prompt.role,
        "speaker": prompt.speaker,
        "timestamp": prompt.timestamp,
        "content": prompt.content,
        "superseded": prompt.is_superseded,
        "metadata": prompt.metadata,
    }


def hit_object(hit: PromptHit) -> PrintedHit:
    """Convert a hit with its signals, whose sum is the hybrid score."""
    return {
        "hybridScore": hit.score,
        "signals": hit.signals,
        "similarity": hit.similarity,
        "alsoIn": hit.also_in,
        **prompt_object(hit.prompt),
    }


def search_object(query: str, result: PromptSearchResult) -> PrintedSearch:
    """Convert the result of a search for *query*."""
    return {
        "query": query,
        "mode": result.mode,
        "reason": result.reason,
        "results": [{"rank": rank, **hit_object(hit)} for rank, hit in enumerate(result.hits, 1)],
    }


def recall_object(query: str, recall: PastRecall) -> PrintedRecall:
    """Convert a recall for *query*: its text and its exchanges."""
    return {
        "query": query,
        "mode": recall.mode,
        "reason": recall.reason,
        "tokens": recall.tokens,
        "leftOut": recall.left_out,
        "text": recall.text,
        "memories": [
            {
                "question": exchange.question and prompt_object(exchange.question),
                "whatWorked": [prompt_object(turn) for turn in exchange.worked],
                "confirmed": exchange.confirmation and prompt_object(exchange.confirmation),
                "whatFailed": [
                    {
                        "tried": [prompt_object(turn) for turn in failure.tried],
                        "reported": prompt_object(failure.report),
                    }
                    for failure in exchange.failures
                ],
                "hit": hit_object(exchange.hit),
            }
            for exchange in recall.exchanges
        ],
    }


def turns_object(source: str, turns: Sequence[Prompt]) -> PrintedTurns:
    """Return the turns around *source*."""
    return {"around": source, "turns": [prompt_object(turn) for turn in turns]}


def statistics_object(statistics: PastChatsStatistics, path: str) -> PrintedStatistics:
    """Convert the statistics of the index at *path*."""
    return cast("PrintedStatistics", {"path": path, **_members(statistics)})


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    return _members(cast("attrs.AttrsInstance", value))


def _members(value: attrs.AttrsInstance) -> dict[str, object]:
    from chatmemory.input.structuring import key_of

    return {key_of(name): inner for name, inner in attrs.asdict(value, recurse=False).items()}
