"""Runs ``recall`` and the prompt hook without importing click, because the import takes as long as finding the answer.

``run_quickly`` parses the plain forms of the options of both commands, and leaves everything else to click: help,
mistakes, dates, abbreviations.  In both cases the same functions of this module run.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final, NamedTuple, cast, get_args

from chatmemory.effect.lazy import LazyModule
from chatmemory.input.choices import Role
from chatmemory.pastchats.prompt import PromptFilter
from chatmemory.programs.shell.exit_codes import (
    INTERRUPTED,
    UNWRITABLE,
    CommandError,
    discard_unwritten,
    exit_code,
    explained,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import click

    from chatmemory.programs.pastchats import as_json, hooks, options
    from chatmemory.programs.pastchats.host import Host, OpenHost
else:
    click = LazyModule("click")
    as_json = LazyModule("chatmemory.programs.pastchats.as_json")
    hooks = LazyModule("chatmemory.programs.pastchats.hooks")
    options = LazyModule("chatmemory.programs.pastchats.options")

LONGEST_WAIT_SECONDS: Final = 2.0
"""The longest time that a hook waits for a locked index or an embedder: the user is waiting for the agent."""

LEAST_LIMIT: Final = 1
MOST_LIMIT: Final = 50
DEFAULT_LIMIT: Final = 5

_HOST: Final = {"--db": "db", "--config": "config"}
_RECALL: Final = _HOST | {
    "--query": "query",
    "-q": "query",
    "--limit": "limit",
    "-n": "limit",
    "--tokens": "tokens",
    "--project": "project",
    "-p": "project",
    "--role": "role",
    "-r": "role",
    "--format": "format",
    "-f": "format",
    "--conversation": "conversation",
    "-c": "conversation",
}
_JSON: Final = "--json"
_HOOK: Final = ["hook", "user-prompt-submit"]
_MOST_DIGITS: Final = 9
_COMPLETION: Final = "_PASTCHATS_MEMORY_COMPLETE"  # click's, under which a shell asks for completions
_ESCAPE: Final = "\x1b"


class RecallRequest(NamedTuple):
    """The options of ``recall``."""

    query: str
    which: PromptFilter = PromptFilter()
    limit: int = DEFAULT_LIMIT
    tokens: int | None = None
    as_json: bool = False
    with_undone: bool = False


def run_quickly(open_host: OpenHost, arguments: Sequence[str]) -> int | None:
    """Run *arguments* and return the exit code; return None, without doing anything, if click must parse them."""
    if _COMPLETION in os.environ:
        return None
    try:
        return _run(open_host, list(arguments))
    except CommandError as failed:
        return _said(explained(failed.error, "pastchats-memory"), exit_code(failed.error))
    except BrokenPipeError:
        discard_unwritten()
        return UNWRITABLE
    except OSError as error:
        discard_unwritten()
        return _said(f"input or output failed: {error.strerror or error}", UNWRITABLE)
    except KeyboardInterrupt:
        return INTERRUPTED


def print_recall(host: Host, asked: RecallRequest) -> None:
    """Print what worked and what failed before."""
    recalled = host.read(
        lambda chats: chats.recall(
            asked.query,
            which=asked.which,
            limit=asked.limit,
            tokens=asked.tokens,
            with_undone=asked.with_undone,
        )
    )
    if asked.as_json:
        say(as_json.json_text(as_json.recall_object(asked.query, recalled)))
    else:
        say(recalled.text)
    if not recalled.exchanges and (asked.which.projects or asked.which.formats):
        options.tell_unknown_names(host, asked.which)


def answer_prompt(host: Host, payload: str | None) -> None:
    """Print a short recall for the prompt in *payload*, or else in standard input."""
    host.longest_wait_seconds = LONGEST_WAIT_SECONDS
    asked = hooks.prompt_hook(given_to_hook(payload))
    if isinstance(asked, hooks.NoHook):
        if asked.is_problem:
            say(asked.reason, is_error=True)
        return
    try:
        answer = host.read(lambda chats: hooks.injected(chats, asked, tokens=host.settings().hook_tokens))
    except CommandError as failed:
        say(str(failed), is_error=True)
    else:
        if answer:
            say(answer)


def given_to_hook(payload: str | None) -> bytes:
    """Return the input of a hook: *payload*, or else standard input."""
    if payload:
        return payload.encode("utf-8", "surrogateescape")
    return sys.stdin.buffer.read()


def say(text: str, *, is_error: bool = False) -> None:
    """Print *text* and a line end at once."""
    if _ESCAPE in text:
        click.echo(text, err=is_error)  # which removes colours where they are not wanted
        return
    stream = sys.stderr if is_error else sys.stdout
    stream.write(f"{text}\n")
    stream.flush()


def _run(open_host: OpenHost, arguments: list[str]) -> int | None:
    if arguments[:1] == ["recall"]:
        given = _parted(arguments[1:], _RECALL)
        asked = None if given is None else _recall_request(given)
        if given is None or asked is None:
            return None
        print_recall(open_host(**_options(given)), asked)
        return 0
    if arguments[: len(_HOOK)] == _HOOK:
        given = _parted(arguments[len(_HOOK) :], _HOST)
        if given is None or len(given["words"]) > 1 or given["json"]:
            return None
        answer_prompt(open_host(**_options(given)), next(iter(given["words"]), None))
        return 0
    return None


def _parted(arguments: Sequence[str], options: Mapping[str, str]) -> dict[str, list[str]] | None:
    """Return the words and the values of *options* in order, or None if click must parse *arguments*."""
    given: dict[str, list[str]] = {name: [] for name in ("words", "json", *options.values())}
    rest = iter(arguments)
    for argument in rest:
        if not argument.startswith("-"):
            given["words"].append(argument)
        elif argument == _JSON:
            given["json"].append(argument)
        else:
            name, equals, value = argument.partition("=")
            if name not in options or (equals and not name.startswith("--")):
                return None
            if not equals:
                value = next(rest, "-")
                if value.startswith("-"):
                    return None
            given[options[name]].append(value)
    return given


def _recall_request(given: Mapping[str, list[str]]) -> RecallRequest | None:
    limits, tokens = ([_number(text) for text in given[name]] for name in ("limit", "tokens"))
    limit = limits[-1] if limits else DEFAULT_LIMIT
    if not all(limits) or not all(tokens) or limit is None or not LEAST_LIMIT <= limit <= MOST_LIMIT:
        return None
    roles = given["role"]
    words = [*given["words"], *given["query"][-1:]]
    if not words or not set(roles) <= set(get_args(Role)):
        return None
    which = PromptFilter(
        projects=tuple(given["project"]),
        roles=tuple(cast("list[Role]", roles)),
        formats=tuple(given["format"]),
        conversations=tuple(given["conversation"]),
    )
    return RecallRequest(" ".join(words), which, limit, tokens[-1] if tokens else None, bool(given["json"]))


def _number(text: str) -> int | None:
    """Return a whole number above 0, or None."""
    return (int(text) or None) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None


def _options(given: Mapping[str, list[str]]) -> dict[str, str]:
    return {name: given[name][-1] for name in _HOST.values() if given[name]}


def _said(message: str, code: int) -> int:
    say(f"pastchats-memory: {message}", is_error=True)
    return code
