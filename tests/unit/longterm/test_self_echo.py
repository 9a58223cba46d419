"""What memory has put before a model is not learned again from it."""

from chatmemory.context.recalled_block import MEMORIES_NOTICE, recalled_block
from chatmemory.longterm.extraction.rules import extract_by_rules
from chatmemory.longterm.recall.self_echo import is_echo
from tests.for_each import for_each

ECHOES = [
    ("I live in Berlin", "I live in Berlin."),
    ("You live in Berlin!", "i LIVE in  berlin"),
    ("that you’re allergic to peanuts", "I'm allergic to peanuts, so take care"),
    ("您对花生过敏", "我对花生过敏，看病要注意。"),
    ("编程语言：Ｐｙｔｈｏｎ", "编程语言: Python"),
]
NO_ECHOES = [
    ("I live in Bonn", "I live in Berlin"),
    ("I like tea with milk", "I like tea"),
    ("I like coffee", "I don't like coffee"),
    ("I live in Berlin", "I used to live in Berlin"),
    ("I live in Berlin", "I live in Munich and work in Berlin"),
    ("Bob manages Alice", "Alice manages Bob"),
    ("I am 34", "I am 345 years old"),
    ("我喜欢咖啡", "我不喜欢咖啡"),
    ("我在北京工作", "以前我在北京工作"),
    ("我住在杭州", "我住在苏州"),
    ("Berlin", "I live in Berlin"),
    ("", ""),
    ("!?", "!?"),
]


def test_the_same_said_again_is_an_echo_and_what_says_something_else_or_more_is_none() -> None:
    missed = [(text, said) for text, said in ECHOES if not is_echo(text, ["something else", said])]
    assert missed == []
    assert [(text, said) for text, said in NO_ECHOES if is_echo(text, [said])] == []
    assert not is_echo("I live in Berlin", [])


@for_each("fenced", [True, False])
def test_a_hundred_rounds_of_recall_answer_and_extraction_leave_the_count_constant(*, fenced: bool) -> None:
    memories = ["I recommend PyCharm for larger projects", "推荐您使用 DataGrip 管理数据库", "我住在杭州"]

    def answer(number: int) -> str:
        shown = [
            f'{{"memory": "m{index}", "source": "inferred", "content": "{text}"}}'
            for index, text in enumerate(memories)
        ]
        fence = f"{number:016x}"
        block = recalled_block(shown, fence=fence, notice=MEMORIES_NOTICE)
        told = ". ".join(f"As I said in round {number}, {text}" for text in memories)
        return block if fenced else f"{told}.\n您之前说过，{'。'.join(memories)}。"

    for number in range(100):
        for role in ("user", "assistant"):
            for proposal in extract_by_rules(answer(number), role=role):
                if not is_echo(proposal.content, memories):
                    memories.append(proposal.content)
    assert len(memories) == 3


def test_without_the_guard_the_rounds_would_add_something() -> None:
    assert extract_by_rules("As I said, I recommend PyCharm for larger projects", role="assistant")
