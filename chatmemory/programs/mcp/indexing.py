"""The tool ``index_paths``: it reads histories of other tools into past chats.

The service decides which folders may be read, by the configuration, and refuses paths outside of them.
"""

import json
from collections.abc import Sequence
from typing import Final, final

from attrs import frozen

from chatmemory.effect import Do, Effect
from chatmemory.effect.services.schedule import RandomTag
from chatmemory.errors import PastChatsError
from chatmemory.pastchats.contract import PastChatsIndexService
from chatmemory.pastchats.indexing.prompt_drafts import SourceChanges
from chatmemory.pastchats.past_chats import IndexProgress, IndexRequest
from chatmemory.programs.mcp.fenced import FILES_NOTICE, fenced
from chatmemory.programs.mcp.tool import MemoryTool, Progress, ToolCall, ToolResult
from chatmemory.programs.pastchats.as_text import issue_lines, report_text

LONGEST_SECONDS: Final = 40.0
"""Hosts give up on a call after a minute.  What was read until then is kept, and the next call continues."""


@final
@frozen(kw_only=True)
class Histories:
    """The histories to read.

    Attributes:
        paths: files and folders; empty: those of known tools.
        format: the format of every file, for example `claude_code`; null: detect it.
        dry_run: write nothing.
    """

    paths: tuple[str, ...] = ()
    format: str | None = None
    dry_run: bool = False


@final
@frozen(kw_only=True)
class Indexed:
    """The result of an index run.

    Attributes:
        text: the result in words, with the files that could not be read.
        is_complete: false if the time ran out; call the tool again to continue.
        files: the number of files examined.
        turns: the number of turns added, changed and removed; null until the run is complete.
        not_histories: the number of files that are not a chat history.
        failed: the number of files that could not be read.
        redacted: the number of secrets removed.
    """

    text: str
    is_complete: bool
    files: int
    turns: SourceChanges | None = None
    not_histories: int = 0
    failed: int = 0
    redacted: int = 0


@final
@frozen
class _OutOfTime:
    """The run took too long."""


@Effect.gen
async def index_paths(
    do: Do[PastChatsError, PastChatsIndexService], call: ToolCall[Histories]
) -> ToolResult[Indexed]:
    """Read new and changed chat histories of coding agents and other tools into past chats.

    Nothing is deleted.  A long run stops and keeps what it has read; call again to continue.
    """
    histories, seen = call.arguments, IndexProgress(files_done=0, files=0, turns=0, source="")
    request = IndexRequest(inputs=histories.paths, format=histories.format, is_dry_run=histories.dry_run)

    def note(progress: IndexProgress) -> None:
        nonlocal seen
        seen = progress
        call.report(Progress(seen.files_done, seen.files, _how_far(seen)))

    report = await do(
        do.service(PastChatsIndexService)
        .index(request, on_progress=note)
        .timeout(LONGEST_SECONDS, _OutOfTime)
        .lash(lambda error: Effect.succeed(error) if isinstance(error, _OutOfTime) else Effect.fail(error))
    )
    if isinstance(report, _OutOfTime):
        reached = _how_far(seen) if seen.files else "nothing was read in time; another run may be in progress"
        text = f"{reached}: call again to continue"
        return ToolResult(text, Indexed(text=text, is_complete=False, files=seen.files_done))
    # File names are also text that others wrote, so they are fenced.
    issues = [json.dumps(line, ensure_ascii=False) for line in issue_lines(report, verbose=False)]
    parts = [report_text(report), fenced(issues, FILES_NOTICE, do.service(RandomTag))]
    text = "\n\n".join(filter(None, parts))
    indexed = Indexed(
        text=text,
        is_complete=True,
        files=report.files,
        turns=report.turns,
        not_histories=report.not_histories,
        failed=report.failed,
        redacted=report.redacted,
    )
    return ToolResult(text, indexed)


def _how_far(progress: IndexProgress) -> str:
    return f"{progress.files_done} of {progress.files} files are done, {progress.turns} turns"


INDEXING: Final[Sequence[MemoryTool]] = (
    MemoryTool(handler=index_paths, title="Index chat histories", is_idempotent=True, needs_past_chats=True),
)
