"""The order in which sentences matter."""

from itertools import pairwise

from chatmemory.input.choices import Role
from chatmemory_layers.skills.sentence_rank import terms
from chatmemory_layers.skills.sentence_worth import questions_answered, says_yes_or_no, worth
from chatmemory_layers.skills.transcript import Sentence
from tests.for_each import for_each


def sentence(
    text: str, *, role: Role = "user", turn: int = 0, place: int = 0, is_kept: bool = False
) -> Sentence:
    return Sentence(
        text, role, turn, place, is_question=text.endswith(("?", "？")), is_code=False, is_kept=is_kept
    )


def worth_of(text: str, *, role: Role = "user", is_kept: bool = False) -> float:
    return worth(sentence(text, role=role, is_kept=is_kept), terms(text))


def test_a_greeting_is_worth_nothing() -> None:
    greetings = ("Hi!", "Hello Ines!", "Thanks so much!", "Wow!", "你好！", "谢谢你！", "下午好，朋友。")
    assert [text for text in greetings if worth_of(text)] == []


@for_each(
    "falling",
    [
        (
            "On Friday I decided to move to Oslo with 2 friends.",
            "Sooner or later people move house with friends.",
            "That's so great, moving house with friends!",
        ),
        ("我决定六月三日搬到《挪威》去住。", "搬到挪威去住的人很多很多。", "听起来搬到挪威去住很棒！"),
        (
            "The build is broken: error in line 12 of main.",
            "The build is finished: all fine in the main part.",
        ),
    ],
)
def test_facts_are_worth_more_than_talk_and_talk_more_than_praise(falling: tuple[str, ...]) -> None:
    assert all(more > 1.2 * less for more, less in pairwise(map(worth_of, falling)))


@for_each("text", ["I moved to Oslo in May.", "我五月搬到了奥斯陆。"])
def test_a_greeting_before_a_fact_takes_nothing_from_it(text: str) -> None:
    assert worth_of(f"Hey Ines, {text}") >= worth_of(text)
    assert worth_of(f"你好，朋友，{text}") >= worth_of(text)


def test_the_user_outweighs_the_assistant_and_a_tool_and_a_summary_keeps_what_it_has() -> None:
    text = "The meeting moved to room 12."
    tool, assistant, user = (worth_of(text, role=role) for role in ("tool", "assistant", "user"))
    assert tool < assistant < user < worth_of(text, is_kept=True)


def test_the_first_statements_of_the_next_speaker_answer_the_last_question() -> None:
    said = [
        sentence("Where is it?", role="assistant"),
        sentence("When did it start?", role="assistant", place=1),
        sentence("On Monday.", turn=1),
        sentence("And why?", turn=1, place=1),
        sentence("I do not know.", turn=2),
        sentence("It is late.", role="assistant", turn=3),
    ]
    assert questions_answered(said) == {2: 1}


def test_a_bare_yes_or_no_is_known() -> None:
    bare = ("Yes", "No, thanks.", "ok!", "好的。", "不用，谢谢")
    assert [text for text in bare if not says_yes_or_no(sentence(text))] == []
    assert [text for text in ("Yes, in May", "Now", "好吃") if says_yes_or_no(sentence(text))] == []
