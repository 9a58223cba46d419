"""What was said is found by its words, in one conversation or in all, at a bounded cost."""

from typing import Any

import pytest

from chatmemory.access.principal import acting_as
from chatmemory.conversation import message_search
from chatmemory.conversation.contract import ChatMemory
from chatmemory.conversation.forks import fork_tree
from chatmemory.conversation.message_search import FoundMessages, MessageSearch, search_messages
from chatmemory.conversation.new_message import NewMessage
from chatmemory.effect import Failure
from chatmemory.effect.services.clock import TestClock
from chatmemory.errors import ConversationNotFoundError, DataValidationError
from chatmemory.laws.kit.samples import DAY, START, somebody


async def found(memory: ChatMemory, query: str, **asked: Any) -> FoundMessages:
    return await search_messages(memory, MessageSearch(query=query, **asked)).or_raise()


async def ids(memory: ChatMemory, query: str, **asked: Any) -> list[str]:
    return [hit.message_id for hit in (await found(memory, query, **asked)).hits]


async def say(memory: ChatMemory, conversation_id: str, *contents: str, begin: int = 0) -> None:
    said = [
        NewMessage("user", content, id=f"{conversation_id}{number}", timestamp=START + number * DAY)
        for number, content in enumerate(contents, begin)
    ]
    await memory.add_messages(conversation_id, said).or_raise()


async def test_a_message_is_found_by_all_of_its_words_in_any_case(memory: ChatMemory) -> None:
    await say(memory, "a", "I drink Green TEA", "我只喝绿茶", "100% tea_room")
    assert await ids(memory, "tea green") == ["a0"]
    assert await ids(memory, "喝绿") == ["a1"]
    assert await ids(memory, "tea") == ["a2", "a0"]
    for syntax in ("100%", "tea_r", "%", "_"):
        assert await ids(memory, syntax) == ["a2"], syntax
    for nothing in ("coffee", "tea coffee", '"tea"', "tea*", "tea OR coffee"):
        assert await ids(memory, nothing) == [], nothing


async def test_messages_are_found_by_their_time_with_an_excerpt_around_the_word(memory: ChatMemory) -> None:
    await say(memory, "a", "tea", "tea", "tea")
    assert await ids(memory, "tea", since=START + DAY) == ["a2", "a1"]
    assert await ids(memory, "tea", until=START + DAY) == ["a0"]
    assert await ids(memory, "tea", since=START + DAY, until=START + 2 * DAY) == ["a1"]
    await say(memory, "b", f"{'x ' * 5000}the needle is here{' y' * 5000}")
    [hit] = (await found(memory, "needle")).hits
    assert "the needle is here" in hit.excerpt
    assert (hit.excerpt[:4], len(hit.excerpt) < 250) == ("... ", True)
    assert (hit.conversation_id, hit.role, hit.seq) == ("b", "user", 1)
    await say(
        memory, "c", f"{'İ' * 5000}in der Straße{' y' * 5000}"
    )  # folded, "İ" and "ß" are two characters
    [hit] = (await found(memory, "STRASSE")).hits
    assert "in der Straße" in hit.excerpt


async def walk(memory: ChatMemory, **asked: Any) -> list[str]:
    """Return the hits of all pages."""
    joined, after = list[str](), None
    for _ in range(20):  # pages that stand still must not hang a test
        page = await found(memory, "tea", after=after, **asked)
        joined += [hit.message_id for hit in page.hits]
        after = page.next
        if after is None:
            break
    return joined


async def test_hits_of_what_changed_last_come_first_and_pages_of_them_join_without_a_gap(
    memory: ChatMemory, clock: TestClock
) -> None:
    for name in ("a", "b", "c"):
        await say(memory, name, *["tea"] * 5)
        await clock.advance(1.0)
    every = await ids(memory, "tea", limit=200)
    assert every == [f"{name}{number}" for name in "cba" for number in (4, 3, 2, 1, 0)]
    for limit in (1, 2, 5, 7):
        assert await walk(memory, limit=limit) == every
    of_b = [one for one in every if one.startswith("b")]
    assert await walk(memory, limit=2, conversation_id="b") == of_b
    assert await ids(memory, "tea", prefix="b") == of_b


async def test_one_search_reads_a_bounded_number_of_messages_and_says_so(
    memory: ChatMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_search, "READ_MESSAGES", 250)
    await say(memory, "long", "the first tea", *["nothing"] * 400)
    first = await found(memory, "tea")
    assert (first.hits, first.messages_read) == ((), 250)
    assert first.next is not None
    second = await found(memory, "tea", after=first.next)
    assert [hit.message_id for hit in second.hits] == ["long0"]
    assert (second.messages_read, second.next) == (151, None)


async def test_a_branch_shows_what_it_alone_has_said(memory: ChatMemory) -> None:
    await say(memory, "trunk", "tea", "tea")
    await memory.fork("trunk", "branch").or_raise()
    await say(memory, "branch", "tea", begin=7)
    assert sorted(await ids(memory, "tea")) == ["branch7", "trunk0", "trunk1"]
    assert await ids(memory, "tea", conversation_id="branch") == ["branch7", "trunk1", "trunk0"]
    await memory.remove_newest("trunk").or_raise()
    assert sorted(await ids(memory, "tea")) == ["branch7", "trunk0", "trunk1"]
    await memory.clear_messages("trunk").or_raise()
    await say(memory, "trunk", "begun again", "and again", "and again")
    assert sorted(await ids(memory, "tea")) == ["branch7", "trunk0", "trunk1"]


async def test_nobody_finds_what_they_may_not_see(memory: ChatMemory) -> None:
    ada, bob = somebody("ada"), somebody("bob")
    with acting_as(ada):
        await say(memory, "hers", "the secret tea")
    with acting_as(bob):
        assert (await found(memory, "tea")).hits == ()
        one = MessageSearch(query="tea", conversation_id="hers")
        assert await search_messages(memory, one) == Failure(ConversationNotFoundError("hers"))
    with acting_as(ada):
        assert await ids(memory, "tea") == ["hers0"]


NONSENSE: list[tuple[dict[str, Any], str]] = [
    ({"query": " \n"}, "$.query"),
    ({"query": "x" * 1001}, "$.query"),
    ({"query": "x", "limit": 201}, "$.limit"),
    ({"query": "x", "after": "not a cursor"}, "$.after"),
    ({"query": "x", "after": "99999999999999999999 2026-01-01T00:00:00+00:00 a"}, "$.after"),
    ({"query": "x", "since": "yesterday"}, "$.since"),
]


async def test_a_search_for_nonsense_is_refused(memory: ChatMemory) -> None:
    for asked, path in NONSENSE:
        outcome = await search_messages(memory, MessageSearch(**asked))
        error = outcome.failure()
        assert isinstance(error, DataValidationError)
        assert [problem.path for problem in error.problems] == [path]
    words: Any = "tea"  # instead of MessageSearch(query="tea")
    assert isinstance((await search_messages(memory, words)).failure(), DataValidationError)


async def test_every_branch_shows_the_same_tree(memory: ChatMemory, clock: TestClock) -> None:
    async def tree(conversation_id: str) -> tuple[str, list[str], bool]:
        found = await fork_tree(memory, conversation_id).or_raise()
        return found.root, [one.conversation_id for one in found.conversations], found.is_whole

    for name in ("root", "other", "alone"):
        await say(memory, name, "1", "2")
    for parent, branch in (("root", "a"), ("a", "a1"), ("root", "b"), ("other", "x")):
        await clock.advance(1.0)
        await memory.fork(parent, branch).or_raise()
    for name in ("root", "a", "a1", "b"):
        assert await tree(name) == ("root", ["root", "a", "a1", "b"], True)
    await memory.clear_messages("root").or_raise()
    assert (await tree("a1"))[1] == ["a", "a1"]
    assert (await tree("alone"))[1] == ["alone"]
    assert await fork_tree(memory, "nobody") == Failure(ConversationNotFoundError("nobody"))
