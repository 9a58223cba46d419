"""Options that the commands of both programs share, and the parsing of their values."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import Any, Final, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[F], F]


class Opening:
    """Opens the host of a command, with those options of the command line that choose what it uses.

    A host is opened when a command runs: ``--help`` needs none, and a host loads the services.
    """

    def __init__(self, open_host: Callable[..., Any]) -> None:
        """Open the host by *open_host*, whose named arguments are the chosen options."""
        self._open_host = open_host
        self._chosen: dict[str, str] = {}
        self._host: Any = None

    def choose(self, name: str, value: str) -> None:
        """Open the host with this value of an option."""
        self._chosen[name] = value

    def host(self) -> Any:
        """Return the host; the first call opens it."""
        if self._host is None:
            self._host = self._open_host(**self._chosen)
        return self._host


def host_option(name: str, metavar: str, text: str) -> Decorator[Any]:
    """Add ``--name``, an option that chooses what the host uses; *text* is its help."""

    def choose(context: click.Context, _: click.Parameter, given: str | None) -> None:
        if given is not None:
            context.find_root().obj.choose(name, given)

    return click.option(f"--{name}", metavar=metavar, help=text, expose_value=False, callback=choose)


def pass_host(command: Callable[..., None]) -> Callable[..., None]:
    """Pass *command* the host as its first argument."""

    @click.pass_obj
    @wraps(command)
    def run(opening: Opening, /, *args: Any, **kwargs: Any) -> None:
        command(opening.host(), *args, **kwargs)

    return run


as_json_option: Final = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
dry_run_option: Final = click.option("--dry-run", "-n", is_flag=True, help="Only print what would be done.")
yes_option: Final = click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
output_option: Final = click.option(
    "--output",
    "-o",
    type=click.File("w", encoding="utf-8", lazy=True),
    default="-",
    help="Write to this file instead of stdout.",
)


def query_options(command: F) -> F:
    """Add the query, as words or as ``--query``."""
    words = click.argument("words", nargs=-1, metavar="[QUERY]...")
    option = click.option("--query", "-q", metavar="TEXT", help="What to search for; same as QUERY.")
    return words(option(command))


def query_of(words: tuple[str, ...], query: str | None) -> str:
    """Return the query.

    Raises:
        UsageError: the command line has none.
    """
    if query is None and not words:
        raise click.UsageError("give the text to search for.  For example: --query 'webhook retries'")
    return " ".join([*words, *([] if query is None else [query])])


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
    """Add a repeatable option that takes comma-separated words."""

    def parted(_: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
        words = tuple(word.strip() for text in given for word in text.split(",") if word.strip())
        wrong = [word for word in words if word not in choices]
        if wrong:
            raise click.BadParameter(f"{', '.join(wrong)}: choose from {', '.join(choices)}", param=parameter)
        return words

    return click.option(*names, multiple=True, metavar="LIST", callback=parted, help=help)


def instant_of(option: str, text: str | None, now: datetime) -> datetime | None:
    """Return the instant that *text* means, see ``instant``, or None if the *option* is not given; a message names *option*.

    *now* is the current time in the time zone of this machine.
    """
    if text is None:
        return None
    try:
        return instant(text, now)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=option) from None


def ask(question: str, *, yes: bool) -> None:
    """Ask for confirmation, unless the command line has given it with ``--yes``.

    Raises:
        Abort: the answer is not yes.
    """
    if yes:
        return
    try:
        click.confirm(question, abort=True, err=True)
    except click.Abort:
        click.echo("nothing was deleted; use --yes to delete without this question", err=True)
        raise


_AGO: Final = re.compile(r"(\d{1,4})([hdwmy])")
_BEGINNING: Final = re.compile(r"\d{4}(-\d{2})?")
_HOURS: Final = {"h": 1, "d": 24, "w": 7 * 24, "m": 30 * 24, "y": 365 * 24}


def instant(text: str, now: datetime) -> datetime:
    """Return the instant that *text* means: a date, an ISO 8601 time, or a time ago (``12h``, ``7d``, ``2w``, ``3m``, ``1y``).

    A time without a zone is in the zone of *now*; a year, a month or a day means its first midnight.

    >>> now = datetime.fromisoformat("2026-05-04T12:00:00+02:00")
    >>> [str(instant(text, now)) for text in ("2026-03", "2026-03-01T14:30Z", "7d")]
    ['2026-02-28 22:00:00+00:00', '2026-03-01 14:30:00+00:00', '2026-04-27 12:00:00+02:00']

    Raises:
        ValueError: *text* has none of these forms.
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
        raise ValueError(
            f"{text!r} is not a time: write 2026-03-01, 2026-03-01T14:30, or 7d for seven days ago (h, d, w, m, y)"
        ) from None
