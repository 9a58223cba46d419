"""Options that several commands share, and the values that they become."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast, get_args

import click

from chatmemory.input.choices import Role
from chatmemory.pastchats.prompt import EVERYTHING, PromptFilter
from chatmemory.text.shown_text import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatmemory.pastchats.past_chats import PastChatsStatistics
    from chatmemory.programs.pastchats.host import Host


F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[F], F]

ROLES: Final[tuple[Role, ...]] = get_args(Role)


def with_host(command: Callable[..., None]) -> Callable[..., None]:
    """Give *command* the host as its first argument, and take ``--db`` and ``--config`` here too."""

    @click.option(
        "--db",
        metavar="FILE",
        help="The index file.  [env: PASTCHATS_DB]",
        expose_value=False,
        callback=_set("db"),
    )
    @click.option(
        "--config",
        metavar="FILE",
        help="The settings file.  [env: CHATMEMORY_CONFIG]",
        expose_value=False,
        callback=_set("config"),
    )
    @click.pass_obj
    @wraps(command)
    def run(host: Host, /, *args: Any, **kwargs: Any) -> None:
        command(host, *args, **kwargs)

    return run


def as_json_option(command: F) -> F:
    """Add ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def dry_run_option(command: F) -> F:
    """Add ``--dry-run``."""
    return click.option("--dry-run", "-n", is_flag=True, help="Only print what would be done.")(command)


def query_options(command: F) -> F:
    """Add the query, as words or as ``--query``."""
    words = click.argument("words", nargs=-1, metavar="[QUERY]...")
    option = click.option("--query", "-q", metavar="TEXT", help="What to search for; same as QUERY.")
    return words(option(command))


def query_of(words: tuple[str, ...], query: str | None) -> str:
    """Return what was asked for.

    Raises:
        UsageError: nothing was.
    """
    if query is None and not words:
        msg = "what is to be looked for?  For example: --query 'webhook retries'"
        raise click.UsageError(msg)
    return " ".join([*words, *([] if query is None else [query])])


def source_argument(command: F) -> F:
    """Add SOURCE, as search prints it; one that begins with a path from the folder one is in is made absolute."""
    return click.argument("source", callback=_from_here)(command)


def paths_argument(command: F) -> F:
    """Add files and folders, each of which has a name."""
    return click.argument("paths", nargs=-1, metavar="[PATH]...", callback=each_named)(command)


def each_named(_: click.Context, parameter: click.Parameter, paths: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse an empty path, which would be the folder that one is in."""
    if "" in paths:
        msg = "one is empty: is a variable of the shell unset?"
        raise click.BadParameter(msg, param=parameter)
    return paths


def resolved(path: str) -> str:
    """Return *path* as the issues of a report name it, if there is such a file."""
    return cast("str", click.Path(resolve_path=True).convert(path, None, None))


def filter_options(command: F) -> F:
    """Add the options that narrow what is meant, and give ``which: PromptFilter`` in their place."""

    @click.option(
        "--project",
        "-p",
        "projects",
        multiple=True,
        metavar="NAME",
        help="Only turns of this project; may be repeated, like the next three options.",
    )
    @click.option(
        "--role", "-r", "roles", multiple=True, type=click.Choice(ROLES), help="Only turns of this role."
    )
    @click.option(
        "--format",
        "-f",
        "formats",
        multiple=True,
        metavar="NAME",
        help="Only turns of this format, for example claude_code.",
    )
    @click.option(
        "--conversation",
        "-c",
        "conversations",
        multiple=True,
        metavar="ID",
        help="Only turns of this conversation.",
    )
    @click.option(
        "--since",
        metavar="WHEN",
        help="Only turns at or after this time: 2026-03-01, 2026-03, or 7d for the last seven days.",
    )
    @click.option(
        "--until",
        metavar="WHEN",
        help="Only turns before this time: 2026-04-01, or 7d for turns older than seven days.",
    )
    @click.pass_obj
    @wraps(command)
    def run(
        host: Host, /, *args: Any,
        projects: tuple[str, ...], roles: tuple[Role, ...], formats: tuple[str, ...], conversations: tuple[str, ...],
        since: str | None, until: str | None, **kwargs: Any,
    ) -> None:  # fmt: skip
        which = PromptFilter(
            projects=projects,
            roles=roles,
            formats=formats,
            conversations=conversations,
            since=_instant(host, "--since", since),
            until=_instant(host, "--until", until),
        )
        command(*args, which=which, **kwargs)

    return cast("F", run)


def is_narrow(which: PromptFilter) -> bool:
    """Tell whether *which* means less than everything."""
    return which != PromptFilter((), (), (), ()) and which != EVERYTHING


def number_option(
    *names: str,
    least: int,
    most: int,
    default: int,
    help: str,  # noqa: A002  click's word
) -> Decorator[Any]:
    """Add an option that takes an integer from *least* to *most*."""
    within = click.IntRange(least, most)
    return click.option(*names, type=within, default=default, show_default=True, help=help)


def list_option(
    *names: str,
    choices: tuple[str, ...],
    help: str,  # noqa: A002  click's word
) -> Decorator[Any]:
    """Add an option that takes words parted by commas, and may be repeated."""

    def parted(_: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
        words = tuple(word.strip() for text in given for word in text.split(",") if word.strip())
        wrong = [word for word in words if word not in choices]
        if wrong:
            msg = f"{', '.join(wrong)}: choose from {', '.join(choices)}"
            raise click.BadParameter(msg, param=parameter)
        return words

    return click.option(*names, multiple=True, metavar="LIST", callback=parted, help=help)


def _set(name: str) -> Callable[[click.Context, click.Parameter, str | None], None]:
    def callback(context: click.Context, _: click.Parameter, given: str | None) -> None:
        if given is not None:
            setattr(context.find_root().obj, name, given)

    return callback


def _instant(host: Host, option: str, text: str | None) -> Any:
    if text is None:
        return None
    try:
        return instant(text, host.now())
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=option) from None


_EXISTING: Final = click.Path(exists=True, dir_okay=False, resolve_path=True)


def _from_here(context: click.Context, parameter: click.Parameter, source: str) -> str:
    # A turn follows a path behind "#", a member of an archive behind "!".
    for end in (len(source), source.rfind("#"), source.find("!")):
        try:
            path = cast("str", _EXISTING.convert(source[: max(end, 0)], parameter, context))
        except click.BadParameter:
            continue
        return path + source[end:]
    return source  # a conversation, or a file that is gone


_AGO: Final = re.compile(r"(\d{1,4})([hdwmy])")
_BEGINNING: Final = re.compile(r"\d{4}(-\d{2})?")
_HOURS: Final = {"h": 1, "d": 24, "w": 7 * 24, "m": 30 * 24, "y": 365 * 24}


def instant(text: str, now: datetime) -> datetime:
    """Return what *text* means: a date, an instant of ISO 8601, or a time ago (``12h``, ``7d``, ``2w``, ``3m``, ``1y``).

    What names no time zone is in that of *now*; a year, a month and a day begin with their first midnight.

    >>> now = datetime.fromisoformat("2026-05-04T12:00:00+02:00")
    >>> [str(instant(text, now)) for text in ("2026-03", "2026-03-01T14:30Z", "7d")]
    ['2026-02-28 22:00:00+00:00', '2026-03-01 14:30:00+00:00', '2026-04-27 12:00:00+02:00']

    Raises:
        ValueError: it means nothing.
    """
    written = text.strip()
    try:
        if ago := _AGO.fullmatch(written.lower()):
            return now - timedelta(hours=int(ago[1]) * _HOURS[ago[2]])
        if _BEGINNING.fullmatch(written):
            written = f"{written}-01-01"[: len("2026-03-01")]
        found = datetime.fromisoformat(written)
        return (found if found.tzinfo else found.replace(tzinfo=now.tzinfo)).astimezone(UTC)
    except (ValueError, OverflowError):
        msg = f"{text!r} is no instant: write 2026-03-01, 2026-03-01T14:30, or 7d for seven days ago (h, d, w, m, y)"
        raise ValueError(msg) from None


def tell_unknown_names(host: Host, which: PromptFilter) -> None:
    """Say on the side which of *which* mean nothing that is kept; to be asked when nothing was found."""
    if not (which.projects or which.formats):
        return
    statistics = host.read(lambda chats: chats.statistics())
    for line in unknown_names(which, statistics):
        click.echo(line, err=True)


def unknown_names(which: PromptFilter, statistics: PastChatsStatistics) -> Iterator[str]:
    """Yield a line for each project and each format of *which* that *statistics* do not count."""
    from chatmemory.effect.likeness import did_you_mean

    projects = {project.casefold() for project in statistics.by_project}
    for project in which.projects:
        if project.casefold() not in projects:
            yield f"no turn is of the project {shown(project)!r}{did_you_mean(project, statistics.by_project)}"
    formats = sorted(statistics.by_format)
    for format_ in which.formats:
        if format_ not in formats:
            there_are = f": there are {', '.join(formats)}" if formats else ""
            yield f"no turn is of the format {shown(format_)!r}{did_you_mean(format_, formats) or there_are}"
