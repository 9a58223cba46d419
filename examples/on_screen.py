"""How the demo lays out for the eye what it does."""

import unicodedata
from textwrap import wrap

from chatmemory import ChatMessage

COLUMNS = 110


def headline(text: str) -> None:
    """Print *text* between lines of air."""
    print(f"\n{text}\n{'-' * len(text)}")


def named(message_id: str) -> str:
    """Return a message's id as it is, and the end of a summary's, which is a UUID."""
    return message_id if len(message_id) < len("00000000-0000") else f"summary {message_id[-4:]}"


def print_message(message: ChatMessage, *, note: str = "") -> None:
    """Print who said what, on one line."""
    match message.metadata:
        case {"toolCalls": [{"name": str(tool)}, *_]}:
            note += f" -> {tool}()"
        case _:
            pass
    text = " ".join(message.content.split())
    print(f"{message.role:>9} | {clip(text, COLUMNS - 12 - len(note))}{note}")


def clip(text: str, columns: int) -> str:
    """Cut *text* to as many columns; a Chinese character takes two."""
    width = 0
    for end, character in enumerate(text):
        width += 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if width > columns:
            return f"{text[: end - 1]}…"
    return text


def show_text(speaker: str, text: str) -> None:
    """Print who says what, on as many lines as it takes."""
    for line in text.splitlines() or [""]:
        for part in wrap(line, COLUMNS - 12) or [""]:
            print(f"{speaker:>9} | {part}")
            speaker = ""
