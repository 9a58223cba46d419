"""``index_round``: everything that is ever written to an index of past chats, for one source; and what is there afterwards."""

from typing import Final

from chatmemory.pastchats.indexing.prompt_drafts import PromptDraft
from chatmemory.pastchats.prompt import PromptFilter
from chatmemory_layers.sqlite.prompts.prompt_repository import SqlitePromptRepository
from tests.past_turns import contents, draft, index, state, vectors_of

TURNS: Final = 40
FORGOTTEN: Final = 10  # those of the assistant
NEW_MODEL: Final = "newer"


def source_of(writer: str, number: int) -> str:
    return f"/{writer}/{number}.jsonl"


def index_round(past: SqlitePromptRepository, writer: str, number: int) -> None:
    """Index a source, index it again after it was edited, replace vectors, and forget some of it."""
    source = source_of(writer, number)
    index(past, turns_of(source), state(source))
    edited = [draft(0, "edited 改过", source=source, conversation=source), *turns_of(source)[1:-1]]
    index(past, edited, state(source, size=2))
    rows = past.without_vector(NEW_MODEL, limit=TURNS).run_sync().unwrap()
    if rows:
        ids, texts = zip(*rows, strict=True)
        past.re_embed(ids, vectors_of(texts), model=NEW_MODEL).run_sync().unwrap()
    past.forget(PromptFilter(conversations=(source,), roles=("assistant",))).run_sync().unwrap()


def turns_of(source: str) -> list[PromptDraft]:
    """Return the turns of a source, some of which have the texts of others."""
    return [
        draft(
            number,
            "好的" if number % 7 == 0 else f"{source} says {number} 重试",
            source=source,
            conversation=source,
            role="assistant" if TURNS // 2 <= number < TURNS // 2 + FORGOTTEN else "user",
        )
        for number in range(TURNS)
    ]


def check_round(past: SqlitePromptRepository, writer: str, number: int) -> None:
    """See that a round has left what it has to."""
    source = source_of(writer, number)
    kept = contents(past, source)
    assert len(kept) == TURNS - FORGOTTEN
    assert (kept[0], kept[-1]) == ("edited 改过", f"({source} says {TURNS - 1} 重试)")
    assert past.sources().run_sync().unwrap()[source] == state(source, size=2)


def check_part_of_round(past: SqlitePromptRepository, writer: str, number: int) -> None:
    source = source_of(writer, number)
    assert len(contents(past, source)) in {0, TURNS, TURNS - FORGOTTEN}
    assert (source in past.sources().run_sync().unwrap()) == bool(contents(past, source))
