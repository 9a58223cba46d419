"""LoCoMo's conversations of two friends: flat, nested, in a list, and their dates in words."""

from datetime import UTC, datetime

from chatmemory.input.json_value import Json
from chatmemory.pastchats.formats.lists.locomo import locomo
from chatmemory.pastchats.formats.lists.role_list import role_list
from tests.for_each import for_each
from tests.formats.large_history import as_json
from tests.formats.read_turns import certainty, read

CAPTION = "a photo of a dog in a red coat"
PHOTO: dict[str, Json] = {"img_url": ["https://example.org/dog.jpg"], "blip_caption": CAPTION, "query": "dog"}
TALK: dict[str, Json] = {
    "speaker_a": "Mei",
    "speaker_b": "Jonas",
    "session_1_date_time": "1:56 pm on 8 May, 2023",
    "session_1": [
        {"speaker": "Mei", "dia_id": "D1:1", "text": "你好，Jonas！"},
        {"speaker": "Jonas", "dia_id": "D1:2", "text": "Look at him.", **PHOTO},
    ],
    "session_2": [{"speaker": "Mei", "dia_id": "D2:1", "text": "", "blip_caption": "a photo of a lake"}],
    "session_2_date_time": "12:09 am on 13 September, 2023",
    "session_3_date_time": "3:00 pm on 1 October, 2023",
}
SAMPLE: dict[str, Json] = {
    "qa": [{"question": "Who has a dog?", "answer": "Jonas", "evidence": ["D1:2"], "category": 4}],
    "conversation": TALK,
    "event_summary": {"events_session_1": {"Mei": ["greets"], "date": "8 May, 2023"}},
    "observation": {"session_1_observation": {"Mei": [["Mei greets.", "D1:1"]]}},
    "session_summary": {"session_1_summary": "They greet."},
    "sample_id": "conv-7",
}
SAID = [
    ("D1:1", "session_1", "Mei", "你好，Jonas！"),
    ("D1:2", "session_1", "Jonas", "Look at him. [shares a photo of a dog in a red coat]"),
    ("D2:1", "session_2", "Mei", "[shares a photo of a lake]"),
]
# The second session has its date behind it.
FIRST, SECOND = datetime(2023, 5, 8, 13, 56, tzinfo=UTC), datetime(2023, 9, 13, 0, 9, tzinfo=UTC)


@for_each("indent", [None, 2])
@for_each(
    ("document", "conversation"),
    [
        ([SAMPLE], "locomo:conv-7"),
        (SAMPLE, "locomo:conv-7"),
        (TALK, "locomo:/d/talk.json"),
        ([TALK], "locomo:/d/talk.json#1"),
        ({**TALK, "sample_id": "9"}, "locomo:9"),
    ],
)
def test_turns_are_found_wherever_sessions_lie(document: Json, conversation: str, indent: int | None) -> None:
    text = as_json(document, indent=indent)
    found = read(locomo, text, path="/d/talk.json")
    assert [(turn.native_id, turn.session, turn.speaker, turn.content) for turn in found.kept] == SAID
    assert [turn.timestamp for turn in found.kept] == [FIRST, FIRST, SECOND]
    assert found.conversations == [conversation]
    assert {turn.role for turn in found.kept} == {"user"}
    assert certainty(locomo, text) > 90
    assert certainty(role_list, text) == 0


@for_each(
    ("text", "instant"),
    [
        ("12:30 pm on 29 February, 2024", datetime(2024, 2, 29, 12, 30, tzinfo=UTC)),
        ("7:05 p.m. on 3 Sept, 2022", datetime(2022, 9, 3, 19, 5, tzinfo=UTC)),
        ("29.12.2023, 16:44:55", datetime(2023, 12, 29, 16, 44, 55, tzinfo=UTC)),
        ("2023-05-08T13:56:00+02:00", datetime(2023, 5, 8, 11, 56, tzinfo=UTC)),
        ("1:56 pm on 31 June, 2023", None),
        ("1:56 pm on 3 mai, 2023", None),
        ("前天", None),
    ],
)
def test_a_date_is_understood_or_left_open(text: str, instant: datetime | None) -> None:
    talk = {**TALK, "session_1_date_time": text}
    assert read(locomo, as_json(talk)).kept[0].timestamp == instant


def test_messages_and_samples_have_dates_of_their_own_and_what_says_nothing_is_counted() -> None:
    dated: Json = {"speaker": "A", "dia_id": "D1:1", "clean_text": "hi", "date_time": "29.12.2023, 16:44:55"}
    found = read(locomo, as_json({"session_1": [dated, {"speaker": "A", "dia_id": "D1:2", "text": ""}]}))
    (turn,) = found.kept
    assert (turn.content, turn.timestamp) == ("hi", datetime(2023, 12, 29, 16, 44, 55, tzinfo=UTC))
    assert found.unknown == ["turn without text"]
    talk = {**TALK, "session_1_date_time": "3:00 pm on 1 June, 2024"}
    found = read(locomo, as_json([SAMPLE, {**SAMPLE, "sample_id": "conv-8", "conversation": talk}]))
    assert found.conversations == ["locomo:conv-7", "locomo:conv-8"]
    assert found.kept[3].timestamp == datetime(2024, 6, 1, 15, 0, tzinfo=UTC)
    assert certainty(locomo, as_json({"session_1": [{"user": "x"}]})) == 0
