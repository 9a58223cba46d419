"""Settings made in a program keep to the same choices as those of a file."""

from typing import Any, Literal, get_args, get_origin

import attrs
import pytest

from chatmemory.settings.memory_settings import Settings, StrategySettings
from tests.for_each import for_each


def choices(kind: type[Any] = Settings) -> list[tuple[type[Any], str, tuple[str, ...]]]:
    """Return each setting that is one of several words: its class, its name and the words."""
    found: list[tuple[type[Any], str, tuple[str, ...]]] = []
    for field in attrs.fields(kind):
        if get_origin(field.type) is Literal:
            found.append((kind, field.name, get_args(field.type)))
        elif isinstance(field.type, type) and attrs.has(field.type):
            found += choices(field.type)
    return found


@for_each(("kind", "name", "words"), choices())
def test_a_word_that_is_no_choice_is_refused_where_it_is_written(
    kind: type[Any], name: str, words: tuple[str, ...]
) -> None:
    assert [getattr(kind(**{name: word}), name) for word in words] == list(words)
    with pytest.raises(ValueError, match=f"^{name}: expected one of '{words[0]}', .*, not '不存在'$"):
        kind(**{name: "不存在"})


def test_a_changed_setting_keeps_to_the_choices_as_well() -> None:
    with pytest.raises(ValueError, match="not 'sumarize'"):
        attrs.evolve(StrategySettings(), type="sumarize")
