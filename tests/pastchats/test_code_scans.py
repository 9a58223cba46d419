"""Three ways to compare codes give the same answers, and so do integers with numpy and without."""

import random
import sqlite3
import sys
from collections.abc import Iterator

import numpy as np
import pytest
from attrs import frozen

from chatmemory.pastchats.prompt import PromptFilter
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory_layers.sqlite.prompts.packed_vectors import PackedVector, cosines, packed_rows
from chatmemory_layers.sqlite.prompts.prompt_codes import (
    code_of,
    quantised,
    quantised_rows,
    query_code,
)
from chatmemory_layers.sqlite.prompts.prompt_repository import SqlitePromptRepository
from chatmemory_layers.sqlite.prompts.prompt_search import candidates
from chatmemory_layers.sqlite.prompts.prompt_staging import prepare_staging
from chatmemory_layers.sqlite.prompts.prompt_store import connect_writer, driver
from chatmemory_layers.sqlite.prompts.prompt_vectors import PromptVectors, ScanName
from tests.for_each import for_each
from tests.searched import keep, rows_of, said, search_of

LATIN = ["webhook", "retry", "backoff", "queue", "timeout", "docker", "cache", "flaky", "test", "index"]
WORDS = [*LATIN, "数据库", "锁住", "时区", "检索"]
SCANS: tuple[ScanName, ...] = ("integers", "numpy", "vec")


@frozen
class Past:
    """A store, and the connection that it serves from."""

    repository: SqlitePromptRepository
    connection: sqlite3.Connection


@pytest.fixture(scope="module")
def past() -> Iterator[Past]:
    settings = PastChatsSettings(path=":memory:")
    native = driver(use_sqlite_vec=True)
    connection = connect_writer(settings, native)
    prepare_staging(connection)
    repository = SqlitePromptRepository(connection, settings, native)
    chance = random.Random(7)
    texts = [" ".join(chance.choices(WORDS, k=chance.randint(2, 9))) for _ in range(900)]
    keep(repository, [said(text, number=number, talk=f"{number % 9}") for number, text in enumerate(texts)])
    yield Past(repository, connection)
    repository.close()


@for_each("query", ["webhook retry", "数据库锁住", "flaky test in docker", "zzz", "时区 timeout"])
@for_each(
    "which", [PromptFilter(), PromptFilter(roles=["user"]), PromptFilter(conversations=["role_list:3"])]
)
def test_all_scans_find_the_same(past: Past, query: str, which: PromptFilter) -> None:
    pytest.importorskip("sqlite_vec", reason="sqlite-vec is not installed")
    asked = search_of(query, which=which)
    found = [rows_of(candidates(past.connection, asked, PromptVectors(scan=scan))) for scan in SCANS]
    assert found[0]
    assert found[0] == found[1] == found[2]


def test_sqlite_vec_is_really_asked(past: Past) -> None:
    pytest.importorskip("sqlite_vec", reason="sqlite-vec is not installed")
    statements: list[str] = []
    past.connection.set_trace_callback(statements.append)
    try:
        candidates(past.connection, search_of("webhook"), PromptVectors(scan="vec"))
        assert any("vec_distance_hamming" in statement for statement in statements)
        statements.clear()
        without = PromptVectors(use_sqlite_vec=False, scan="vec")
        candidates(past.connection, search_of("webhook"), without)
        assert not any("vec_distance_hamming" in statement for statement in statements)
    finally:
        past.connection.set_trace_callback(None)


def test_codes_in_memory_follow_what_is_added_and_what_is_deleted(past: Past) -> None:
    vectors = PromptVectors(scan="numpy")
    query = search_of("kubernetes ingress certificates")
    candidates(past.connection, query, vectors)
    keep(past.repository, [said("kubernetes ingress certificates expired", talk="new")])
    best = max(candidates(past.connection, query, vectors).found, key=lambda one: one.similarity or 0)
    assert best.prompt.content == "kubernetes ingress certificates expired"
    past.repository.forget(PromptFilter(conversations=["role_list:new"])).run_sync().unwrap()
    found = candidates(past.connection, query, vectors).found
    assert all(one.prompt.conversation_id != "role_list:new" for one in found)


@for_each("dim", [1, 3, 64, 100, 384, 768, 1536])
def test_a_code_is_the_same_with_numpy_and_without_and_those_that_are_stored_stay_readable(dim: int) -> None:
    rows = np.random.default_rng(dim).standard_normal((6, dim)).astype(np.float32)
    rows[1] = 0
    rows[2, : dim // 2] = 0
    small = quantised_rows(rows)
    assert [quantised(row.tolist()) for row in rows] == [row.tobytes() for row in small]
    assert [query_code(row.tobytes()) for row in small] == code_of(small)
    assert code_of(small)[1] == b""
    assert query_code(bytes(range(1, 65))).hex() == "368153424ce2a277"


def test_the_nearest_by_vector_are_among_the_nearest_by_code() -> None:
    chance = np.random.default_rng(1)
    sparse = chance.standard_normal((3000, 768)) * (chance.random((3000, 768)) < 0.3)
    rows = quantised_rows(sparse.astype(np.float32))
    query = rows[5].tobytes()
    codes = code_of(rows)
    own = int.from_bytes(query_code(query), "big")
    near = sorted(range(3000), key=lambda row: (int.from_bytes(codes[row], "big") ^ own).bit_count())[:600]
    similar = cosines(query, dict(enumerate(packed_rows(rows))))
    best = sorted(similar, key=similar.__getitem__, reverse=True)[:10]
    assert best[0] == near[0] == 5
    assert len(set(best) & set(near)) >= 8


def test_cosines_are_the_same_with_numpy_and_without(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = quantised_rows(np.random.default_rng(3).standard_normal((20, 768)).astype(np.float32))
    rows[3:9, 200:] *= np.random.default_rng(4).random((6, 568)) < 0.3  # as hashed words are
    vectors = dict(enumerate(packed_rows(np.vstack([rows, np.zeros((1, 768), np.int8)]))))
    vectors[21] = PackedVector(0, 1, b"short")
    with_numpy = cosines(rows[0].tobytes(), vectors)
    monkeypatch.delitem(sys.modules, "numpy")
    assert cosines(rows[0].tobytes(), vectors) == with_numpy
    assert with_numpy[0] == 1.0
    assert with_numpy[20] == with_numpy[21] == 0.0
