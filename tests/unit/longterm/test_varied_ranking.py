"""``VariedRanking``: what says the same again stands behind what says something else, by one line."""

from datetime import UTC, datetime
from pathlib import Path

from chatmemory import LongTermMemoryService, ManagedRuntime, Namespace, NewMemory, Recall
from chatmemory.longterm.recall.varied_ranking import varied_ranker
from chatmemory_layers.stacks import embedded
from tests.for_each import for_each

MEI = Namespace("mei")
AT = datetime(2026, 3, 2, tzinfo=UTC)
SAID = {
    "a1": "Mei drinks green tea every morning",
    "a2": "Mei drinks green tea every morning at home",
    "a3": "Mei drinks green tea each morning",
    "b": "In the morning Mei sometimes drinks oolong tea with friends",
    "c": "小美早上喝绿茶",
    "d": "The printer is on the second floor",
}


async def recalled(folder: Path, query: str, *, limit: int, is_varied: bool) -> Recall:
    store = folder / f"{is_varied}{limit}.db"
    stack = embedded(store, ranker=varied_ranker) if is_varied else embedded(store)
    async with ManagedRuntime(stack) as runtime:
        memory = await runtime.service(LongTermMemoryService)
        drafts = [NewMemory(text, id=name, created_at=AT) for name, text in SAID.items()]
        await memory.remember(MEI, drafts).or_raise()
        return await memory.recall(MEI, query, limit=limit).or_raise()


def ids(recall: Recall) -> list[str]:
    return [hit.memory.id for hit in recall.hits]


async def test_repetitions_stand_behind_what_says_something_else(tmp_path: Path) -> None:
    plain = await recalled(tmp_path, "what tea does Mei drink in the morning?", limit=6, is_varied=False)
    varied = await recalled(tmp_path, "what tea does Mei drink in the morning?", limit=6, is_varied=True)
    assert {*ids(plain)[:2]} <= {"a1", "a2", "a3"}
    assert ids(varied)[0] == ids(plain)[0]
    assert ids(varied)[1] == "b"
    assert sorted(ids(varied)) == sorted(ids(plain))


@for_each("query", ["green tea", "绿茶", "printer", "nothing of the kind"])
async def test_an_answer_begins_with_a_shorter_one_and_scores_never_grow(tmp_path: Path, query: str) -> None:
    whole = await recalled(tmp_path, query, limit=6, is_varied=True)
    scores = [hit.score for hit in whole.hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    for limit in (1, 3):
        assert ids(await recalled(tmp_path, query, limit=limit, is_varied=True)) == ids(whole)[:limit]
