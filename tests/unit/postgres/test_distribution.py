"""A store can be spread over servers: what would be refused is named beforehand, and nothing is done twice."""

from collections.abc import AsyncGenerator
from typing import Final

import pytest

from chatmemory.effect import Failure, Success
from chatmemory.errors import RepositoryError
from chatmemory_layers.postgres.distribute import EXIT_UNREACHABLE, asked, main
from chatmemory_layers.postgres.engine.distribution import NO_CITUS, DistributionRefusedError
from chatmemory_layers.postgres.engine.spread_keys import EVERYWHERE, SPREAD_BY
from tests.empty_store import copied_store
from tests.fake_citus import calls_of, fake_citus, run_in


@pytest.fixture
async def plain() -> AsyncGenerator[str]:
    """The address of a store on a PostgreSQL without Citus."""
    async with copied_store() as dsn:
        yield dsn


async def test_a_plain_server_says_of_each_table_what_would_happen_and_refuses_nothing(plain: str) -> None:
    told = (await asked(plain, is_check=True)).unwrap()
    assert {table.name: table.key for table in told.tables if table.kind == "distributed"} == SPREAD_BY
    assert [table.name for table in told.tables if table.kind == "reference"] == [*EVERYWHERE]
    assert {table.group for table in told.tables} == {"", "conversation", "memory_user", "stored_item"}
    assert (told.refusals, told.is_possible, any(table.is_done for table in told.tables)) == (
        (),
        False,
        False,
    )
    assert (
        str(told.tables[3])
        == "conversation_branch: would be distributed by conversation_id, with conversation"
    )
    assert await asked(plain, is_check=False) == Failure(DistributionRefusedError((NO_CITUS,)))


REFUSED: Final = {
    "CREATE UNIQUE INDEX by_id ON atomic_memory (memory_id)": (
        "atomic_memory: the unique index by_id lacks user_key: drop it, or add the column"
    ),
    "ALTER TABLE memory_use DROP CONSTRAINT memory_use_pkey, ADD PRIMARY KEY (memory_key, session_id)": (
        "memory_use: the primary key memory_use_pkey lacks user_key: drop it, or add the column"
    ),
    """
    ALTER TABLE chat_message ADD told_to UUID,
        ADD CONSTRAINT told FOREIGN KEY (told_to, id, role) REFERENCES other_key (a, b, c)
    """: "chat_message: the foreign key told refers to other_key without conversation_id: drop it",
    "ALTER TABLE chat_message ADD counted BIGINT GENERATED ALWAYS AS IDENTITY": (
        "chat_message: counted is an identity column, which one server would count: drop it"
    ),
    "CREATE SEQUENCE numbers; ALTER TABLE history_work ADD counted BIGINT DEFAULT nextval('numbers')": (
        "history_work: counted is counted by a sequence, which one server would count: drop it"
    ),
    "CREATE TABLE theirs (id TEXT REFERENCES conversation)": (
        "conversation: the foreign key theirs_id_fkey of theirs, a table of another program, refers to it: drop it"
    ),
    """
    CREATE TRIGGER watched BEFORE UPDATE ON stored_item FOR EACH ROW
        EXECUTE FUNCTION suppress_redundant_updates_trigger()
    """: "stored_item: the trigger watched would not run on other servers: drop it",
    "DROP TABLE item_version": (
        "item_version: the table is missing: open the store once with this edition, which makes it"
    ),
}


async def test_what_would_be_refused_is_named_with_its_cure(plain: str) -> None:
    await run_in(plain, "CREATE TABLE other_key (a UUID, b TEXT, c TEXT, PRIMARY KEY (a, b, c))", *REFUSED)
    refusals = (await asked(plain, is_check=True)).unwrap().refusals
    assert set(REFUSED.values()) ^ set(refusals) == set()
    await fake_citus(plain)
    assert await asked(plain, is_check=False) == Failure(DistributionRefusedError(refusals))
    assert await calls_of(plain) == []


async def test_tables_are_spread_once_those_of_one_key_together(plain: str) -> None:
    await fake_citus(plain)
    told = (await asked(plain, is_check=False)).unwrap()
    assert all(table.is_done for table in told.tables)
    calls = await calls_of(plain)
    assert calls[:4] == [
        *(f"reference {name}" for name in EVERYWHERE),
        "conversation by conversation_id with none",
        "conversation_branch by conversation_id with conversation",
    ]
    assert len(calls) == 2 * len(told.tables)
    assert await asked(plain, is_check=False) == Success(told)
    assert await calls_of(plain) == calls


async def test_what_was_interrupted_is_finished(plain: str) -> None:
    await fake_citus(plain)
    await run_in(
        plain, "SELECT create_distributed_table('conversation', 'conversation_id', colocate_with => 'none')"
    )
    before = await calls_of(plain)
    told = (await asked(plain, is_check=False)).unwrap()
    assert all(table.is_done for table in told.tables)
    assert "conversation by conversation_id with none" not in (await calls_of(plain))[len(before) :]


async def test_a_table_that_is_spread_otherwise_is_refused_with_the_cure(plain: str) -> None:
    await fake_citus(plain)
    await run_in(plain, "SELECT create_reference_table('chat_message')")
    refusal = "chat_message: it is a table of another kind already: SELECT undistribute_table('chat_message'), then run this again"
    assert await asked(plain, is_check=False) == Failure(DistributionRefusedError((refusal,)))


async def test_what_the_server_refuses_is_a_typed_error(plain: str) -> None:
    await fake_citus(plain)
    await run_in(
        plain,
        "CREATE OR REPLACE FUNCTION citus.create_reference_table(relation regclass) RETURNS void LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE 'not enough worker nodes' USING ERRCODE = 'insufficient_resources'; END $$",
    )
    outcome = await asked(plain, is_check=False)
    assert isinstance(outcome, Failure)
    error = outcome.failure()
    assert isinstance(error, RepositoryError)
    assert "not enough worker nodes" in str(error)


def test_the_command_says_what_cannot_be_reached_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["postgresql://nobody@127.0.0.1:1/nothing"]) == EXIT_UNREACHABLE
    assert capsys.readouterr().err.startswith("distribute the store: unavailable")
