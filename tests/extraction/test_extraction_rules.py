"""What the rules find, and what they leave alone."""

import time
from typing import Literal

from hypothesis import given, strategies as st

from chatmemory.context.recalled_block import MEMORIES_NOTICE, recalled_block
from chatmemory.longterm.extraction.attributes.statements import with_attributes
from chatmemory.longterm.extraction.memory_extractor import ProposedMemory, Speaker
from chatmemory.longterm.extraction.rules import MAX_PROPOSALS, extract_by_rules
from chatmemory.longterm.extraction.statements import LONGEST_READ, own_words
from tests.extraction.score import Labelled, Score, labelled, score
from tests.for_each import for_each

Language = Literal["zh", "en"]
FENCED = recalled_block(["I live in Rome"], fence="0" * 16, notice=MEMORIES_NOTICE)


def by_rules(text: str, role: Speaker) -> tuple[ProposedMemory, ...]:
    return extract_by_rules(text, role=role)


def found(text: str, *, role: Speaker = "user") -> dict[str, object]:
    return {proposal.key: proposal.value for proposal in extract_by_rules(text, role=role)}


def test_extract_from_ai_response() -> None:
    answer = "根据您的偏好，我为您推荐使用 VS Code 作为 Python 开发环境"
    assert found(answer, role="assistant") == {"开发工具推荐": "VS Code"}
    assert found(answer) == {}


@for_each("content", ["好的", "嗯", "ok", "thanks!", "", " ", "\n", "。", "？！", "👍"])
@for_each("role", ["user", "assistant"])
def test_handle_empty_or_meaningless_content(content: str, role: Speaker) -> None:
    assert extract_by_rules(content, role=role) == ()


@for_each(
    ("text", "evidence", "content"),
    [
        ("你好！我是一名软件工程师，在北京工作。", "在北京工作", "我在北京工作"),
        ("Hi! I have a cat, and live in Leeds.", "live in Leeds", "I live in Leeds"),
        ("我喜歡貓。", "我喜歡貓", "我喜歡貓"),
        ("😀😀 I’m allergic to peanuts!", "I’m allergic to peanuts", "I’m allergic to peanuts"),
    ],
)
def test_the_evidence_is_where_it_is_said_and_the_content_stands_alone(
    text: str, evidence: str, content: str
) -> None:
    spans = {text[one.evidence.start : one.evidence.end]: one.content for one in extract_by_rules(text)}
    assert spans[evidence] == content


@for_each(
    ("text", "contents"),
    [
        ("I'm allergic to nuts, eggs and soy.", ["I'm allergic to nuts, eggs and soy"]),
        ("I love cats, dogs, and birds, but I hate jazz.", ["I hate jazz", "I love cats, dogs, and birds"]),
        ("I play guitar, live in Rome and love tea.", ["I live in Rome", "I love tea", "I play guitar"]),
        ("I'm vegan, lactose intolerant and deaf.", ["I'm lactose intolerant and deaf", "I'm vegan"]),
        ("I have a dog, a cat and two kids.", ["I have a cat", "I have a dog", "I have two kids"]),
        ("I like tea, Bob likes milk and Ann likes juice.", ["I like tea"]),
        ("I live in Rome and my parcel is late.", ["I live in Rome"]),
        ("I like tea, my wife is a nurse, and prefer green tea.", ["I like tea", "my wife is a nurse"]),
        ("I'm vegan and allergic to nuts.", ["I'm allergic to nuts", "I'm vegan"]),
        ("I'm Dana, 34, a nurse.", ["I'm 34", "I'm Dana", "I'm a nurse"]),
        ("I get migraines, and I'm afraid of heights.", ["I get migraines", "I'm afraid of heights"]),
        ("My hobbies are chess and golf.", ["My hobbies are chess and golf"]),
        ("I prefer the second option.", []),
        ("我喜欢第二个方案。", []),
        ("I use tabs, single quotes and no semicolons.", ["I use tabs, single quotes and no semicolons"]),
        ("I like answers, short ones, so don't explain.", ["I like answers"]),
        ("我喜欢爬山，游泳和看书。", ["我喜欢爬山，游泳和看书"]),
        ("我养了一只叫豆豆的猫，今年三岁。", ["我养了一只叫豆豆的猫"]),
        ("我在谷歌工作，我老婆是老师，喜欢做饭。", ["我在谷歌工作", "我老婆是老师"]),
        ("我住在杭州，喜欢爬山和看书。", ["我住在杭州", "我喜欢爬山和看书"]),
    ],
)
def test_a_list_stays_one_statement_and_two_statements_do_not_become_one(
    text: str, contents: list[str]
) -> None:
    assert sorted(one.content for one in extract_by_rules(text)) == contents


@for_each(
    ("text", "values"),
    [
        ("I moved from Berlin to Lisbon last month.", {"home": "Lisbon"}),
        ("I moved to Oslo in March.", {"home": "Oslo"}),
        ("I've lived in Rome since 2015.", {"home": "Rome"}),
        ("I'm not based in Berlin.", {}),
        ("I've worked at Shopify for six years.", {"employer": "Shopify"}),
        ("I no longer work at Zalando.", {"personal fact": "no longer work at Zalando"}),
        ("I switched from VS Code to Neovim last week.", {"development tool decision": "Neovim"}),
        ("I'm moving to Denver in the spring.", {"plan": "Denver in the spring"}),
        ("My budget is around $1,500.", {"personal fact": "budget is around $1,500"}),
        ("I hate when people call me Jonathan.", {}),
        ("My time zone is UTC+2.", {"time zone": "UTC+2"}),
        ("My cat Luna died.", {}),
        ("叫我小李就行。", {"用户姓名": "小李"}),
        ("请称呼我为李博士。", {"用户姓名": "李博士"}),
        ("我改名了，现在叫李雷。", {"用户姓名": "李雷"}),
        ("项目从 Falcon 改名叫 Osprey 了。", {}),
        ("我是爱尔兰人。", {"家乡": "爱尔兰"}),
        ("我开的是一辆丰田卡罗拉。", {"汽车": "丰田卡罗拉"}),
        ("我昨天升主管了。", {"用户职业": "主管"}),
        ("我妈现在跟我们一起住。", {}),
        ("我不记得我说过我住在苏州。", {}),
    ],
)
def test_a_value_is_what_holds_now_and_no_more(text: str, values: dict[str, str]) -> None:
    found = with_attributes(text, extract_by_rules(text))
    assert {proposal.key: proposal.value for proposal in found} == values


@for_each(
    "text",
    [
        "It made me realize the importance of patience.",
        "Same here!",
        "But here's some good news.",
        "Spending time with family is so important.",
        "Always here to help.",
        "Never give up!",
        "We totally agree.",
        "Wow, that's a great biz idea, and really brave.",
        "Joining a church can be really encouraging.",
        "On another note, I made vegan ice cream for my vegan diet group.",
        "不过现在时间有点晚了，下次再聊吧",
        "今天去了公园，看到了非常漂亮的景色",
        "也许该向其他人寻求帮助",
        "一直在寻找一个可以倾诉的对象",
        "在一份无聊的工作中真的很难长久",
        "最近我在看一部很棒的电影",
        "先把鲈鱼洗净，葱姜蒜放在鱼肚里",
        "后面是 uvicorn，错误码 1006",
    ],
)
def test_free_talk_states_no_fact(text: str) -> None:
    assert with_attributes(text, extract_by_rules(text)) == ()


@for_each(
    ("text", "attribute"),
    [
        ("Please answer in Portuguese.", "reply language"),
        ("Please write commit messages in English.", None),
        ("I write English at work.", None),
        ("以后用英文回答。", "reply language"),
        ("变量名一律用英文。", None),
        ("注释用中文写。", None),
    ],
)
def test_the_language_of_answers_is_not_that_of_code_and_mail(text: str, attribute: str | None) -> None:
    (proposal,) = with_attributes(text, extract_by_rules(text))
    assert proposal.attribute == attribute


def test_a_reason_belongs_to_the_statement_and_not_to_its_value() -> None:
    (proposal,) = extract_by_rules("I prefer tea because coffee keeps me awake.")
    assert (proposal.value, proposal.content) == ("tea", "I prefer tea because coffee keeps me awake")


def test_the_reason_of_an_advice_is_not_part_of_it() -> None:
    (one,) = extract_by_rules("I recommend Redis because you asked.", role="assistant")
    (other,) = extract_by_rules("I recommend Redis since it is fast.", role="assistant")
    assert one.content == other.content == "I recommend Redis"


@for_each(
    ("sure", "unsure"),
    [("I live in Oslo.", "Maybe I live in Oslo."), ("我喜欢猫", "我可能喜欢猫"), ("我喜欢猫", "我喜欢折腾")],
)
def test_confidence_falls_with_doubt_and_without_a_topic(sure: str, unsure: str) -> None:
    one, other = extract_by_rules(sure), extract_by_rules(unsure)
    assert one[0].confidence > other[0].confidence >= 0.5


def test_the_surest_comes_first_and_nothing_comes_twice() -> None:
    proposals = extract_by_rules("I always drink tea. I live in Rome. I live in Rome! Maybe I like jazz.")
    assert [one.key for one in proposals] == ["home", "drink habit", "music preference"]
    assert [one.confidence for one in proposals] == sorted(
        (one.confidence for one in proposals), reverse=True
    )


def test_there_are_never_more_proposals_than_anybody_would_look_through() -> None:
    assert len(extract_by_rules("\n".join(f"I like tea number {n}." for n in range(100)))) == MAX_PROPOSALS


def test_each_sentence_is_read_in_its_own_language() -> None:
    proposals = extract_by_rules("我住在杭州。I work as a nurse. 東京に住んでいます。")
    assert {one.key: one.language for one in proposals} == {"居住地": "zh", "occupation": "en"}


@for_each(
    "text",
    [
        "```\nI like cats\n```",
        "```\nI like cats",
        "> I like cats",
        "Run `I = like(cats)` please",
        "She said: I like cats",
        "小王说：我喜欢猫",
        "“我喜欢猫”是他的口头禅",
        "Assistant: I like cats",
        "ValueError: I like cats",
        "2026-01-01 10:00:00 I like cats",
        "Translate this for me: I like cats, and I live in Rome.",
        FENCED,
        "> " + FENCED.replace("\n", "\n> "),
    ],
)
def test_what_is_shown_or_quoted_is_not_said(text: str) -> None:
    assert extract_by_rules(text) == ()
    assert len(own_words(text)) == len(text)


@for_each("text", ["`" + "a " * 500_000, "`" * 1_000_000, "`a=b" * 250_000, "`" + "=" * 1_000_000])
def test_a_million_characters_that_are_nearly_code_are_read_through(text: str) -> None:
    assert len(own_words(text)) == len(text)


@for_each("space", [" ", "\t", "\u3000"])
def test_a_wide_gap_parts_what_is_said_as_a_line_break_does(space: str) -> None:
    gap = space * 5_000  # read as the inside of a sentence, it took every rule that looks for an end seconds
    assert own_words(f"I live{gap}in Rome") == f"I live{chr(10) * 5_000}in Rome"
    assert {found.value for found in extract_by_rules(f"I like tea{gap}My name is Lin")} == {"tea", "Lin"}


@for_each(
    ("text", "role"),
    [
        ("我喜欢什么颜色", "user"),
        ("我是不是对花生过敏", "user"),
        ("Why you should use Vim", "assistant"),
        ("Should I recommend Redis", "assistant"),
    ],
)
def test_what_is_asked_is_not_said(text: str, role: Speaker) -> None:
    assert found(text, role=role) == {}


@for_each(
    "text",
    [
        "I said: I like cats",
        "顺便说一下：我喜欢猫",
        "我想说：我喜欢猫",
        "Exception: I like cats",
        "Error 404! I like cats",
    ],
)
def test_one_may_announce_what_one_says(text: str) -> None:
    assert len(found(text)) == 1


def test_a_question_asks_with_its_last_clause_only() -> None:
    assert found("I live in Rome, is it far to Bonn?") == {"home": "Rome"}
    assert found("我住在杭州，我喜欢喝茶吗？") == {"居住地": "杭州"}


def test_what_memory_shows_again_is_no_evidence() -> None:
    (proposal,) = extract_by_rules(f"{FENCED}\nI live in Rome.")
    assert proposal.evidence.start == len(FENCED) + 1


def test_a_title_and_a_name_in_quotation_marks_are_said() -> None:
    assert found("My favourite book is “The Dispossessed”.") == {"reading preference": "The Dispossessed"}
    assert found("我最喜欢的小说是《三体》。") == {"阅读偏好": "三体"}
    assert found("I use `vim` for that.") == {"development tool preference": "vim"}


FRAGMENTS = [text.text for text in labelled("tuned_on")] + [
    "I ",
    "我",
    "，",
    ", and ",
    "\n",
    "。",
    "“",
    "```",
    "\0",
    "\ud800",
    FENCED,
]


@given(
    st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=8), max_size=8).map("".join),
    st.sampled_from(["user", "assistant"]),
)
def test_a_proposal_says_what_stands_in_the_text_at_the_place_it_names(text: str, role: Speaker) -> None:
    proposals = extract_by_rules(text, role=role)
    assert proposals == extract_by_rules(text, role=role)
    for proposal in proposals:
        said = text[proposal.evidence.start : proposal.evidence.end]
        assert isinstance(proposal.value, str)
        assert proposal.value.strip() == proposal.value != ""
        assert proposal.value in said
        assert proposal.content.endswith(said)
        assert 0.3 <= proposal.confidence <= 0.9


@for_each("unit", ["I really ", "我也", "“", "`a=", "hi and i ", "每", ". ", "my son ", "x(", "\n"])
def test_no_text_takes_long(unit: str) -> None:
    text = unit * (2 * LONGEST_READ // len(unit))
    start = time.process_time()
    extract_by_rules(text)
    extract_by_rules(text, role="assistant")
    # 0.1 s at most here; a rule that looks back without end takes 15.
    assert time.process_time() - start < 2.0


def of(language: Language, texts: list[Labelled]) -> list[Labelled]:
    return [text for text in texts if text.language == language]


@for_each("language", ["zh", "en"])
def test_texts_that_the_rules_were_not_made_for_are_understood_as_well(language: Language) -> None:
    reached = score(of(language, labelled("held_out")), by_rules)
    assert reached.precision >= 0.94, reached.faults
    assert reached.recall >= 0.84, reached.faults
    assert reached.key_accuracy >= 0.92, reached.faults
    assert reached.category_accuracy >= 0.97, reached.faults


def test_of_a_hundred_texts_that_say_nothing_nothing_is_kept() -> None:
    empty = [text for text in (*labelled("tuned_on"), *labelled("held_out")) if not text.expected]
    assert len(empty) > 100
    assert score(empty, by_rules).wrong <= 2


def test_an_extractor_that_proposes_everything_or_nothing_would_be_noticed() -> None:
    texts = labelled("held_out")
    nothing: Score = score(texts, lambda _text, _role: ())
    assert (nothing.precision, nothing.recall) == (0, 0)
    (proposal,) = extract_by_rules("I like tea")
    assert score(texts, lambda _text, _role: (proposal,)).precision < 0.1
