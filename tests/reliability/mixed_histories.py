"""``write_histories``: histories of many tools as they lie on one disk; and what an index of them holds, whoever made it."""

import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from tests.indexed import claude_record, lines_of, role_list, write
from tests.past_chats_command import HISTORIES

SESSIONS = 30
TURNS = 30
ANSWERS = ("ok", "好的", "Use exponential backoff and jitter.", "数据库被锁住了，先提交事务。")

# What does not depend on when a row was written, nor on the number that it got.
HELD = (
    """
    SELECT content_hash, source_path, source_project, format, conversation_id, session, turn_index, role, kind, speaker,
        content, timestamp, text_hash, search_terms, metadata_json, superseded_at IS NOT NULL
    FROM prompts ORDER BY content_hash
    """,
    """
    SELECT prompts.content_hash, model, dim, dense, squares, vector
    FROM prompt_vectors JOIN prompts ON prompts.id = prompt_id JOIN prompt_models USING (model_key)
    ORDER BY prompts.content_hash
    """,
    """
    SELECT prompts.content_hash, model, dim, code
    FROM prompt_codes JOIN prompts ON prompts.id = prompt_id JOIN prompt_models USING (model_key)
    ORDER BY prompts.content_hash
    """,
    """
    SELECT prompts.content_hash, prompt_aliases.source_path
    FROM prompt_aliases JOIN prompts ON prompts.id = prompt_id ORDER BY 1, 2
    """,
    """
    SELECT source_path, size_bytes, modified_ns, format, format_version, options, status, issue, also
    FROM prompt_sources ORDER BY source_path
    """,
)


def write_histories(folder: Path) -> Path:
    """Write into *folder* what the samples hold, and sessions of several tools, some of them in two files."""
    shutil.copytree(HISTORIES, folder / "samples")
    for session in range(SESSIONS):
        turns = _turns(session)
        records = [claude_record(f"s{session}", number, *turn) for number, turn in enumerate(turns)]
        write(folder / f"claude/{session}.jsonl", lines_of(records))
        if session % 5 == 0:
            write(folder / f"resumed/{session}.jsonl", lines_of(records[: TURNS // 2]))
        write(folder / f"lists/{session}.json", role_list(turns))
        write(
            folder / f"notes/{session}.md",
            "".join(f"## {role.title()}\n\n{text}\n\n" for role, text in turns),
        )
    return folder


def held(database: Path) -> list[Sequence[object]]:
    with closing(sqlite3.connect(database)) as connection:
        return [row for statement in HELD for row in connection.execute(statement)]


def _turns(session: int) -> list[tuple[str, str]]:
    return [
        ("assistant", ANSWERS[number % len(ANSWERS)])
        if number % 2
        else ("user", f"第{session}次 retry {number}?")
        for number in range(TURNS)
    ]
