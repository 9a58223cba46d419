"""``bench``: measures how well memory finds the answers to questions, on public suites and on your own."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from chatmemory.effect.lazy import LazyModule
from chatmemory.programs.commands.options import say, with_host
from chatmemory.programs.shell.options import as_json_option
from chatmemory.text.shown_text import shown

if TYPE_CHECKING:
    from chatmemory.embedding import embedder
    from chatmemory.programs.bench import measuring, own_questions, public_suites
    from chatmemory.programs.bench.measuring import SuiteReport
    from chatmemory.programs.bench.own_questions import Suite
    from chatmemory.programs.commands.host import Host
else:
    embedder = LazyModule("chatmemory.embedding.embedder")
    measuring = LazyModule("chatmemory.programs.bench.measuring")
    own_questions = LazyModule("chatmemory.programs.bench.own_questions")
    public_suites = LazyModule("chatmemory.programs.bench.public_suites")


@click.command()
@click.argument("suites", nargs=-1, type=click.Path(exists=True, path_type=Path), metavar="SUITE...")
@click.option(
    "--audit",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A JSON list of the ids of questions with wrong labels; the report is made with and without them.",
)
@click.option(
    "--begin",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="EXPORT",
    help="Print a draft file of your own questions, made from a file of `pastchats-memory export`.",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also write the tables (.md) or the figures (.json) to this file.",
)
@as_json_option
@with_host
def bench(
    host: Host,
    suites: tuple[Path, ...],
    audit: Path | None,
    begin: Path | None,
    output: Path | None,
    *,
    as_json: bool,
) -> None:
    """Measure retrieval on your copies of public suites, and compare chatmemory's recall with grep, BM25 and vectors alone.

    SUITE is a file of LoCoMo (locomo10.json) or LongMemEval (longmemeval_s.json), a folder of REALTALK, MemDaily or BEAM,
    or your own .jsonl: turns, and questions with the ids of the turns that answer them.  Nothing is downloaded, the
    embedder is the one in the settings, and your own store does not change.

    \b
      chatmemory bench locomo10.json -o locomo.md
      chatmemory bench locomo10.json --audit wrong.json        wrong.json: ["conv-26/12", ...]
      pastchats-memory export --output turns.jsonl
      chatmemory bench --begin turns.jsonl > own.jsonl         fill in "answers", then:
      chatmemory bench own.jsonl --json
    """
    if (begin is None) == (not suites):
        raise click.UsageError(
            "give suites to measure, or --begin to make a draft file of your own questions"
        )
    if output is not None and output.suffix not in {".md", ".json"}:
        raise click.BadParameter("the name must end in .md or .json", param_hint="--output")
    if output is not None and not output.parent.is_dir():  # found out before all is measured
        raise click.BadParameter(f"there is no folder {shown(str(output.parent))}", param_hint="--output")
    drafted: list[str] = []
    try:
        if begin is not None:
            with begin.open(encoding="utf-8") as exported:
                drafted += own_questions.first_file(exported)
        read = [public_suites.read_suite(path) for path in suites]
    except (own_questions.NoSuiteError, OSError, UnicodeDecodeError) as problem:
        raise click.BadParameter(shown(str(problem)), param_hint="SUITE") from None
    for line in drafted:
        click.echo(line)
    if begin is not None:
        return
    reports = [report for suite in read for report in _measured(host, suite, audit)]
    tables, told = measuring.as_markdown(reports), measuring.as_object(reports)
    if output is not None:
        figures = json.dumps(told, ensure_ascii=False, indent=2)
        output.write_text((tables if output.suffix == ".md" else figures) + "\n", encoding="utf-8")
    say(told, tables, as_json=as_json)


def _measured(host: Host, suite: Suite, audit: Path | None) -> list[SuiteReport]:
    """Return the report of *suite*, and with an *audit* that of the questions which it does not reject."""
    wanted = {suite.name if audit is None else f"{suite.name}, raw": suite}
    if audit is not None:
        audited = public_suites.without(suite, _ids(audit))
        if not audited.questions:
            raise click.BadParameter("it leaves no question to be measured", param_hint="--audit")
        wanted[f"{suite.name}, audited"] = audited
    model = host.scratch(embedder.EmbedderTag.get).model
    return [
        measuring.SuiteReport.of(
            one,
            host.scratch(partial(measuring.measured, one, tell=partial(click.echo, err=True))),
            label=label,
            embedder=model,
        )
        for label, one in wanted.items()
    ]


def _ids(audit: Path) -> frozenset[str]:
    try:
        ids: object = json.loads(audit.read_text(encoding="utf-8"))
    except (ValueError, OSError):
        ids = None
    if not isinstance(ids, list):
        raise click.BadParameter('expected a JSON list of ids, like ["conv-26/12"]', param_hint="--audit")
    return frozenset(map(str, cast("list[object]", ids)))
