"""The streams and the arguments of a command, in UTF-8 whatever the locale; and whether its output has colours."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper


def prepared_arguments() -> list[str]:
    """Make the streams of this process fit for every script, and return its arguments as they were typed."""
    # What the caller closed: nothing is read, what is written to stdout fails as on a full disk, and errors are lost.
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY), encoding="utf-8")
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # What was said is in every script, whatever the locale; a lone surrogate becomes what JSON writes for it.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    return [_as_typed(argument) for argument in sys.argv[1:]]


def is_colourful() -> bool:
    """Return whether the user allows colours (https://no-color.org)."""
    return not os.environ.get("NO_COLOR")


def _as_typed(argument: str) -> str:
    """Return *argument* decoded as UTF-8, which Python does not do in a locale without UTF-8."""
    if argument.isascii():
        return argument
    try:
        return os.fsencode(argument).decode("utf-8")
    except UnicodeError:
        return argument
