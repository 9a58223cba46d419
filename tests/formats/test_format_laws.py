"""The law kit on the formats that ship with chatmemory."""

from collections.abc import Mapping
from typing import Final

import pytest

from chatmemory.laws.formats.history_format_laws import HistoryFormatLaws
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
TAKES_BACK: Final = {"gemini_cli"}
"""Formats in which a later record replaces or drops earlier ones."""
WHOLE_CONVERSATIONS: Final = {"copilot_chat", "openai_chat"}
"""Formats of which a record is a question and its answer, or all that was said."""


class TestFormats(HistoryFormatLaws):
    tries = rounds(10, thorough=40)

    @pytest.fixture(autouse=True, params=sorted(HISTORIES))
    def each(self, request: pytest.FixtureRequest) -> None:
        name: str = request.param
        self.format = formats().by_name[name]
        self.files, self.histories = HISTORIES[name]
        self.survives_cuts = name not in TAKES_BACK
        self.turns_in_a_record = 20 if name in WHOLE_CONVERSATIONS else 2


def test_every_format_is_held_to_the_laws() -> None:
    assert set(HISTORIES) == set(formats().by_name)
