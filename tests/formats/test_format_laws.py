"""The law kit on the formats that ship with chatmemory."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from chatmemory.laws.history_format_laws import HistoryFormatLaws
from tests.formats.histories import EXPECTED, FILES, formats
from tests.formats.small_histories import SMALL
from tests.thorough import rounds

HISTORIES: Final[Mapping[str, tuple[Mapping[str, bytes | str], list[str]]]] = {
    **{name: (files, list(files)) for name, files in SMALL.items()},
    **{
        name: (FILES, [one["file"] for one in EXPECTED if one["format"] == name and one["conversations"]])
        for name in {sample["format"] for sample in EXPECTED}
    },
}
# In gemini_cli a later record replaces or drops earlier ones; the words of opencode are in other files.
CHANGED_BY_CUTS: Final = {"gemini_cli", "opencode"}
TURNS_IN_A_RECORD: Final = {
    "aider": 2,
    "cline": 2,
    "codex_cli": 2,
    "copilot_chat": 4,
    "gemini_takeout": 2,
    "openai_chat": 6,
}
"""How many turns a cut takes, where a record has several, or where the next one shows that a turn has ended; else 1."""


class TestFormats(HistoryFormatLaws):
    tries = rounds(5, thorough=40)

    @pytest.fixture(autouse=True, params=sorted(HISTORIES))
    def each(self, request: pytest.FixtureRequest) -> None:
        name: str = request.param
        self.format = formats().by_name[name]
        self.files, self.histories = HISTORIES[name]
        self.survives_cuts = name not in CHANGED_BY_CUTS
        self.turns_in_a_record = TURNS_IN_A_RECORD.get(name, 1)


def test_every_format_is_held_to_the_laws_and_has_a_test_of_what_it_reads() -> None:
    """The laws hold for a format that loses every second turn: only examples say what a file means."""
    assert set(HISTORIES) == set(formats().by_name)
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    assert [name for name in HISTORIES if not re.search(rf" import {name}(_dev)?\b", tests)] == []
