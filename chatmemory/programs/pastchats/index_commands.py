"""``init``, ``index``, ``reindex``, ``re-embed`` and ``watch``: bring the index up to date.

``ProgressLine`` shows the progress of a run on a terminal; it prints nothing if stderr is not a terminal.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Self, TextIO, cast, final
from unicodedata import east_asian_width

import click

from chatmemory.pastchats.past_chats import IndexReport, IndexRequest
from chatmemory.pastchats.prompt import KEPT_KINDS, TurnKind
from chatmemory.programs.pastchats.as_json import json_text, statistics_object
from chatmemory.programs.pastchats.as_text import issue_lines, report_text, statistics_text
from chatmemory.programs.pastchats.options import ROLES, each_named, paths_argument, resolved, with_host
from chatmemory.programs.shell.exit_codes import FINDINGS, CommandError
from chatmemory.programs.shell.options import as_json_option, dry_run_option, list_option
from chatmemory.text.shown_text import shown_name

if TYPE_CHECKING:
    from datetime import datetime

    from chatmemory.input.choices import Role
    from chatmemory.pastchats.past_chats import IndexProgress
    from chatmemory.programs.pastchats.host import Host

ERASE: Final = "\r\x1b[K"
GAP: Final = "  "
CUT: Final = "..."
BAR: Final = 10  # characters
LEAST_SECONDS: Final = 0.1  # between two lines: a terminal is slower than the index
MORE_KINDS: Final[tuple[TurnKind, ...]] = ("tool_result", "thinking", "harness")


NEXT: Final = """\
next: pastchats-memory index            the histories of all known tools on this machine
      pastchats-memory index FOLDER     exports and histories in another folder"""
NOWHERE: Final = """\
no known tool has histories on this machine; give files or folders that contain histories:
      pastchats-memory index FOLDER"""
NO_HISTORY: Final = "no file there is a chat history; --verbose shows how each file was classified"


@click.command()
@as_json_option
@with_host
def init(host: Host, *, as_json: bool) -> None:
    """Create an empty index, and print its path and the next step.

    This is optional: index creates the index if there is none.
    """
    host.write(lambda chats: chats.prepare())
    statistics, path = host.read(lambda chats: chats.statistics()), host.path()
    if as_json:
        click.echo(json_text(statistics_object(statistics, path)))
    else:
        click.echo(statistics_text(statistics, path))
        click.echo(NEXT, err=True)


@click.command()
@paths_argument
@click.option(
    "--input", "-i", "inputs", multiple=True, metavar="PATH", callback=each_named,
    help="A file, folder or zip to read; same as PATH.",
)  # fmt: skip
@click.option(
    "--format",
    "-f",
    "format_",
    metavar="NAME",
    help="Read every file as this format, for example claude_code.",
)
@list_option(
    "--roles", choices=ROLES, help="Index only turns of these roles: user,assistant,system,tool,summary."
)
@list_option("--include", choices=MORE_KINDS, help="Also index these kinds: tool_result,thinking,harness.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Skip these paths; may be repeated.")
@click.option("--full", is_flag=True, help="Also read files that have not changed.")
@dry_run_option
@click.option(
    "--verbose",
    "-v",
    is_flag=True,
    help="Also print how each file was classified, and why it was skipped.",
)
@as_json_option
@with_host
def index(
    host: Host, paths: tuple[str, ...], inputs: tuple[str, ...], format_: str | None, roles: tuple[str, ...],
    include: tuple[str, ...], exclude: tuple[str, ...], *, full: bool, dry_run: bool, verbose: bool, as_json: bool,
) -> None:  # fmt: skip
    """Read chat histories into the index; later runs read what is new or changed.

    Without PATH it looks where Claude Code, Codex, Gemini, Copilot, Cursor, Cline, Continue and other tools keep their
    histories.  The content of a file decides its format.  Nothing is deleted; you can stop it at any time.

    \b
      pastchats-memory index
      pastchats-memory index ~/Downloads/chatgpt-export.zip ~/notes/chats
      pastchats-memory index --dry-run --json
    """
    request = IndexRequest(
        inputs=paths + inputs,
        format=format_,
        roles=cast("tuple[Role, ...]", roles),
        kinds=KEPT_KINDS | cast("frozenset[TurnKind]", frozenset(include)),
        exclude=exclude,
        is_dry_run=dry_run,
        rereads_all=full,
        names_files=verbose,
    )
    report = _indexed(host, request)
    _tell(report, as_json=as_json, verbose=verbose, shows_all="--verbose")
    if not report.files and not request.inputs:
        click.echo(NOWHERE, err=True)
    elif report.not_histories and not (report.read or report.unchanged or verbose):
        click.echo(NO_HISTORY, err=True)
    unreadable = {issue.path for issue in report.issues if issue.code == "unreadable"}
    is_nothing_read = not report.read and not report.unchanged
    given = {name for path in request.inputs for name in (path, resolved(path))}
    if unreadable & given or (is_nothing_read and (report.failed or unreadable)):
        raise click.exceptions.Exit(FINDINGS)


@click.command()
@paths_argument
@click.option(
    "--every",
    type=click.FloatRange(min=0.2),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    help="Seconds between two checks.",
)
@as_json_option
@with_host
def watch(host: Host, paths: tuple[str, ...], every: float, *, as_json: bool) -> None:
    """Index new turns whenever a history changes, until Ctrl-C.

    If the index is locked or the embedder is down, it retries.

    \b
      pastchats-memory watch
      pastchats-memory watch ~/notes/chats --every 30
    """
    request, is_told = IndexRequest(inputs=paths), False
    while True:
        report = _indexed_or_warned(host, request)
        if report and (
            any((report.turns.new, report.turns.updated, report.turns.superseded, report.failed))
            or (not is_told and any(issue.code == "unreadable" for issue in report.issues))
        ):
            _tell(report, as_json=as_json, verbose=False, shows_all="--json")
            is_told = True
        time.sleep(every)


def _indexed_or_warned(host: Host, request: IndexRequest) -> IndexReport | None:
    """Index once; print a temporary failure, and return None for it."""
    try:
        return _indexed(host, request)
    except CommandError as failed:
        if not failed.error.retry_is_safe:
            raise
        click.echo(str(failed), err=True)
        return None


@click.command()
@as_json_option
@with_host
def reindex(host: Host, *, as_json: bool) -> None:
    """Rebuild the word index from the stored turns, when doctor advises it."""
    count = host.write(lambda chats: chats.reindex())
    click.echo(json_text({"turns": count}) if as_json else f"the words of {count} turns were indexed")


@click.command("re-embed")
@as_json_option
@with_host
def re_embed(host: Host, *, as_json: bool) -> None:
    """Recompute the vectors that another embedder made, with the current embedder.

    You can stop it at any time; the next run continues.
    """
    with ProgressLine(host.now) as line:
        count = host.write(lambda chats: chats.re_embed(on_progress=line.counted))
    click.echo(json_text({"turns": count}) if as_json else f"{count} turns embedded again")


def _indexed(host: Host, request: IndexRequest) -> IndexReport:
    with ProgressLine(host.now) as line:
        run = host.dry_run if request.is_dry_run else host.write
        return run(lambda chats: chats.index(request, on_progress=line.indexed))


def _tell(report: IndexReport, *, as_json: bool, verbose: bool, shows_all: str) -> None:
    for line in issue_lines(report, verbose=verbose, shows_all=shows_all):
        click.echo(line, err=True)
    click.echo(json_text(report) if as_json else report_text(report))


@final
class ProgressLine:
    """Rewrites one line, and erases it at the end."""

    def __init__(self, now: Callable[[], datetime], stream: TextIO | None = None) -> None:
        """Write to *stream*, stderr unless it is given, if that is a terminal."""
        self._stream = sys.stderr if stream is None else stream
        self._is_seen = self._stream.isatty()
        self._now = now
        self._began = now()
        self._last = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_seen:
            self._stream.write(ERASE)
            self._stream.flush()

    def indexed(self, progress: IndexProgress) -> None:
        """Show how many files and turns are done, the rate, and the time left."""
        turns = progress.turns
        self._show(progress.files_done, progress.files, f" files, {turns} turns", turns, progress.source)

    def counted(self, done: int, whole: int) -> None:
        """Show how many of *whole* things are done."""
        self._show(done, whole, "", done)

    def _show(self, done: int, whole: int, what: str, count: int, source: str = "") -> None:
        """Show *what* is done, the rate of *count*, and the end of *source*, unless a line was shown just now."""
        if not self._is_seen:
            return
        seconds = (self._now() - self._began).total_seconds()
        if seconds - self._last < LEAST_SECONDS:
            return
        self._last = seconds
        left = f", {duration((whole - done) * seconds / done)} left" if done else ""
        said = f"{bar(done, whole)} {done}/{whole}{what}, {count / seconds:.0f}/s{left}"
        columns = shutil.get_terminal_size().columns - 1
        room = columns - len(said) - len(GAP)
        self._stream.write(ERASE + said[:columns] + (GAP + ending(source, room) if room > 0 else ""))
        self._stream.flush()


def bar(done: int, whole: int) -> str:
    """Return a bar that shows how many of *whole* things are *done*.

    >>> bar(1, 2)
    '[#####-----]'
    """
    return f"[{'#' * (BAR * done // max(whole, 1)):-<{BAR}}]"


def ending(path: str, columns: int) -> str:
    """Return the end of *path*, its most informative part, in at most *columns* terminal columns.

    >>> ending("/home/dev/.claude/projects/-app/0b7d.jsonl", 20), ending("/聊天/记录.md", 9)
    ('...s/-app/0b7d.jsonl', '...录.md')
    """
    text = shown_name(path)
    widths = [2 if east_asian_width(character) in "WF" else 1 for character in text]
    if sum(widths) <= columns:
        return text
    left = columns - len(CUT)
    start = len(text)
    while start and widths[start - 1] <= left:
        start -= 1
        left -= widths[start]
    return (CUT + text[start:])[: max(columns, 0)]


def duration(seconds: float) -> str:
    """Format *seconds* for reading.

    >>> duration(7.2), duration(95), duration(7_300)
    ('7 s', '1 min 35 s', '2 h 1 min')
    """
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes_left = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes_left} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
