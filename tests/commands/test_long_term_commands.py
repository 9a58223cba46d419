"""What a person and a script do with memories at a terminal."""

import io
import sys

import pytest

from tests.commands.typed import Typed

PORT = "The tests need Redis on port 6380."


def test_what_is_remembered_is_recalled_listed_and_forgotten(typed_anywhere: Typed) -> None:
    typed = typed_anywhere
    assert typed.answer(f"remember '{PORT}' --id redis --tag tests") == "remembered as redis\n"
    assert typed.answer(f"remember '{PORT}'") == "already known as redis\n"
    assert PORT in typed.answer("recall 'which port do the tests need?'")
    hit, *others = typed.json("recall redis port")["hits"]
    assert (hit["memory"]["content"], hit["memory"]["memoryType"], others) == (PORT, "long_term", [])
    assert [one["id"] for one in typed.json("memories --tag tests")["memories"]] == ["redis"]
    assert typed.answer("forget redis --yes") == "1 memory forgotten\n"
    assert typed.answer("memories") == "no memory\n"
    assert typed.run("recall redis").code == 0
    assert "the memory was forgotten" in typed.answer("history redis")


def test_a_newer_statement_ends_an_older_one_and_undo_brings_it_back(typed_anywhere: Typed) -> None:
    typed = typed_anywhere
    typed.remember("我住在杭州", id_="hangzhou")
    assert "replacing hangzhou" in typed.answer("remember 我现在住在上海了 --id shanghai")
    assert [one["id"] for one in typed.json("memories")["memories"]] == ["shanghai"]
    typed.answer("undo hangzhou")
    actions = [event["action"] for event in typed.json("history hangzhou")["events"]]
    assert actions[0] == "stored"
    assert actions[-1] == "restored"
    assert "hangzhou" in [one["id"] for one in typed.json("memories")["memories"]]


def test_a_named_memory_is_replaced(typed: Typed) -> None:
    typed.remember("The deadline is May.", id_="may")
    assert "replacing may" in typed.answer("remember 'The deadline is June.' --replaces may")
    assert typed.run("remember x --replaces nobody").code == 4


def test_standard_input_is_remembered(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    given = io.TextIOWrapper(io.BytesIO("备份在每天三点\n".encode()), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", given)
    typed.answer("remember --key backups --value '{\"hour\": 3}' --pin")
    (memory,) = typed.json("memories")["memories"]
    assert (memory["content"], memory["key"], memory["value"], memory["pinned"]) == (
        "备份在每天三点",
        "backups",
        {"hour": 3},
        True,
    )


def test_nothing_is_forgotten_before_the_answer_is_yes(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    typed.remember(PORT, id_="redis")
    for given, left in (("n\n", ["redis"]), ("", ["redis"]), ("y\n", [])):
        monkeypatch.setattr(sys, "stdin", io.StringIO(given))
        ended = typed.run("forget redis")
        assert (ended.code == 0) is (not left)
        assert PORT in ended.err + ended.out
        assert [one["id"] for one in typed.json("memories")["memories"]] == left


def test_memories_of_another_user_are_neither_seen_nor_forgotten(typed: Typed) -> None:
    typed.answer(f"remember '{PORT}' --id redis --user mei")
    assert typed.answer("memories --user wang") == "no memory\n"
    assert typed.run("forget redis --user wang --yes").code == 4
    typed.answer("forget --all --user wang --yes")
    assert len(typed.json("memories --user mei")["memories"]) == 1


def test_forget_by_origin_removes_what_came_from_there(typed: Typed) -> None:
    typed.answer("remember 'Ada takes the train.' --session trip")
    typed.answer("remember 'Ada drinks tea.' --session home")
    assert typed.json("forget --session trip --yes")["memories"] == 1
    assert [one["sessionId"] for one in typed.json("memories")["memories"]] == ["home"]


def test_a_list_says_how_it_goes_on(typed: Typed) -> None:
    for number in range(3):
        typed.remember(f"fact number {number}", id_=f"f{number}")
    first = typed.run("memories --limit 2")
    assert first.err.startswith("there are more: --after '")
    cursor = typed.json("memories --limit 2")["next"]
    assert [one["id"] for one in typed.json(f"memories --after '{cursor}'")["memories"]] == ["f0"]
