"""Files grow, are edited, cut off, copied, renamed, vanish and come back, in any order: the index holds what a dictionary would.

Two kinds of files: transcripts of which each record has an id of its own, and lists that are written anew as a whole.
"""

import json
import os
import tempfile
from itertools import count
from pathlib import Path
from typing import Final, TypeAlias

from hypothesis import given, settings, strategies as st

from chatmemory.pastchats.indexing.prompt_drafts import SourceChanges
from chatmemory.pastchats.prompt import EVERYTHING
from tests.indexed import Indexed, claude_record, lines_of, open_index, role_list
from tests.kept_turns import KeptTurns
from tests.past_turns import disagreement
from tests.thorough import rounds
from tests.unit.sqlite.desktop_files import fetched

Turns: TypeAlias = list[tuple[int, str]]
"""Numbers and texts; a number names a record as long as it lives."""

NAMES: Final = ("a.jsonl", "会话.jsonl", "目录/list.json")
TEXTS: Final = ("ok", "好的", "retry", "重试一次", "retry thrice!")
ACTIONS: Final = (
    "append",
    "insert",
    "edit",
    "delete",
    "cut",
    "copy",
    "rename",
    "vanish",
    "return",
    "forget",
    "prune",
)
A_BIT: Final = (
    12  # characters of the next record, or of the next element without the bracket behind the former
)
SELECT_HELD: Final = """
SELECT content, source_path, superseded_at IS NOT NULL, (
    SELECT json_group_array(source_path) FROM prompt_aliases WHERE prompt_id = id
) FROM prompts
"""

Step: TypeAlias = tuple[str, str, str, int, str]
places = st.integers(0, 2)
steps = st.lists(
    st.tuples(
        st.sampled_from(ACTIONS),
        st.sampled_from(NAMES),
        st.sampled_from(NAMES),
        places,
        st.sampled_from(TEXTS),
    ),
    min_size=4,
    max_size=12,
)


class Disk:
    """The files, what is known of them, and the model beside the index."""

    def __init__(self, past: Indexed) -> None:
        self.past = past
        self.model = KeptTurns()
        self.turns: dict[str, Turns] = {}
        self.removed: dict[str, Turns] = {}
        self.whole_turns: dict[str, int] = {}  # of files that were cut off: so many are whole
        self.changed_at: dict[str, int] = {}
        self.read_at: dict[str, int] = {}
        self.time = count(1_000_000)

    def source(self, name: str) -> str:
        return str(self.past.folder / name)

    def take_step(self, step: Step) -> None:
        action, name, other, place, text = step
        turns = self.turns.get(name, [])
        at = place % len(turns) if turns else 0
        match action:
            case "append":
                self.write(name, [*turns, (next(self.time), text)])
            case "insert":
                self.write(name, [*turns[:at], (next(self.time), text), *turns[at:]])
            case "edit" if turns:
                self.write(name, [*turns[:at], (turns[at][0], text), *turns[at + 1 :]])
            case "delete" if len(turns) > 1:
                self.write(name, [*turns[:at], *turns[at + 1 :]])
            case "cut" if turns:
                self.write(name, turns, whole_turns=at)
            case "copy" if turns and suffix(name) == suffix(other):
                self.write(other, turns)
            case "rename" if turns and suffix(name) == suffix(other) and name != other:
                self.write(other, turns)
                self.remove(name)
            case "vanish" if turns:
                self.remove(name)
            case "return" if name in self.removed and name not in self.turns:
                self.write(name, self.removed[name])
            case "forget":
                forget = self.past.live.forget(EVERYTHING, sources=(self.source(name),))
                assert self.past.run(forget).unwrap() == self.model.forget(self.source(name))
            case "prune":
                assert self.past.run(self.past.live.prune()).unwrap() == self.model.prune()
            case _:
                pass

    def write(self, name: str, turns: Turns, *, whole_turns: int | None = None) -> None:
        """Write *turns*; *whole_turns*: the file ends in the middle of the turn after so many."""
        self.turns[name] = turns
        self.changed_at[name] = next(self.time)
        content = content_of(name, turns)
        self.whole_turns.pop(name, None)
        if whole_turns is not None:
            self.whole_turns[name] = whole_turns
            content = content[: len(content_of(name, turns[:whole_turns])) + A_BIT]
        path = self.past.write_text(name, content)
        os.utime(path, ns=(self.changed_at[name],) * 2)

    def remove(self, name: str) -> None:
        (self.past.folder / name).unlink()
        self.removed[name] = self.turns.pop(name)

    def index(self) -> None:
        """Index the files, and do to the model what that should do."""
        report = self.past.index()
        new = superseded = 0
        for name in sorted(self.turns, key=self.source):
            if self.read_at.get(name) == self.changed_at[name]:
                continue
            self.read_at[name] = self.changed_at[name]
            whole_turns = self.whole_turns.get(name)
            held = self.identified(name, self.turns[name][:whole_turns])
            counts = self.model.commit(self.source(name), held, is_whole=whole_turns is None)
            new, superseded = new + counts[0], superseded + counts[1]
        gone = [name for name in self.read_at if name not in self.turns]
        self.model.mark_missing(*map(self.source, gone))
        for name in gone:
            del self.read_at[name]
        assert (report.turns.new, report.turns.superseded) == (new, superseded)

    def identified(self, name: str, turns: Turns) -> dict[str, str]:
        if suffix(name) == ".jsonl":
            return {f"record {number}": text for number, text in turns}
        texts = [text for _, text in turns]
        return {f"{name} {text} {texts[:place].count(text)}": text for place, text in enumerate(texts)}

    def held(self) -> list[tuple[str, str, list[str], bool]]:
        return sorted(
            (text, source, sorted(json.loads(also)), bool(is_superseded))
            for text, source, is_superseded, also in fetched(self.past.database, SELECT_HELD)
        )


def content_of(name: str, turns: Turns) -> str:
    if suffix(name) == ".jsonl":
        return lines_of(claude_record("s", number, "user", text) for number, text in turns)
    return role_list([("user", text) for _, text in turns])


def suffix(name: str) -> str:
    return Path(name).suffix


@settings(max_examples=rounds(10, thorough=100))
@given(steps)
def test_the_index_holds_what_a_dictionary_would(steps: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder, open_index(Path(folder)) as past:
        disk = Disk(past)
        for name in NAMES:
            disk.write(name, [(next(disk.time), text) for text in TEXTS[:2]])
        for number, step in enumerate(steps):
            disk.take_step(step)
            if number % 3:  # else the next step comes before anybody has looked
                disk.index()
                assert disk.held() == disk.model.held()
                before = past.everything()
                assert past.index().turns == SourceChanges()
                assert past.everything() == before
        assert disagreement(past.database) == ""
