"""``stats``, ``doctor``, ``export``, ``import``, ``forget`` and ``prune``: maintenance of the index."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, TYPE_CHECKING

import click

from chatmemory.programs.pastchats.as_json import json_text, statistics_object
from chatmemory.programs.pastchats.as_text import issue_lines, report_text, statistics_text
from chatmemory.programs.pastchats.options import filter_options, given_filters, tell_unknown_names, with_host
from chatmemory.programs.shell.command_group import completion_command
from chatmemory.programs.shell.exit_codes import FINDINGS
from chatmemory.programs.shell.findings import findings_object, findings_text
from chatmemory.programs.shell.options import as_json_option, ask, dry_run_option, output_option, yes_option

if TYPE_CHECKING:
    from chatmemory.input.json_value import JsonObject
    from chatmemory.pastchats.prompt import PromptFilter
    from chatmemory.programs.pastchats.host import Host


@click.command()
@as_json_option
@with_host
def stats(host: Host, *, as_json: bool) -> None:
    """Count the turns in the index by format, role and project."""
    statistics, path = host.read(lambda chats: chats.statistics()), host.path()
    click.echo(
        json_text(statistics_object(statistics, path)) if as_json else statistics_text(statistics, path)
    )


@click.command()
@as_json_option
@with_host
def doctor(host: Host, *, as_json: bool) -> None:
    """Check the index without changing it; each finding says how to repair it.

    The exit code is 1 if something is wrong.
    """
    findings = host.read(lambda chats: chats.check())
    told = findings_object(findings)
    click.echo(json_text(told) if as_json else findings_text(findings))
    if not told["isHealthy"]:
        raise click.exceptions.Exit(FINDINGS)


@click.command()
@filter_options
@output_option
@with_host
def export(host: Host, which: PromptFilter, output: IO[str]) -> None:
    """Write turns as JSON Lines, one object per turn, for import.

    \b
      pastchats-memory export --project api > api.jsonl
      pastchats-memory export | gzip > everything.jsonl.gz
    """

    def write(record: JsonObject) -> None:
        output.write(json_text(record) + "\n")

    host.read(lambda chats: chats.export(which, to=write))


@click.command("import")
@click.argument("file", type=click.File("rb"), default="-")
@as_json_option
@with_host
def import_(host: Host, file: IO[bytes], *, as_json: bool) -> None:
    """Read turns that export wrote; turns that are already in the index stay unchanged.

    Secrets are redacted, as by index.

    \b
      pastchats-memory import api.jsonl
      zcat everything.jsonl.gz | pastchats-memory import
    """
    report = host.write(lambda chats: chats.import_records(file))
    for line in issue_lines(report, verbose=False, shows_all="--json"):
        click.echo(line, err=True)
    click.echo(json_text(report) if as_json else report_text(report))
    if not report.read:
        click.echo("the file has no record that export wrote; use index to read histories", err=True)
        raise click.exceptions.Exit(FINDINGS)


@click.command()
@filter_options
@click.option(
    "--source",
    "-s",
    "sources",
    multiple=True,
    type=click.Path(resolve_path=True),
    metavar="PATH",
    help="Only turns from this file; may be repeated.",
)
@dry_run_option
@yes_option
@as_json_option
@with_host
def forget(
    host: Host, which: PromptFilter, sources: tuple[str, ...], *, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Delete turns from the index permanently; the history files do not change.

    \b
      pastchats-memory forget --project secret-client --dry-run
      pastchats-memory forget --conversation chatgpt:6f1c --yes
    """
    if not sources and not given_filters(which):
        raise click.UsageError("say what to forget: --project, --conversation, --source, --since ...")

    def forgotten(*, is_dry_run: bool) -> int:
        return host.write(lambda chats: chats.forget(which, sources=sources, is_dry_run=is_dry_run))

    if not _delete(forgotten, "forgotten", dry_run=dry_run, yes=yes, as_json=as_json):
        tell_unknown_names(host, which)


@click.command()
@dry_run_option
@yes_option
@as_json_option
@with_host
def prune(host: Host, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Delete turns whose file is gone, and turns that are no longer in their file."""

    def pruned(*, is_dry_run: bool) -> int:
        return host.write(lambda chats: chats.prune(is_dry_run=is_dry_run))

    _delete(pruned, "pruned", dry_run=dry_run, yes=yes, as_json=as_json)


def _delete(delete: Callable[..., int], done: str, *, dry_run: bool, yes: bool, as_json: bool) -> int:
    """Print the number of matching turns, ask for confirmation, delete them, and return their number."""
    count = delete(is_dry_run=True)
    if count and not dry_run:
        ask(f"{count} turns will be {done} permanently. Continue?", yes=yes)
        count = delete(is_dry_run=False)
    if as_json:
        click.echo(json_text({"turns": count, "isDryRun": dry_run}))
    elif dry_run:
        click.echo(f"{count} turns would be {done}")
    else:
        click.echo(f"{count} turns {done}" if count else f"nothing to do: no turn can be {done}")
    return count


completion = completion_command("pastchats-memory")
