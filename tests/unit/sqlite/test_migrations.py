"""A file is taken to the newest schema whole, once, and never by somebody who does not know it."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from chatmemory import EffectFailed, PageQuery, RepositoryError
from chatmemory_layers.edition import edition
from chatmemory_layers.sqlite.engine.migrations import (
    MIGRATIONS,
    SCHEMA,
    SELECT_TAKEN,
    Migration,
    check_origin,
    create,
    migrate,
    table_names,
    transaction,
)
from chatmemory_layers.sqlite.messages.message_reads import page
from chatmemory_layers.sqlite.messages.message_tables import copy_for_a_branch
from tests import shared_branches
from tests.unit.sqlite.stores import open_repository, schema_text

SELECT_CREATED = "SELECT name, type, tbl_name, sql FROM sqlite_schema ORDER BY name, type"
LATER = MIGRATIONS[-1].number + 1


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(tmp_path / "chat.db", isolation_level=None)) as connection:
        yield connection


def problem_of(connection: sqlite3.Connection) -> str:
    with pytest.raises(EffectFailed) as failed:
        check_origin(connection)
    assert isinstance(failed.value.error, RepositoryError)
    return failed.value.error.problem


def test_a_new_file_gets_at_once_what_the_steps_make(connection: sqlite3.Connection, tmp_path: Path) -> None:
    migrate(connection)
    made = f"{schema_text(connection)}\nINSERT INTO schema_version (version) VALUES (6);\n"
    assert SCHEMA.read_text() == made, f"write this to {SCHEMA.name}:\n{made}"
    assert not re.findall(r"\b\w+_at INTEGER", made), "columns carry their unit"
    with closing(sqlite3.connect(tmp_path / "new.db", isolation_level=None)) as new:
        create(new)
        create(new)
        for question in (SELECT_CREATED, SELECT_TAKEN, "SELECT version FROM schema_version"):
            assert new.execute(question).fetchall() == connection.execute(question).fetchall()


def test_every_step_is_recorded_and_taken_once(connection: sqlite3.Connection) -> None:
    migrate(connection)
    migrate(connection)
    recorded = connection.execute(
        "SELECT number, name, checksum, applied_at_us > 0 FROM chatmemory_migration"
    ).fetchall()
    assert recorded == [(step.number, f"{step.name}, {edition()}", step.checksum, 1) for step in MIGRATIONS]


def test_a_step_that_fails_leaves_nothing_of_itself(connection: sqlite3.Connection) -> None:
    broken = Migration(LATER, "broken", ("CREATE TABLE half (a)", "CREATE TABLE"))
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, (*MIGRATIONS, broken))
    assert not connection.in_transaction
    assert "half" not in table_names(connection)
    assert {"chat_conversation", "chat_message"} <= table_names(connection)


def test_a_later_step_is_taken_on_top_and_another_one_is_refused(connection: sqlite3.Connection) -> None:
    migrate(connection)
    later = (*MIGRATIONS, Migration(LATER, "later", ("CREATE TABLE later (a)",)))
    check_origin(connection, later)
    migrate(connection, later)
    assert "later" in table_names(connection)
    assert problem_of(connection) == "newer_schema"
    connection.execute("DELETE FROM chatmemory_migration WHERE number = ?", (LATER,))
    check_origin(connection)
    connection.execute("UPDATE chatmemory_migration SET checksum = 'another' WHERE number = 1")
    assert problem_of(connection) == "newer_schema"


def test_released_steps_never_change() -> None:
    """The first five are those of the stores in ``tests/released``, which are refused if their steps change."""
    assert [(step.number, step.checksum) for step in MIGRATIONS[5:]] == [
        (6, "fad581d830dedd82b4f10f80d86c1b356c29c5820421407c95561e6be39cd574"),
        (7, "5bc777e3befd77d97629f02a14f695d41d335689c58a0f9575ffb1a53e5ab157"),
        (8, "cb620d27531054bd4ed9446a0542f40f86c65a0d3d77e8841301adf540d97796"),
        (9, "1f6d51c6f3f3575fa0eb0c5a1dc0ddaf11e9fce9f0b0b14919048d7a130e4450"),
        (10, "7e91cfa4a42fc7f542450145c35eace21046f9e8b9f511c888052d7f42a58fc8"),
        (11, "050b76c95a7e07b57352dd9712b7480694e2ff93d3b52a88728d89fdcf75524d"),
        (12, "12ed24e60c5397ba0b96da6ac94618e65cf5f9444358b4992840dd12d4120dfd"),
        (13, "cad71e34c4bcf2d5e2bd2b41c697c1de4d2268000604deec73317633e3a7a0b7"),
        (14, "5bdba86063d4ea1717422f6b3d2fa5e77927a07e8451845c95bc8ccb4c7dadf6"),
        (15, "d8c650f5996d2a0c5d71ce3f3b62d9086c80750fd9773869cd7b923ed3c1ff71"),
        (16, "c7dfbc72b0db93603e33f8558baaee32cb0a87c5a5a7c5fa4ec36f836c91d234"),
        (17, "113e55c5cdfa7e1e6c53ae762e7d3972ce17fb0bb2827a7bd7a924bd97b1e15a"),
        (18, "0fbf731a69c6fe28c6d1f468e8479a3939a9dba36ac5509aec4e58fc699f67d1"),
        (19, "7899e2fb2f5126d4f864a38e1b58aac96c93a27ba6898cbb9b4a466b215edb93"),
        (20, "7491fb2e7917775b4e14ef6e4e12549550b486a0fa232b2dd7551f88a7fd85e0"),
        (21, "78c55bf95f6e39a2b13fc71c2aef75f1aafe3b5dd971459cc18a0df5e8d20e5f"),
        (22, "9ded8ee4b3bbc1c072872e22cdecac3cb7ecdfe78809e2745b1ad2bbfc0ce83e"),
    ]


def test_a_first_store_comes_to_the_same_schema_with_whole_messages(
    connection: sqlite3.Connection, tmp_path: Path
) -> None:
    (step,) = [step for step in MIGRATIONS if step.number == 1]
    former = [statement.replace('"chat_conversation"', "conversation") for statement in step.statements]
    first = Migration(1, "conversations", tuple(former))
    assert [*step.former] == [first.checksum]
    migrate(connection, (first,))
    connection.execute(
        "INSERT INTO conversation VALUES (7, '早', 3, 4, 0, 0, 3, 3, 30, 3, 0, 1700000000000000, 1700000000000001)"
    )
    for seq in (1, 2, 3):
        connection.execute(
            "INSERT INTO chat_message (conversation_key, seq, id, role, sent_at_us, tokens, content)"
            " VALUES (7, :seq, :id, 'user', 1700000000000000, 10, '早')",
            {"seq": seq, "id": f"{seq}"},
        )
    check_origin(connection)
    migrate(connection)
    with closing(sqlite3.connect(tmp_path / "fresh.db", isolation_level=None)) as fresh:
        migrate(fresh)
        for question in (SELECT_CREATED, SELECT_TAKEN):
            assert connection.execute(question).fetchall() == fresh.execute(question).fetchall()
    # Its messages count as there from the start.
    for as_of, version, is_whole in ((1, 1, False), (3, 3, True), (datetime.now(UTC), 3, True)):
        found = page(connection, PageQuery("早", "model", as_of=as_of))
        assert found is not None
        assert (len(found.messages), found.version, found.is_whole) == (3, version, is_whole)


async def test_branches_that_showed_their_parents_get_messages_of_their_own_also_after_a_kill(
    connection: sqlite3.Connection, tmp_path: Path
) -> None:
    migrate(connection, MIGRATIONS[:19])
    keys = {id_: key for key, (id_, *_) in enumerate(shared_branches.CONVERSATIONS, 1)}
    for id_, version, last, place, parent, seq, at in shared_branches.CONVERSATIONS:
        connection.execute(
            "INSERT INTO chat_conversation (conversation_key, conversation_id, version, next_seq, rewritten_at_version,"
            " summarized_place, message_count, view_count, view_tokens, open_count, deleted_count, created_at_us,"
            " updated_at_us, parent_key, shared_seq, shared_version, forked_from, forked_at_seq, forked_at_version)"
            " VALUES (?, ?, ?, ?, 0, ?, 9, 9, 9, 9, 0, 0, 0, ?, ?, ?, ?, ?, ?)",
            (keys[id_], id_, version, last + 1, place, parent and keys[parent], seq, at, parent, seq, at),
        )
    for id_, seq, place, message_id, role, covered_by, covered_at in shared_branches.MESSAGES:
        connection.execute(
            "INSERT INTO chat_message (conversation_key, seq, place, id, role, sent_at_us, tokens, covered_by,"
            " covered_at_version, content, version, stored_at_us) VALUES (?, ?, ?, ?, ?, 0, 1, ?, ?, 'x', ?, 0)",
            (
                keys[id_],
                seq,
                place if id_ == "parent" else None,
                message_id,
                role,
                covered_by,
                covered_at,
                seq,
            ),
        )
    connection.execute(
        "INSERT INTO summarization_metadata (conversation_key, id, summary_message_id, starts_at_us, ends_at_us,"
        " skill_id, messages_deleted, created_at_us, is_stale, made_at_version) VALUES (1, 'm', 's', 0, 0, 'x', 0, 0, 0, 5)"
    )
    connection.execute("INSERT INTO summary_coverage VALUES (1, '1', 'm', 0), (1, '2', 'm', 1)")
    with transaction(connection):  # a process that was killed then
        assert copy_for_a_branch(connection)
    async with open_repository(tmp_path / "chat.db") as repository:
        await shared_branches.expect_branches_of_their_own(repository)
