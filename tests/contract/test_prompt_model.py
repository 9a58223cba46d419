"""Whatever is committed, lost, forgotten and pruned in whatever order: the store holds what a dictionary would hold."""

from collections.abc import Mapping, Sequence
from typing import final

from attrs import define, field
from hypothesis import given, settings, strategies as st

from chatmemory.messages import Json
from chatmemory.prompt import EVERYTHING, Prompt
from chatmemory.prompt_drafts import SourceChanges
from chatmemory_layers.sqlite.prompt_repository import SqlitePromptRepository
from tests.past_turns import MODEL, draft, index, open_past_chats, state

SOURCES = ("/a", "/b", "/c")
IDENTITIES = ("m1", "m2", "m3", "m4")
TEXTS = ("x", "yy", "重试", "重试 twice", "重试 thrice!")


@final
@define
class Row:
    """A turn as the model keeps it."""

    text: str
    owner: str
    also: set[str] = field(factory=set[str])
    is_superseded: bool = False


@final
@define
class Model:
    """What a store holds, by identity."""

    rows: dict[str, Row] = field(factory=dict[str, Row])
    missing: set[str] = field(factory=set[str])
    seen: set[str] = field(factory=set[str])
    forgotten: set[str] = field(factory=set[str])

    def commit(self, source: str, held: Mapping[str, str]) -> SourceChanges:
        held = {identity: text for identity, text in held.items() if identity not in self.forgotten}
        done = [self._take(source, identity, text) for identity, text in held.items()]
        superseded = 0
        for identity, row in self.rows.items():
            if identity in held:
                continue
            if row.owner == source and row.also:
                row.owner = min(row.also)
                row.also.discard(row.owner)
            elif row.owner == source and not row.is_superseded:
                row.is_superseded = True
                superseded += 1
            row.also.discard(source)
        self.seen.add(source)
        self.missing.discard(source)
        return SourceChanges(
            new=done.count("new"),
            updated=done.count("updated"),
            unchanged=done.count("unchanged"),
            duplicates=done.count("duplicate"),
            superseded=superseded,
        )

    def _take(self, source: str, identity: str, text: str) -> str:
        row = self.rows.get(identity)
        if row is None:
            self.rows[identity] = Row(text, source)
            return "new"
        if row.owner == source:
            done = "unchanged" if (row.text, row.is_superseded) == (text, False) else "updated"
        elif row.is_superseded or len(text) > len(row.text):
            row.also |= set() if row.is_superseded else {row.owner}
            row.also.discard(source)
            done = "updated"
        else:
            done = "unchanged" if source in row.also else "duplicate"
            row.also.add(source)
            return done
        row.owner, row.text, row.is_superseded = source, text, False
        return done

    def forget(self, source: str) -> int:
        gone = {identity for identity, row in self.rows.items() if source in {row.owner, *row.also}}
        self.forgotten |= gone
        return self._delete(gone)

    def prune(self) -> int:
        for row in self.rows.values():
            row.also -= self.missing
            if row.owner in self.missing and row.also:
                row.owner = min(row.also)
                row.also.discard(row.owner)
        gone = {
            identity for identity, row in self.rows.items() if row.is_superseded or row.owner in self.missing
        }
        self.missing.clear()
        return self._delete(gone)

    def _delete(self, gone: set[str]) -> int:
        for identity in gone:
            del self.rows[identity]
        return len(gone)


held = st.dictionaries(st.sampled_from(IDENTITIES), st.sampled_from(TEXTS))
source = st.sampled_from(SOURCES)
commits = st.tuples(st.just("commit"), source, held)
others = st.tuples(
    st.sampled_from(["forget", "mark_missing", "prune", "fail", "reindex"]), source, st.just({})
)


@settings(max_examples=100, deadline=None)
@given(st.lists(commits | commits | others, max_size=12))
def test_the_store_holds_what_a_dictionary_would(
    steps: list[tuple[str, str, dict[str, str]]],
) -> None:
    model = Model()
    with open_past_chats() as past:
        for action, of, texts in steps:
            take_step(past, model, action, of, texts)
            assert rows_of(past) == sorted(
                (row.text, row.owner, sorted(row.also), row.is_superseded) for row in model.rows.values()
            )
            errors = [each for each in past.check(MODEL).run_sync().unwrap() if each.severity == "error"]
            assert errors == []


def take_step(
    past: SqlitePromptRepository, model: Model, action: str, of: str, texts: dict[str, str]
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
            model.missing |= {of} & model.seen
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
