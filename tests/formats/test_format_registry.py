"""Formats come from distributions, and anybody's distribution may bring one."""

import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, EntryPoint, EntryPoints
from pathlib import Path

import pytest

from chatmemory.effect import Failure, Success
from chatmemory.pastchats.formats.detection import detect
from chatmemory.pastchats.formats.histories import PromptTurn
from chatmemory.pastchats.formats.reading.text_reader import TextReader
from chatmemory.pastchats.formats.registry import GROUP, Formats, formats_of, installed_formats

MODULE = '''
"""Reads the logs of a chat room: ``<name> text`` in each line below ``chat log:``."""

from chatmemory.pastchats.formats.history_format import Claim, KnownRoot
from chatmemory.pastchats.formats.reading.text_lines import text_lines
from chatmemory.pastchats.formats.histories import PromptTurn


class RoomLog:
    name = "{name}"
    version = 1
    has_global_ids = False
    known_roots = (KnownRoot("~/.room/logs", ("*.log",)),)

    def claim(self, head):
        return Claim(95, "the line 'chat log:'") if head.text.startswith("chat log:") else None

    def parse(self, reader):
        for line in text_lines(reader):
            if line.text.startswith("<"):
                name, _, text = line.text[1:].partition("> ")
                yield PromptTurn(conversation_id="{name}:" + reader.path, role="user", content=text, speaker=name)


room_log = RoomLog()
'''


def install(folder: Path, distribution: str, points: str, source: str) -> None:
    """Put a distribution into *folder*, as an installer does: the module of its entry point, and its metadata."""
    module = points.partition("= ")[2].partition(":")[0]
    (folder / f"{module}.py").write_text(source)
    info = folder / f"{distribution}-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{points}\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that distributions can be installed into."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in set(sys.modules) - before:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


def loaded() -> Formats:
    outcome = installed_formats()
    assert isinstance(outcome, Success), outcome
    return outcome.unwrap()


def test_a_third_party_brings_a_format_of_its_own(site: Path) -> None:
    install(site, "room-log", "room_log = room_log_format:room_log", MODULE.format(name="room_log"))
    reader = TextReader("today", {"today": "chat log:\n<小林> 服务器又挂了\n<Ana> Restart the worker.\n"})
    detection = detect(reader, loaded().by_name.values())
    assert detection.format is not None
    assert detection.format.name == "room_log"
    turns = [one for one in detection.format.parse(reader) if isinstance(one, PromptTurn)]
    said = [("小林", "服务器又挂了"), ("Ana", "Restart the worker.")]
    assert [(turn.speaker, turn.content) for turn in turns] == said


def test_a_name_that_two_distributions_register_is_an_error_that_names_both(site: Path) -> None:
    install(site, "other-aider", "aider = other_aider:room_log", MODULE.format(name="aider"))
    outcome = installed_formats()
    assert isinstance(outcome, Failure)
    assert "chatmemory-effect" in str(outcome.failure())
    assert "other-aider 1.2 (other_aider:room_log)" in str(outcome.failure())


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("", "AttributeError"),
        ("import nowhere_to_be_found", "ModuleNotFoundError"),
        ("1 / 0", "ZeroDivisionError"),
        ("room_log = object()", "it has no name, version"),
        (MODULE.format(name="other"), "calls itself 'other'"),
    ],
)
def test_a_broken_plugin_is_an_issue_and_the_others_load(site: Path, source: str, says: str) -> None:
    install(site, "broken-room", "room = room_broken:room_log", source)
    found = loaded()
    (issue,) = found.issues
    assert issue.code == "reader_failed"
    assert "format 'room' of broken-room 1.2" in str(issue)
    assert says in str(issue)
    assert "claude_code" in found.by_name
    assert "room" not in found.by_name


def test_formats_stand_in_the_order_of_their_names() -> None:
    folders = {"markdown": "tools", "aider": "tools", "chatgpt": "web"}
    points = EntryPoints(
        EntryPoint(name, f"chatmemory.pastchats.formats.{folder}.{name}:{name}", GROUP)
        for name, folder in folders.items()
    )
    assert list(formats_of(points).unwrap().by_name) == ["aider", "chatgpt", "markdown"]


def test_no_distribution_is_asked_for_its_name_that_no_message_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    # Its metadata holds a README: reading it once for each format took nine tenths of the time to load them.
    monkeypatch.setattr(Distribution, "metadata", property(lambda _: pytest.fail("it reads metadata")))
    assert len(loaded().by_name) > 20
    assert loaded().issues == ()
