"""The page has a name for every format, strategy, store, extractor and skill runner that ships."""

import re
from importlib.metadata import entry_points
from importlib.resources import files
from typing import Final, get_args, get_type_hints

from chatmemory.settings.memory_settings import (
    ExtractionSettings,
    SkillSettings,
    StoreSettings,
    StrategySettings,
)

PAGE = files("chatmemory.programs.http") / "page"
SETTINGS: Final = (
    (StrategySettings, "type", "strategy_{}"),
    (StoreSettings, "backend", "{}"),
    (ExtractionSettings, "extractor", "{}"),
    (SkillSettings, "runner", "{}"),
)


def test_every_format_that_ships_has_the_name_of_its_tool() -> None:
    text = (PAGE / "past_chats/tools.js").read_text(encoding="utf-8")
    named = re.findall(r'^  \["(\w+)", "', text, re.MULTILINE)
    shipped = {
        point.name
        for point in entry_points(group="chatmemory.formats")
        if point.value.startswith("chatmemory.")
    }
    assert set(named) == shipped


def test_every_choice_that_the_settings_view_shows_has_words() -> None:
    text = (PAGE / "words/settings.js").read_text(encoding="utf-8")
    named = set(re.findall(r"^  (\w+): \[", text, re.MULTILINE))
    for settings, name, word in SETTINGS:
        wanted = {word.format(choice) for choice in get_args(get_type_hints(settings)[name])}
        assert len(wanted) > 1
        assert wanted - named == set()
