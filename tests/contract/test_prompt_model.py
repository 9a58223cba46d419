"""Whatever is committed, lost, forgotten and pruned in whatever order: the store holds what a dictionary would hold."""

from collections.abc import Sequence

from hypothesis import given, settings, strategies as st

from chatmemory.input.json_value import Json
from chatmemory.pastchats.indexing.prompt_drafts import SourceChanges
from chatmemory.pastchats.prompt import EVERYTHING, Prompt
from chatmemory_layers.sqlite.prompts.prompt_repository import SqlitePromptRepository
from tests.kept_turns import KeptTurns
from tests.past_turns import MODEL, draft, index, open_past_chats, state
from tests.thorough import rounds

SOURCES = ("/a", "/b", "/c")
IDENTITIES = ("m1", "m2", "m3", "m4")
TEXTS = ("x", "yy", "重试", "重试 twice", "重试 thrice!")


held = st.dictionaries(st.sampled_from(IDENTITIES), st.sampled_from(TEXTS))
source = st.sampled_from(SOURCES)
commits = st.tuples(st.just("commit"), source, held)
others = st.tuples(
    st.sampled_from(["forget", "mark_missing", "prune", "fail", "reindex"]), source, st.just({})
)


@settings(max_examples=rounds(25, thorough=100))
@given(st.lists(commits | commits | others, max_size=12))
def test_the_store_holds_what_a_dictionary_would(
    steps: list[tuple[str, str, dict[str, str]]],
) -> None:
    model = KeptTurns()
    with open_past_chats() as past:
        for action, of, texts in steps:
            take_step(past, model, action, of, texts)
            assert rows_of(past) == model.held()
            errors = [each for each in past.check(MODEL).run_sync().unwrap() if each.severity == "error"]
            assert errors == []


def take_step(
    past: SqlitePromptRepository, model: KeptTurns, action: str, of: str, texts: dict[str, str]
) -> None:
    """Do the same to both, and see that both say that they did the same."""
    match action:
        case "commit":
            drafts = [
                draft(IDENTITIES.index(each), text, source=of, identity=each) for each, text in texts.items()
            ]
            assert index(past, drafts, state(of, size=len(texts))) == model.commit(of, texts)
        case "forget":
            assert past.forget(EVERYTHING, sources=[of]).run_sync().unwrap() == model.forget(of)
        case "mark_missing":
            past.mark_missing([of]).run_sync().unwrap()
            model.mark_missing(*({of} & model.seen))
        case "prune":
            expected = past.prune(is_dry_run=True).run_sync().unwrap()
            model.seen -= model.missing
            assert past.prune().run_sync().unwrap() == model.prune() == expected
        case "fail":
            assert index(past, [], state(of, status="damaged")) == SourceChanges()
            model.seen.add(of)
            model.missing.discard(of)
        case _:
            past.reindex_words().run_sync().unwrap()


def rows_of(past: SqlitePromptRepository) -> list[tuple[str, str, list[str], bool]]:
    """Return the turns as the store has them."""
    turns = past.turns("claude_code:c1", limit=99).run_sync().unwrap()
    assert len(turns) == past.statistics().run_sync().unwrap().embeddings
    return sorted(
        (turn.content, turn.source, sorted(map(str, aliases_of(turn))), turn.is_superseded) for turn in turns
    )


def aliases_of(turn: Prompt) -> Sequence[Json]:
    aliases = turn.metadata.get("aliases", [])
    assert isinstance(aliases, list)
    return aliases
