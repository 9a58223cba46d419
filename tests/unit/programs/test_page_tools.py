"""The page names the tool of every format that ships."""

import re
from importlib.metadata import entry_points
from importlib.resources import files

PAGE = files("chatmemory.programs.http") / "page"


def test_every_format_that_ships_has_the_name_of_its_tool() -> None:
    text = (PAGE / "past_chats/tools.js").read_text(encoding="utf-8")
    named = re.findall(r'^  \["(\w+)", "', text, re.MULTILINE)
    shipped = {
        point.name
        for point in entry_points(group="chatmemory.formats")
        if point.value.startswith("chatmemory.")
    }
    assert set(named) == shipped
