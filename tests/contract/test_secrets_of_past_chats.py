"""No secret is in an index: not in the bytes of its file, not among its words, not in what it gives away or takes in."""

import json
import re
from pathlib import Path
from typing import Final

from chatmemory.settings.past_chats_settings import PastChatsSettings
from tests.contract.conftest import exported
from tests.indexed import Indexed, open_index
from tests.pastchats.corpus.true_secrets import TrueText, true_texts
from tests.unit.sqlite.desktop_files import fetched

MOST_KEPT: Final = 0.02

KEEPS_SECRETS: Final = PastChatsSettings(redact_secrets=False)
TEXTS: Final = true_texts()


def test_an_index_of_all_kinds_of_secrets_holds_none(past: Indexed) -> None:
    past.write("s1.jsonl", *((("user", "assistant")[n % 2], one.text) for n, one in enumerate(TEXTS)))
    report = past.index()
    assert report.turns.new == len(TEXTS)
    assert report.redacted >= (1 - MOST_KEPT) * len(TEXTS)
    assert_none_is_kept(past)


def test_what_an_import_brings_is_redacted_as_a_history_is(tmp_path: Path) -> None:
    with open_index(tmp_path / "open", settings=KEEPS_SECRETS) as other:
        other.write("s1.jsonl", *(("user", one.text) for one in TEXTS))
        other.index()
        lines = exported(other)
    assert all(one.secret in "".join(json.loads(line)["content"] for line in lines) for one in TEXTS)
    with open_index(tmp_path / "closed") as past:
        first = past.run(past.live.import_records(lines)).unwrap()
        assert first.redacted >= (1 - MOST_KEPT) * len(TEXTS)
        assert_none_is_kept(past)
        again = past.run(past.live.import_records(lines)).unwrap()
        assert (again.turns.new, again.turns.updated) == (0, 0)


def test_an_import_keeps_secrets_where_the_settings_say_so(tmp_path: Path) -> None:
    with open_index(tmp_path, settings=KEEPS_SECRETS) as past:
        past.write("s1.jsonl", ("user", TEXTS[0].text))
        past.index()
        lines = exported(past)
        report = past.run(past.live.import_records(lines)).unwrap()
        assert report.redacted == 0
        assert past.rows("content") == [(TEXTS[0].text,)]


def test_a_run_redacts_also_what_it_does_not_read(tmp_path: Path) -> None:
    """Its file is gone, or another run reads it, or it was imported."""
    with open_index(tmp_path / "other", settings=KEEPS_SECRETS) as other:
        other.write("brought.jsonl", ("user", TEXTS[0].text))
        other.index()
        lines = exported(other)
    with open_index(tmp_path, settings=KEEPS_SECRETS) as past:
        past.run(past.live.import_records(lines)).unwrap()
        gone = past.write("near/gone.jsonl", ("user", TEXTS[1].text))
        past.write("far/s.jsonl", ("user", TEXTS[2].text))
        past.index()
        gone.unlink()
    with open_index(tmp_path) as past:
        assert past.index(gone.parent).redacted == 3
        assert past.index(gone.parent).redacted == 0
        assert past.index().redacted == 1  # read again
        assert len(past.rows()) == 3
    stored = bytes_of(past)
    assert [one for one in TEXTS[:3] if one.secret.encode() in stored] == []


def assert_none_is_kept(past: Indexed) -> None:
    stored = bytes_of(past)
    assert_few("bytes", [one for one in TEXTS if one.secret.encode() in stored])
    assert_few("words", [one for one in TEXTS if has_word(past, longest_word(one.secret))])
    lines = [json.loads(line) for line in exported(past)]
    assert_few("export", [one for one in TEXTS if any(one.secret in str(line) for line in lines)])


def bytes_of(past: Indexed) -> bytes:
    """Return what is in the files of the index."""
    return b"".join(path.read_bytes() for path in past.database.parent.glob(past.database.name + "*"))


def assert_few(where: str, kept: list[TrueText]) -> None:
    assert len(kept) <= MOST_KEPT * len(TEXTS), (where, kept)


def longest_word(secret: str) -> str:
    words: list[str] = re.findall(r"[A-Za-z0-9]+", secret)
    return max(words, key=len)


def has_word(past: Indexed, word: str) -> bool:
    statement = "SELECT 1 FROM prompts_fts WHERE prompts_fts MATCH ? LIMIT 1"
    return bool(fetched(past.database, statement, f'"{word}"'))
