"""``needs_extra``: says what to install where a part of chatmemory is imported without the library that it needs."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from os.path import dirname, exists, isfile

OURS = {"chatmemory", "chatmemory_layers"}
DISTRIBUTION = "chatmemory-effect"


def needed(library: str, *, extra: str) -> str:
    """Return a sentence that says that *library* is missing, and which *extra* of chatmemory installs it."""
    return f"needs {library}: {installing(extra)}"


def is_source() -> bool:
    """Return whether chatmemory is imported from a checkout, which has the documentation beside it."""
    return isfile(f"{dirname(dirname(__file__))}/pyproject.toml")  # noqa: PTH113, PTH120  pathlib loads slowly


def installing(extra: str) -> str:
    """Return the command that installs what *extra* needs, from where chatmemory was installed or is imported."""
    return f"pip install '{'.' if is_source() else _origin()}[{extra}]'"


def _origin() -> str:
    """Return the folder or the file that chatmemory was installed from, if it is still there; otherwise its name on an index."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import unquote

    try:
        url = json.loads(distribution(DISTRIBUTION).read_text("direct_url.json") or "{}").get("url", "")
    except PackageNotFoundError:
        return DISTRIBUTION
    place = unquote(url.removeprefix("file://"))
    return place if exists(place) else DISTRIBUTION  # noqa: PTH110  as above


@contextmanager
def needs_extra(extra: str) -> Generator[None]:
    """Return a context manager for the import of a library that *extra* of chatmemory installs.

    Raises:
        ImportError: a library is missing, or too old to have what is imported; the message says what to install.
    """
    try:
        yield
    except ImportError as error:
        library = (error.name or "").partition(".")[0]
        if not library or library in OURS or isinstance(error.__cause__, ImportError):
            raise  # a mistake of our own, or said by a block inside this one
        raise type(error)(needed(library, extra=extra), name=error.name) from error
