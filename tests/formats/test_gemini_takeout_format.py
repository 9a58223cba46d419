"""Gemini's chats out of Google Takeout: activities, the newest first."""

from chatmemory.pastchats.formats.gemini.gemini_takeout import gemini_takeout
from tests.formats.exported import certainty, parsed, said, turns, unknown
from tests.formats.small_histories import ANSWERED, ASKED, CLOSED, TALK, THANKED


def activity(title: str, time: str, html: str = "", header: str = "Gemini Apps") -> dict[str, object]:
    answer = {"safeHtmlItem": [{"html": html}]} if html else {}
    return {"header": header, "title": title, "time": time, "products": [header], **answer}


ACTIVITIES = [
    activity(f"Prompted {THANKED} Attached 2 files.", "2026-06-01T10:05:00.000Z", f"<p>{CLOSED}</p>"),
    activity(f"Prompted {ASKED}", "2026-06-01T10:00:00.000Z", f"<p>{ANSWERED}</p>"),
]


def test_activities_are_turns_in_the_order_in_which_they_were_said() -> None:
    assert certainty(gemini_takeout, ACTIVITIES) > 90
    found = turns(parsed(gemini_takeout, ACTIVITIES))
    found.sort(key=lambda turn: turn.turn_index or 0)
    assert [(turn.role, turn.content) for turn in found] == list(TALK)
    assert {turn.conversation_id for turn in found} == {"gemini_takeout:2026-06-01"}
    assert len({turn.native_id for turn in found}) == 4


def test_html_is_read_as_it_is_shown() -> None:
    html = "<h3>Why</h3><ul><li>a &amp; b</li><li>c</li></ul><pre><code>x &lt; 1\n  y</code></pre>"
    found = parsed(gemini_takeout, [activity("Asked Bard: hi", "2023-06-01T10:00:00Z", html, "Bard")])
    assert said(found) == [("user", "hi"), ("assistant", "Why\n\n- a & b\n\n- c\n\nx < 1\n  y")]


def test_what_else_was_done_is_counted_and_other_products_are_left_alone() -> None:
    found = parsed(gemini_takeout, [*ACTIVITIES, activity("Used Gemini Apps", "2026-06-01T10:00:00Z"), 3])
    assert len(said(found)) == 4
    assert unknown(found) == ["activity Used Gemini", "no activity"]
    other = activity("Watched x", "2026-06-01T10:00:00Z", header="YouTube")
    assert certainty(gemini_takeout, [other]) == 0
