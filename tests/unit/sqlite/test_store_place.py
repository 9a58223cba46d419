"""Where the file of a store lies, as the settings write it."""

from pathlib import Path
from typing import Final

import pytest

from chatmemory.effect import EffectFailed
from chatmemory.settings.memory_settings import SqliteSettings
from chatmemory_layers.sqlite.engine.store_file import store_file

PLACES: Final = {
    "~/记忆.db": "home/记忆.db",
    "~": "home",
    "a/../b.db": "here/a/../b.db",
    "~ann/b.db": "here/~ann/b.db",  # one's own home folder alone has a short name
    "a/~/b.db": "here/a/~/b.db",
    ".": "here",
}


def test_a_path_is_found_below_the_home_folder_or_where_the_program_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    found = {written: store_file(SqliteSettings(path=written)) for written in PLACES}
    assert found == {written: tmp_path / place for written, place in PLACES.items()}
    for written in ("", ":memory:"):
        with pytest.raises(EffectFailed, match="no file is named"):
            store_file(SqliteSettings(path=written))
