"""``export`` writes a whole store as JSON Lines; ``import`` reads such files, and the exports of other tools.

``re-embed`` gives memories the vectors that they lack.
"""

from __future__ import annotations

import signal
from typing import IO, TYPE_CHECKING, Final

import click

from chatmemory.effect.lazy import LazyModule
from chatmemory.programs.commands.as_text import counted
from chatmemory.programs.commands.options import say, with_host
from chatmemory.programs.shell.exit_codes import FINDINGS, CommandError
from chatmemory.programs.shell.options import as_json_option, dry_run_option, output_option
from chatmemory.text.shown_text import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from chatmemory.programs.archive import exporting, importing, records
    from chatmemory.programs.archive.import_report import ImportCount, ImportReport
    from chatmemory.programs.archive.rivals import reading
    from chatmemory.programs.commands.host import Host
else:
    exporting = LazyModule("chatmemory.programs.archive.exporting")
    importing = LazyModule("chatmemory.programs.archive.importing")
    records = LazyModule("chatmemory.programs.archive.records")
    reading = LazyModule("chatmemory.programs.archive.rivals.reading")

OWN: Final = "chatmemory"
TOOLS: Final = (OWN, "mem0", "letta", "langgraph", "openai-agents", "zep")
"""The names of ``rivals/reading.py``, repeated here so that ``--help`` need not load it."""
SHOWN_ISSUES: Final = 20


@click.command()
@output_option
@click.option(
    "--vectors",
    is_flag=True,
    help="Also write the vectors of memories; otherwise import computes them again.",
)
@with_host
def export(host: Host, output: IO[str], *, vectors: bool) -> None:
    """Write the conversations, memories and items of all users, for import.

    \b
      chatmemory export > everything.jsonl
      chatmemory export --vectors | gzip > everything.jsonl.gz
    """
    end, left_out = host.run(lambda: exporting.exported(output.write, with_vectors=vectors), everybody=True)
    click.echo(
        f"{end.conversations} conversations with {end.messages} messages, {end.memories} memories, {end.items} items"
        + (f"; {left_out} items with a lifetime left out" if left_out else ""),
        err=True,
    )


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True), default="-")
@click.option(
    "--from",
    "tool",
    type=click.Choice(TOOLS),
    default=OWN,
    show_default=True,
    help="The tool that wrote FILE.",
)
@click.option(
    "--redact/--keep-secrets",
    default=None,
    help="Redact secrets in messages and memories; by default only in files of other tools.",
)
@dry_run_option
@as_json_option
@with_host
def import_(host: Host, file: str, tool: str, *, redact: bool | None, dry_run: bool, as_json: bool) -> None:
    """Read a file that export or another tool wrote. Records already in the store stay unchanged; forgotten ones stay forgotten.

    You can stop it at any time and run it again.

    \b
      chatmemory import everything.jsonl --dry-run
      zcat everything.jsonl.gz | chatmemory import --store other.db
      chatmemory import --from mem0 get_all.json --user ada
      chatmemory import --from openai-agents sessions.db --dry-run
    """
    if tool != OWN and file == "-":
        raise click.UsageError(f"FILE: only files that {OWN} export wrote can be read from standard input")
    redacts = tool != OWN if redact is None else redact
    namespace = host.namespace()
    with click.open_file(file, "rb") as opened:
        arriving = (
            records.records_in(_interruptible(opened) if file == "-" else opened)
            if tool == OWN
            else reading.read_rival(tool, host.rival_file(file), namespace)
        )
        report = host.run(
            lambda: importing.imported(arriving, is_dry_run=dry_run, redacts=redacts),
            creates=True,
            everybody=True,
        )
    for issue in report.issues[:SHOWN_ISSUES]:
        click.echo(shown(str(issue)), err=True)
    if report.issue_count > SHOWN_ISSUES:
        click.echo(f"... and {report.issue_count - SHOWN_ISSUES} more; --json shows the first 1000", err=True)
    if report.users:
        try:
            host.run(lambda: importing.embedded(report.users), everybody=True)
        except CommandError as failed:
            click.echo(f"without vectors, so found by their words only: {failed}", err=True)
    say(report, _text(report), as_json=as_json)
    if not report.is_whole and not report.is_empty:
        click.echo("the last line of an export is missing: the file was cut off", err=True)
    if report.is_empty and (report.issue_count or not report.is_whole):
        raise click.exceptions.Exit(FINDINGS)


@click.command("re-embed")
@as_json_option
@with_host
def re_embed(host: Host, *, as_json: bool) -> None:
    """Embed the memories of all users that have no vector of the embedder of the settings.

    A memory has none after a change of the model, or if the endpoint failed when it was stored. You can stop it at any
    time; the next run continues.

    \b
      chatmemory re-embed
    """
    count = host.run(importing.all_embedded, everybody=True)
    say({"memories": count}, f"{counted(count, 'memory', 'memories')} embedded", as_json=as_json)


def _interruptible(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield *lines*; Ctrl-C ends the wait for a line, in which the handler of an event loop would only cancel a task."""
    waiting = iter(lines)
    while True:
        handler = signal.getsignal(signal.SIGINT)
        is_handled = callable(handler)  # not ignored
        if is_handled:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            line = next(waiting, None)
        finally:
            if is_handled:
                signal.signal(signal.SIGINT, handler)
        if line is None:
            return
        yield line


def _text(report: ImportReport) -> str:
    parts = (
        (report.messages, "message", "messages"),
        (report.summaries, "summary", "summaries"),
        (report.branches, "branch", "branches"),
        (report.memories, "memory", "memories"),
        (report.items, "item", "items"),
    )
    lines = [told for arrived, one, several in parts if (told := _arrived(arrived, one, several))]
    if report.forgotten:
        lines.append(f"left out, because they were forgotten here: {', '.join(map(shown, report.forgotten))}")
    if report.redacted:
        secrets = ", ".join(f"{name} {count}" for name, count in report.redacted.items())
        lines.append(f"secrets redacted: {secrets}")
    if report.issue_count:
        lines.append(f"{counted(report.issue_count, 'line', 'lines')} could not be imported unchanged")
    if report.is_dry_run:
        lines.append("nothing was written")
    return "\n".join(lines or ["nothing to import"])


def _arrived(arrived: ImportCount, one: str, several: str) -> str:
    if not arrived.new and not arrived.known:
        return ""
    known = f", {arrived.known} already here" if arrived.known else ""
    return f"{counted(arrived.new, one, several)} new{known}"
