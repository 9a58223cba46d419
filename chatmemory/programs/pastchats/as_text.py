"""Formats values as text for a terminal; control characters in histories are escaped, so that they have no effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import attrs
import click

from chatmemory.pastchats.prompt import conversation_of, is_undone, source_of
from chatmemory.text.shown_text import local_time, shown, shown_name

if TYPE_CHECKING:
    from chatmemory.pastchats.finding.prompt_hits import PromptHit, PromptSearchResult
    from chatmemory.pastchats.past_chats import IndexReport, PastChatsStatistics
    from chatmemory.pastchats.prompt import Prompt

EXCERPT_CHARACTERS: Final = 400
SHOWN_ISSUES: Final = 10
SHOWN_COUNTS: Final = 24  # enough for all formats, and for the projects with the most turns


def search_text(query: str, result: PromptSearchResult, *, filters: Sequence[str]) -> str:
    """Format the hits, best first, and how they were found.

    If there are none, the text names the query and *filters*, the options that narrowed the search.
    """
    if not result.hits:
        within = f" within {', '.join(filters)}" if filters else ""
        return f"nothing found for {shown_name(query)!r}{within} ({result.reason})"
    return "\n\n".join(
        [*(_hit(rank, hit) for rank, hit in enumerate(result.hits, 1)), f"{result.mode}: {result.reason}"]
    )


def _hit(rank: int, hit: PromptHit) -> str:
    prompt = hit.prompt
    signals = attrs.asdict(hit.signals)
    why = "  ".join(f"{name} {value:.2f}" for name, value in signals.items() if value)
    lines = [
        f"{click.style(f'{rank}.', bold=True)} {_about(prompt)}",
        f"   Source: {shown_name(source_of(prompt))}",
        *([f"   Conversation: {shown_name(named)}"] if (named := conversation_of(prompt)) else []),
        f"   Hybrid score: {hit.score:.3f}  ({why})",
    ]
    if hit.also_in:
        others = len(hit.also_in)
        lines.append(f"   also in {others} conversation{'s' if others > 1 else ''}")
    return "\n".join(lines) + "\n" + _indented(excerpt(prompt.content))


def excerpt(text: str) -> str:
    """Return *text*, or its beginning and its whole length if it is long."""
    text = shown(text).strip()
    if len(text) <= EXCERPT_CHARACTERS:
        return text
    return f"{text[:EXCERPT_CHARACTERS].rstrip()} ... ({len(text)} characters)"


def _about(prompt: Prompt) -> str:
    when = "undated" if prompt.timestamp is None else " ".join(local_time(prompt.timestamp))
    who = prompt.role if prompt.speaker is None else prompt.speaker
    parts = [who, prompt.project, when, prompt.format, *(["superseded"] if prompt.is_superseded else []),
             *(["undone"] if is_undone(prompt) else [])]  # fmt: skip
    return " · ".join(shown_name(part) for part in parts if part)


def _indented(text: str) -> str:
    return "\n".join(f"   {line}".rstrip() for line in text.split("\n"))


def turns_text(turns: tuple[Prompt, ...], source: str) -> str:
    """Format *turns*, grouped by conversation; the turns of *source* are marked."""
    told: list[str] = []
    conversation = turns[0].conversation_id if len({turn.conversation_id for turn in turns}) == 1 else ""
    for turn in turns:
        if turn.conversation_id != conversation:
            conversation = turn.conversation_id
            told.append(f"conversation {shown_name(conversation)}")
        mark = ">" if source in {source_of(turn), conversation_of(turn)} else " "
        told.append(f"{mark} #{turn.turn_index} {_about(turn)}\n{_indented(shown(turn.content))}")
    return "\n\n".join(told)


def report_text(report: IndexReport) -> str:
    """Describe what an index run did."""
    turns = report.turns
    done = "would be indexed" if report.is_dry_run else "indexed"
    lines = [
        f"{turns.new} new turns {done}"
        + _parts(updated=turns.updated, unchanged=turns.unchanged, known_from_other_files=turns.duplicates)
        + f" ({report.seconds:.1f} s)",
        f"{report.files} files"
        + _parts(
            read=sum(report.read.values()),
            unchanged=report.unchanged,
            no_chat_history=report.not_histories,
            failed=report.failed,
            gone=report.missing,
            moved=report.moved,
        ),
    ]
    if report.read:
        lines.append(f"read{_counted(report.read)}")
    if turns.superseded:
        lines.append(f"{turns.superseded} turns are no longer in their files; they are kept and marked")
    if report.redacted:
        lines.append(f"secrets redacted: {report.redacted}")
    if report.unknown_records:
        lines.append(f"records of unknown types left out{_counted(report.unknown_records)}")
    return "\n".join(lines)


def issue_lines(report: IndexReport, *, verbose: bool, shows_all: str = "") -> Iterator[str]:
    """Yield a line for each file that the report names, and for each issue of a file that could not be read.

    Without *verbose*, at most ``SHOWN_ISSUES`` issues are shown; the last line then names *shows_all*, the option that
    shows all.
    """
    for file in report.looked_at:
        parts = (file.became.replace("_", " "), file.format, file.detail)
        yield shown_name(f"{file.path}: {', '.join(part for part in parts if part)}")
    told = [issue for issue in report.issues if issue.code not in {"unknown_format", "not_a_transcript"}]
    few = told if verbose else told[:SHOWN_ISSUES]
    yield from (shown_name(str(issue)) for issue in few)
    if len(told) > len(few):
        yield f"... and {len(told) - len(few)} more" + (f"; {shows_all} shows all" if shows_all else "")


def statistics_text(statistics: PastChatsStatistics, path: str) -> str:
    """Format the statistics of the index at *path*."""
    span = ""
    if statistics.oldest is not None and statistics.newest is not None:
        first, _ = local_time(statistics.oldest, "%Y-%m-%d")
        last, zone = local_time(statistics.newest, "%Y-%m-%d")
        span = f", {first} to {last} ({zone})"
    lines = [
        f"{shown_name(path)}: {statistics.bytes_on_disk / 1_000_000:.1f} MB",
        f"{statistics.prompts} turns of {statistics.conversations} conversations{span}",
        f"{statistics.sources} files, {statistics.missing_sources} of them gone; {statistics.superseded} turns superseded",
        f"{statistics.embeddings} embeddings{_counted(statistics.models)}",
        *(f"by {name}{_counted(counts)}" for name, counts in (
            ("format", statistics.by_format), ("role", statistics.by_role), ("project", statistics.by_project))),
    ]  # fmt: skip
    if statistics.last_indexed_at is not None:
        lines.append(f"last indexed {' '.join(local_time(statistics.last_indexed_at))}")
    return "\n".join(lines)


def _parts(**counts: int) -> str:
    """Return the *counts* that are not 0, each with its name."""
    return "".join(f", {count} {name.replace('_', ' ')}" for name, count in counts.items() if count)


def _counted(counts: Mapping[str, int]) -> str:
    if not counts:
        return ""
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    told = [f"{shown_name(name) or '(none)'} {count}" for name, count in most[:SHOWN_COUNTS]]
    more = [f"{len(most) - len(told)} more in --json"] if len(most) > len(told) else []
    return ": " + ", ".join([*told, *more])
