"""What damage, narrower wishes, other rules and imports do to an index: no turn goes that somebody may still have."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from chatmemory.embedding.embedder import EmbedderTag, Matrix
from chatmemory.pastchats.indexing.prompt_drafts import SourceChanges
from chatmemory.pastchats.indexing.source_reading import MOST_ISSUES
from chatmemory.settings.past_chats_settings import PastChatsSettings
from chatmemory.testing import Stub
from tests.contract.conftest import ANSWERED, ASKED, CHINESE, exported
from tests.indexed import Indexed, open_index, role_list
from tests.past_turns import disagreement

BAD_LINE = '{"type": broken\n'
KEY = "AKIA" + "Q7XW3ZD5RT2YB6NM"
OTHER_KEY = "AKIA" + "Z5RT2YB6NMQ7XW3D"
SECRET = ("user", f"my key is {KEY}, 请保密")
EDITED_AWAY = ("user", f"my key is {OTHER_KEY}, 请保密")
REDACTED = ("user", "my key is [redacted: aws access key], 请保密")


def test_a_damaged_cut_off_or_emptied_file_loses_no_turns_until_it_is_read_whole(past: Indexed) -> None:
    past.write_text("chat.json", role_list([ASKED, ANSWERED, CHINESE]))
    past.write_text("emptied.json", role_list([CHINESE]))
    cut = past.write("s0.jsonl", ASKED, ANSWERED, CHINESE)
    path = past.write("s1.jsonl", ASKED, ANSWERED, CHINESE)
    past.index()
    whole = past.rows()
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(lines[0] + BAD_LINE + lines[2])
    os.truncate(cut, cut.stat().st_size // 2)
    past.write_text("chat.json", role_list([ASKED, ANSWERED, CHINESE])[:150])
    past.write_text("emptied.json", "")
    assert past.index().turns.superseded == 0
    assert past.rows() == whole
    findings = past.live.repository.check("none").run_sync().unwrap()
    assert any("1 turns are of files that no longer hold a chat history" in one.message for one in findings)
    path.write_text(lines[0] + lines[2])
    assert past.index().turns.superseded == 1
    assert past.rows(where="conversation_id = 'claude_code:s1'") == [ASKED, CHINESE]


def test_a_damaged_file_is_not_read_again_while_nobody_mends_it(past: Indexed) -> None:
    path = past.write("s1.jsonl", ASKED)
    path.write_text(path.read_text() + BAD_LINE * 2)
    assert past.index().read == {"claude_code": 1}
    assert (past.index().read, past.index().unchanged) == ({}, 1)


def test_a_file_of_which_nothing_can_be_read_has_failed_and_loses_no_turns(past: Indexed) -> None:
    past.write_text("notes.md", "## User\n\nWhy?\n\n## Assistant\n\n因为。\n")
    past.index()
    report = past.index(format="chatgpt")
    assert (report.failed, report.read, report.turns) == (1, {}, SourceChanges())
    assert past.rows("content") == [("Why?",), ("因为。",)]


def test_a_million_bad_lines_are_a_few_sentences(past: Indexed) -> None:
    bad_lines = 20_000
    for name in ("a.jsonl", "b.jsonl"):
        path = past.write(name, ASKED)
        path.write_text(path.read_text() + BAD_LINE * bad_lines)
    issues = past.index().issues
    assert len(issues) == 2 * (MOST_ISSUES + 1)
    assert f": {bad_lines - MOST_ISSUES:,} more" in str(issues[-1])


def test_who_asks_for_some_roles_or_kinds_takes_the_others_from_nobody(past: Indexed) -> None:
    past.write("s1.jsonl", ASKED, ANSWERED)
    past.write("copy/s1.jsonl", ASKED, ANSWERED)
    command = "# aider chat started at 2026-01-02 03:04:05\n\n#### /add x.py\n"
    past.write_text("aider/.aider.chat.history.md", command)
    past.index()
    everything = past.rows("content, source_path")
    past.index(kinds=frozenset({"typed"}))
    assert past.rows("content, source_path") == everything
    past.write("s1.jsonl", ASKED, ANSWERED, CHINESE)
    assert past.index(roles=("user",)).turns.superseded == 0
    assert set(everything) < set(past.rows("content, source_path"))
    assert past.run(past.live.prune()).unwrap() == 0
    past.write("s1.jsonl", CHINESE)
    past.write("copy/s1.jsonl", CHINESE)
    assert past.index(roles=("user",)).turns.superseded == 1  # a user's
    assert ANSWERED in past.rows()


def test_what_was_kept_before_secrets_were_taken_out_stays_without_them(tmp_path: Path) -> None:
    with open_index(tmp_path, settings=PastChatsSettings(redact_secrets=False)) as past:
        past.write_text("chat.json", role_list([SECRET, EDITED_AWAY, ANSWERED]))
        past.write_text("copy.json", role_list([SECRET]))
        past.write("native.jsonl", SECRET, SECRET)
        past.index()
        past.write_text("chat.json", role_list([SECRET, ANSWERED]))
        past.index()
        assert is_in_file(past, KEY)
    with open_index(tmp_path) as past:
        past.write("native.jsonl", SECRET)
        past.index(roles=("assistant",))
    assert not is_in_file(past, KEY)
    with open_index(tmp_path) as past:
        past.index()
        assert disagreement(past.database) == ""
        assert sorted(past.rows()) == [ANSWERED, REDACTED, REDACTED, REDACTED]
        assert superseded(past) == [REDACTED[1], REDACTED[1]]
        assert (
            past.run(past.live.re_embed()).unwrap() == 3
        )  # two of them, and the one that was left out at first
    assert not is_in_file(past, KEY)
    assert not is_in_file(past, OTHER_KEY)


def superseded(past: Indexed) -> list[str]:
    """Return the texts of the turns that their sources no longer hold, in alphabetical order."""
    lines = [json.loads(line) for line in exported(past)]
    return sorted(line["content"] for line in lines if line["is_superseded"])


def is_in_file(past: Indexed, word: str) -> bool:
    """Tell whether the letters of *word* stand anywhere in the file or its log, also as a word of the index."""
    return any(
        word.lower()[4:].encode() in file.read_bytes().lower() for file in past.database.parent.iterdir()
    )


def test_a_turn_that_is_there_is_not_embedded_again_and_equal_texts_are_embedded_once(past: Indexed) -> None:
    past.write("s1.jsonl", ASKED, ANSWERED)
    past.index()
    past.write("s1.jsonl", ASKED, ANSWERED, CHINESE)
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> Matrix:
        asked.extend(texts)
        return np.ones((len(texts), 4), np.float32)

    embedder = Stub(EmbedderTag, model="another", unavailability=lambda: None, embed=embed)
    another = past.with_embedder(embedder.service)
    assert another.index().turns == SourceChanges(new=1, unchanged=2)
    assert asked == [CHINESE[1]]
    past.write_text("one.json", role_list([("user", "ok"), ("assistant", "好"), ("user", "ok")]))
    past.write_text("two.json", role_list([("user", "ok"), ("user", "new")]))
    another.index()
    assert sorted(asked) == sorted([CHINESE[1], "new", "ok", "好"])


def test_an_import_takes_nothing_away_and_is_kept_although_its_file_was_never_here(
    past: Indexed, tmp_path: Path
) -> None:
    past.write("s1.jsonl", ASKED, ANSWERED)
    past.index()
    first, second = exported(past)
    with open_index(tmp_path / "other") as other:
        other.run(other.live.import_records([first])).unwrap()
        other.run(other.live.import_records([second])).unwrap()
        assert other.index(past.folder.parent / "nowhere").missing == 0
        assert other.run(other.live.prune()).unwrap() == 0
        assert other.rows() == [ASKED, ANSWERED]
        past.write("s1.jsonl", ASKED)
        assert other.index(past.folder).turns == SourceChanges(unchanged=1, superseded=1)
        assert superseded(other) == [ANSWERED[1]]
