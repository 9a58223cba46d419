"""Values survive their columns exactly."""

from datetime import UTC, datetime

import pytest
from hypothesis import example, given, strategies as st

from chatmemory.input.json_value import from_json, same_json, to_json
from chatmemory_layers.sql.columns import from_us, to_us


@example(datetime(1, 1, 1, tzinfo=UTC))
@example(datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC))
@given(st.datetimes(timezones=st.just(UTC)))
def test_instants_come_back_exactly(instant: datetime) -> None:
    assert from_us(to_us(instant)) == instant


def test_metadata_stays_readable_and_is_one_value() -> None:
    assert to_json({"名": "小明"}) == '{"名": "小明"}'
    assert from_json(to_json({"名": [1, None, 2.5]})) == {"名": [1, None, 2.5]}
    assert to_json(None) is from_json(None) is None
    assert from_json('{"a": 1} \n') == {"a": 1}
    with pytest.raises(ValueError, match="Extra data"):
        from_json('{"a": 1} {"b": 2}')


def test_metadata_is_compared_as_json() -> None:
    compared = {
        ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}'): True,
        ('{"a": 1}', '{"a": 1.0}'): False,
        ('{"a": 1}', '{"a": true}'): False,
        (None, "{}"): False,
        (None, None): True,
    }
    assert {pair: same_json(*pair) for pair in compared} == compared
