"""A folder of product code can be taken in at a glance: it has 20 files at most beside its subfolders."""

from collections import Counter
from pathlib import Path
from typing import Final

import pytest

PROJECT: Final = Path(__file__).parents[2]
MOST: Final = 20
AT_THE_ROOT: Final = {"__init__", "extra", "namesake"}


def sources(package: str) -> list[Path]:
    found = [file for file in (PROJECT / package).rglob("*.py") if file.name != "__init__.py"]
    assert found
    return found


@pytest.mark.parametrize("package", ["chatmemory", "layers/chatmemory_layers"])
def test_no_folder_has_more_files_than_can_be_overlooked(package: str) -> None:
    folders = Counter(file.parent for file in sources(package))
    assert {folder.name: files for folder, files in folders.items() if files > MOST} == {}


def test_the_root_of_the_package_holds_no_part_of_it() -> None:
    assert {file.stem for file in (PROJECT / "chatmemory").glob("*.py")} <= AT_THE_ROOT
