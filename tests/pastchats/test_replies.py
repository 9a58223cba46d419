"""A reply follows its question, who only asks tells nothing, and a question about when asks for a time."""

from chatmemory.pastchats.finding.prompt_terms import prompt_terms
from chatmemory.pastchats.finding.replies import (
    ASKING_MALUS,
    QUESTION_SHARE,
    TIME_BONUS,
    is_latin,
    of_questions,
    of_times,
)
from chatmemory.text.search_terms import query_terms
from tests.for_each import for_each
from tests.pastchats.test_hybrid_rank import order, ranked, turn

ASKED = "Where did you go for the holidays?"


def of_two(question: str, reply: str, *, row: int = 2) -> float:
    found = [turn(1, content=question), turn(row, content=reply)]
    return of_questions(found, [[0, 1]], [1.0, 0.0])[1]


def test_a_reply_has_a_share_of_its_question() -> None:
    assert of_two(ASKED, "To Iceland, by ship.") == QUESTION_SHARE
    asked = [turn(number, content="something else", talk=str(number)) for number in range(3, 9)]
    found = [turn(1, content=ASKED, lexical=9.0), turn(2, content="To Iceland."), *asked]
    assert order("holidays", found)[:2] == [1, 2]

    assert of_two("I went nowhere for the holidays.", "To Iceland.") == 0  # nobody asked
    assert of_two(ASKED, "To Iceland.", row=3) == 0  # not the turn behind it


def test_long_questions_and_long_replies_count_for_less() -> None:
    assert 0 < of_two(ASKED + " And I, I stayed at home." * 4, "To Iceland.") < QUESTION_SHARE / 1.5
    assert 0 < of_two(ASKED, "To Iceland. " * 30) < QUESTION_SHARE / 2
    assert of_two(ASKED, "") == QUESTION_SHARE


def test_a_short_turn_that_only_asks_counts_for_less() -> None:
    only, told = of_questions([turn(1, content=ASKED), turn(2, content="x" * 120 + "?")], [[0], [1]], [1, 1])
    assert (only, told) == (-ASKING_MALUS, 0)


@for_each(
    ("query", "content", "bonus"),
    [
        ("When did she leave?", "We said goodbye last Friday.", TIME_BONUS),
        ("What year was it?", "It was 2019.", TIME_BONUS),
        ("When did she leave?", "She waved.", 0),
        ("Who left?", "We said goodbye last Friday.", 0),
        ("Whenever", "We said goodbye last Friday.", 0),
    ],
)
def test_a_turn_that_names_a_time_answers_when(query: str, content: str, bonus: float) -> None:
    assert of_times(query, [turn(1, content=content)]) == [bonus]


def test_chinese_questions_are_ranked_without_it() -> None:
    assert is_latin("Où est-ce?")
    assert not is_latin("假期去了哪里")
    hits = ranked("假期 holidays", [turn(1, content=ASKED, lexical=9.0), turn(2, content="x")])
    assert hits[0].signals.neighbour == 0


def test_what_stands_behind_a_hundred_chinese_characters_is_searched() -> None:
    noise = "".join(chr(0x4E00 + 7 * number) for number in range(100))
    assert "龙井" in prompt_terms(f"{noise}龙井")
    assert "龙井" in query_terms(f"{noise}龙井")


def test_words_that_ask_are_no_terms() -> None:
    assert [text for text in ("哪里", "谁的", "哪种") if text in prompt_terms(f"{text}，龙井")] == []
