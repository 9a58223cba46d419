"""The page has a name for whatever ships, and its modules are linked where each statement is understood."""

import json
import re
from graphlib import CycleError
from importlib.metadata import entry_points
from importlib.resources import files
from typing import Final, get_args, get_type_hints

import pytest

from chatmemory.context.context_preview import ContextPreview
from chatmemory.programs.commands.options import STRATEGIES
from chatmemory.programs.http.page_files import UnknownStatementError, linked
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
    points = entry_points(group="chatmemory.formats")
    shipped = {point.name for point in points if point.value.startswith("chatmemory.")}
    assert set(named) == shipped


def test_every_choice_that_the_settings_view_shows_has_words() -> None:
    text = (PAGE / "words/settings.js").read_text(encoding="utf-8")
    named = set(re.findall(r"^  (\w+): \[", text, re.MULTILINE))
    for settings, name, word in SETTINGS:
        wanted = {word.format(choice) for choice in get_args(get_type_hints(settings)[name])}
        assert len(wanted) > 1
        assert wanted - named == set()


def test_every_strategy_can_be_tried_at_a_terminal_and_on_the_page() -> None:
    names = get_args(get_type_hints(StrategySettings)["type"])
    (tried, _) = get_args(get_type_hints(ContextPreview)["strategy"])
    trial = (PAGE / "model_view/trial.js").read_text(encoding="utf-8")
    words = (PAGE / "words/model_view.js").read_text(encoding="utf-8")
    assert get_args(tried) == STRATEGIES == names
    assert f"const STRATEGIES = {json.dumps(names)};" in trial
    assert set(re.findall(r"^  strategy_(\w+): \[", words, re.MULTILINE)) == set(names)


ENTRY = "/page/app.js"


def test_a_statement_that_it_does_not_know_is_refused() -> None:
    for statement in (
        'import "./other.js";',
        'import other from "./other.js";',
        'import * as other from "./other.js";',
        'import { a } from "elsewhere";',
        'import { a as b } from "./other.js";',
        'import { missing } from "./other.js";',
        "export default 1;",
        "export let changes = 1;",
        'export * from "./other.js";',
        'export { a } from "./other.js";\nconst more = 1;',
        'const other = await import("./other.js");',
        "const here = import.meta.url;",
    ):
        modules = {ENTRY: f"{statement}\n", "/page/other.js": "export const a = 1;\n"}
        with pytest.raises(UnknownStatementError, match=ENTRY):
            linked(modules, ENTRY)
    in_a_circle = {
        ENTRY: 'import { b } from "./b.js";\nexport const a = 1;\n',
        "/page/b.js": 'import { a } from "./app.js";\nexport const b = 1;\n',
    }
    with pytest.raises(CycleError):
        linked(in_a_circle, ENTRY)


def test_what_nobody_imports_is_left_out() -> None:
    text = linked({ENTRY: "run();\n", "/page/unused.js": "export const unused = 1;\n"}, ENTRY)
    assert "run();" in text
    assert "unused" not in text
