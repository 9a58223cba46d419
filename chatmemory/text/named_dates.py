"""The dates that a query names, absolute or relative to now, in English and Chinese, and what was said at them.

People date things loosely, and talk about a day after it is over: a window begins some days before the date, and ends twice
as many days after it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DATED_CHARACTERS: Final = 4096
"""The number of characters of a query in which dates are searched."""

DATE_BONUS: Final = 0.2
"""What a text gets for being said at the date that the query names: nDCG + 0.8."""

DAY_SLACK: Final = 3  # days; with the next, + 0.8 R@5 on questions about conversations
MONTH_SLACK: Final = 10
DAYS_OF_MONTH: Final = 31
FEW: Final = 3

_NAMES: Final = (
    "january february march april may june july august september october november december".split()  # noqa: SIM905  twelve quotes say no more
)
_MONTHS: Final = (
    {name: number for number, name in enumerate(_NAMES, 1)}
    | {name[:3]: number for number, name in enumerate(_NAMES, 1)}
    | {"sept": 9}
)
_WEEKDAYS: Final = {
    name: number
    for number, names in enumerate(
        ("monday 一", "tuesday 二", "wednesday 三", "thursday 四", "friday 五", "saturday 六", "sunday 日 天")
    )
    for name in names.split()
}
_NUMBERS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "few": FEW, "couple of": 2,
    "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10, "几": FEW, "半": 1,
}  # fmt: skip
_DAYS: Final = {
    "day": 1, "week": 7, "weekend": 7, "month": 30, "year": 365,
    "天": 1, "日": 1, "周": 7, "星期": 7, "礼拜": 7, "周末": 7, "月": 30, "年": 365,
}  # fmt: skip
_DAYS_AGO: Final = {
    "today": 0, "tonight": 0, "this morning": 0, "yesterday": 1, "last night": 1,
    "今天": 0, "今晚": 0, "今早": 0, "昨天": 1, "昨晚": 1, "昨日": 1, "前天": 2, "大前天": 3,
}  # fmt: skip

# The patterns are compiled at first use.
MAY_NAME_A_DATE: Final = (
    r"(?i)\d|ago\b|last|past|this|today|tonight|yesterday|day\b|[周年月天日昨晚早]|星期|礼拜|"
    + "|".join([name[:3] for name in _NAMES])
)
"""A quick look: a query in which it finds nothing names no date, and most queries name none."""

_MONTH: Final = rf"({'|'.join(sorted(_MONTHS, key=len, reverse=True))})"
_DAY_MONTH: Final = rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH}\b\.?,?(?: (\d{{4}})\b)?"
_MONTH_DAY: Final = rf"\b{_MONTH}\.? (\d{{1,2}})(?:st|nd|rd|th)?\b,?(?: (\d{{4}})\b)?"
_WHOLE_MONTH: Final = rf"\b(?:in|of|during|since|by|last|early|late|mid) {_MONTH}\b(?:,? (\d{{4}})\b)?"
_ISO: Final = r"(?<![\d.])(\d{4})([-/.])(\d{1,2})(?:\2(\d{1,2}))?(?![\d.])"
_CHINESE: Final = r"(?:(\d{4})年)?(\d{1,2})月(?:份|(\d{1,2})[日号]?)?(?!前)"
_AGO: Final = r"\b(\d{1,4}|an?|one|two|three|four|five|six|seven|eight|nine|ten|few|couple of) (day|week|month|year)s? ago\b"
_CHINESE_AGO: Final = r"(\d{1,4}|[一二两三四五六七八九十几半])个?(天|日|周|星期|礼拜|月|年)(?:之前|以前|前)"
_LAST: Final = r"\b(last|past|this) (weekend|week|month|year)\b"
_CHINESE_LAST: Final = r"(上上?|这|本)个?(?:(周末)|(?:周|星期|礼拜)([一二三四五六日天])|(周|星期|礼拜|月))"
_CHINESE_YEAR: Final = r"(前|去|今)年"
_LAST_WEEKDAY: Final = r"\b(?:last|on) (monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b"
_SIMPLE: Final = r"\b(today|tonight|this morning|yesterday|last night)\b|大?前天|今[天晚早]|昨[天晚日]"


class DateWindow(NamedTuple):
    """A day or a month, with some days around it.

    Attributes:
        year: None when the query names none: the date of any year.
        day: None: the whole month.
        slack_days: the number of days before it that belong to the window; twice as many after it do.
    """

    year: int | None
    month: int
    day: int | None
    slack_days: int

    def holds(self, instant: datetime) -> bool:
        """Return whether *instant*, with a time zone, is in the window."""
        years = (instant.year - 1, instant.year, instant.year + 1) if self.year is None else (self.year,)
        return any(self._holds(year, instant) for year in years)

    def _holds(self, year: int, instant: datetime) -> bool:
        try:
            first = datetime(year, self.month, self.day or 1, tzinfo=UTC)
            begin = first - timedelta(days=self.slack_days)
            end = first + timedelta(days=(1 if self.day else DAYS_OF_MONTH) + 2 * self.slack_days)
        except (ValueError, OverflowError):  # 30 February, or the year 0
            return False
        return begin <= instant <= end


def named_dates(query: str, *, now: datetime) -> tuple[DateWindow, ...]:
    """Return the distinct dates that the first ``DATED_CHARACTERS`` characters of *query* name.

    Relative dates are counted from *now*, which has a time zone.

    >>> named_dates("what broke on 8 May 2023?", now=datetime(2024, 1, 1, tzinfo=UTC))
    (DateWindow(year=2023, month=5, day=8, slack_days=3),)
    >>> named_dates("三天前说的", now=datetime(2024, 1, 10, tzinfo=UTC))
    (DateWindow(year=2024, month=1, day=7, slack_days=2),)
    """
    text = query[:DATED_CHARACTERS].lower()
    if not re.search(MAY_NAME_A_DATE, text):
        return ()
    return tuple(dict.fromkeys([*_absolute(text), *_relative(text, now.astimezone(UTC))]))


def of_dates(query: str, instants: Sequence[datetime | None], *, now: datetime) -> list[float]:
    """Return what each text gets for being said at a date that *query* names, shape ``(count,)``.

    *instants* say when each text was said; None: unknown. "Yesterday" is counted from *now*, UTC.
    """
    windows = named_dates(query, now=now)
    if not windows:
        return [0.0] * len(instants)

    def is_then(instant: datetime | None) -> bool:
        return instant is not None and any(window.holds(instant) for window in windows)

    return [DATE_BONUS if is_then(instant) else 0.0 for instant in instants]


def _absolute(text: str) -> Iterator[DateWindow]:
    has_day = False
    for day, month, year in re.findall(_DAY_MONTH, text):
        has_day = True
        yield DateWindow(_year(year), _MONTHS[month], int(day), DAY_SLACK)
    for month, day, year in re.findall(_MONTH_DAY, text):
        has_day = True
        yield DateWindow(_year(year), _MONTHS[month], int(day), DAY_SLACK)
    if not has_day:
        for month, year in re.findall(_WHOLE_MONTH, text):
            yield DateWindow(_year(year), _MONTHS[month], None, MONTH_SLACK)
    numbered = [(year, month, day) for year, _, month, day in re.findall(_ISO, text)]
    for year, month, day in numbered + re.findall(_CHINESE, text):
        if 1 <= int(month) <= len(_NAMES):
            slack = DAY_SLACK if day else MONTH_SLACK
            yield DateWindow(_year(year), int(month), int(day) if day else None, slack)


def _year(written: str) -> int | None:
    return int(written) if written else None


def _relative(text: str, now: datetime) -> Iterator[DateWindow]:
    """Yield the dates that are given as so long ago; the longer ago, the wider the window."""
    for number, unit in re.findall(_AGO, text) + re.findall(_CHINESE_AGO, text):
        days = _DAYS[unit] * (_NUMBERS[number] if number in _NUMBERS else int(number))
        days = days // 2 if number == "半" else days
        yield from _ago(now, days, max(2, days // 4))
    for which, unit in re.findall(_LAST, text):
        days = _DAYS[unit]
        yield from _ago(now, days // 2 if which == "this" else days, max(1, days // 2))
    for which, weekend, weekday, unit in re.findall(_CHINESE_LAST, text):
        weeks = 0 if which in "这本" else len(which)
        if weekday:
            yield from _ago(now, now.weekday() - _WEEKDAYS[weekday] + 7 * weeks, 1)
        else:
            days = _DAYS[weekend or unit]
            yield from _ago(now, days * weeks if weeks else days // 2, max(1, days // 2))
    for which in re.findall(_CHINESE_YEAR, text):
        year = _DAYS["年"]
        yield from _ago(now, year * {"今": 0, "去": 1, "前": 2}[which], year // 2)
    for weekday in re.findall(_LAST_WEEKDAY, text):
        yield from _ago(now, (now.weekday() - _WEEKDAYS[weekday] - 1) % 7 + 1, 1)
    for found in re.finditer(_SIMPLE, text):
        yield from _ago(now, _DAYS_AGO[found[0]], 1)


def _ago(now: datetime, days: int, slack_days: int) -> Iterator[DateWindow]:
    try:
        then = now - timedelta(days=days)
    except OverflowError:  # 9999 years ago
        return
    yield DateWindow(then.year, then.month, then.day, slack_days)
