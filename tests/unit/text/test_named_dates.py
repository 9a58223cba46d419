"""The dates that a query names."""

from datetime import UTC, datetime, timedelta

from chatmemory.text.named_dates import named_dates
from tests.for_each import for_each

NOW = datetime(2026, 11, 20, 15, tzinfo=UTC)  # a Friday


@for_each(
    ("query", "day"),
    [
        ("what happened on 8 May 2023", (2023, 5, 8)),
        ("May 8th, 2023", (2023, 5, 8)),
        ("8th of may", (2025, 5, 8)),
        ("in October", (2024, 10, 15)),
        ("log of 2023-05-08", (2023, 5, 8)),
        ("2023/05", (2023, 5, 20)),
        ("2023年5月8日", (2023, 5, 8)),
        ("5月8号说的", (2024, 5, 8)),
        ("yesterday", (2026, 11, 19)),
        ("昨天", (2026, 11, 19)),
        ("前天的报错", (2026, 11, 18)),
        ("three days ago", (2026, 11, 17)),
        ("三天前", (2026, 11, 17)),
        ("两周前", (2026, 11, 6)),
        ("2个月前", (2026, 9, 21)),
        ("last week", (2026, 11, 13)),
        ("上周", (2026, 11, 13)),
        ("上周三", (2026, 11, 11)),
        ("last Wednesday", (2026, 11, 18)),
        ("去年", (2025, 11, 20)),
        ("半年前", (2026, 5, 24)),
    ],
)
def test_a_date_is_understood(query: str, day: tuple[int, int, int]) -> None:
    windows = named_dates(query, now=NOW)
    instant = datetime(*day, 12, tzinfo=UTC)
    assert any(window.holds(instant) for window in windows)
    assert not any(window.holds(instant + timedelta(days=500)) for window in windows if window.year)


def test_what_is_no_date_is_none_and_a_day_that_is_none_holds_nothing() -> None:
    no_dates = (
        "",
        "version 1.2.3",
        "what may be wrong",
        "port 8080",
        "the last retry",
        "9999 years ago",
        "明天",
    )
    assert [query for query in (*no_dates, "0月0日") if named_dates(query, now=NOW) != ()] == []
    for query in ("30 February 2023", "2月31日", "0000-01-01", "31 June"):
        assert not any(window.holds(NOW) for window in named_dates(query, now=NOW)), query
