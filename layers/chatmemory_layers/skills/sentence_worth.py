"""The worth of a sentence for a reader who was not there: facts, plans and decisions above greetings and praise.

It is computed from signs in the text, in English and Chinese, each with its weight; from the speaker; and from the position
in the conversation.  ``sentence_choice.py`` compares the words with the words of other sentences.

The numbers were set by hand and checked on five conversations of 370 to 680 messages, with 740 answers and the turns that
contain them.  Summaries of 40 % of the length still contain 82 % of the words of an answer.  Random sentences keep 43 %, the
most central ones (LexRank) 44 %, the longest 64 %.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from chatmemory.input.choices import Role
from chatmemory_layers.skills.transcript import Sentence

PLAIN_WORTH: Final = 0.5  # the worth of a sentence without any sign
ROLE_WORTH: Final[dict[Role, float]] = {
    "user": 1.0,
    "assistant": 0.75,  # says much that is not worth remembering
    "system": 0.6,  # is sent again with every request
    "tool": 0.2,  # can be called again; an error is worth a line
    "summary": 1.0,
}
KEPT_WORTH: Final = 1.3  # kept once before; at 1.0 the oldest facts disappear, at 1.6 few new ones enter
CODE_WORTH: Final = 0.4  # hard to read in one line, and in a file by now
FIRST_REQUEST_WORTH: Final = 1.3  # the reason for which the user came
ANSWER_WORTH: Final = 1.3  # a participant wanted to know it
OPEN_QUESTION_WORTH: Final = 2.0  # says what happens next; most are short
CONFIRMED_QUESTION_WORTH: Final = 1.2  # "Shall I drop the index?" - "Yes": the question is the decision
ANSWERED_QUESTION_WORTH: Final[dict[Role, float]] = {"user": 0.7, "assistant": 0.35}
PLEASANTRY_WORTH: Final = 0.5
PRAISE_WORTH: Final = 0.6  # about the other person only
LONGEST_ANSWER: Final = 2  # sentences; after them the speaker has moved on
HALF_LENGTH: Final = 6.0  # the number of terms at which a sentence has half of its worth

_NUMBER: Final = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|dozen|hundred|thousand|million|twice)\b"
    r"|[一二两三四五六七八九十百千万]+(?:个|岁|年|月|日|天|点|块|元|次|本|位|名|周|小时|分钟|公里)",
    re.IGNORECASE,
)
_WHEN: Final = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|(?:last|next|this) (?:week|month|year|night|spring|summer|autumn|fall|winter|weekend)"
    r"|recently|since|deadline|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
    r"|昨天|昨晚|今晚|明天|后天|上周|下周|上个月|下个月|去年|明年|今年|最近|周末|星期|小时候|截止",
    re.IGNORECASE,
)
# A capital after a word, but not after a comma: "in Oslo" is informative, "Thanks, Caroline" is not.
_NAME: Final = re.compile(
    r"(?<=[a-z0-9] )(?!I\b)[A-Z][\w'’-]+|\b[A-Z]{2,}\b|[\"“][^\"”]{2,40}[\"”]|《[^》]+》|「[^」]+」"
    r"|\b(?:name is|named|called)\b|名叫|叫做|名字|我叫"
)
_SELF: Final = re.compile(
    r"\b(?:i|i'm|i've|i'd|i'll|my|mine|we|we're|we've|we'll|our)\b|我|咱", re.IGNORECASE
)
_PLAN: Final = re.compile(
    r"\b(?:going to|plan(?:s|ned|ning)?|deci(?:de|ded|sion)|must|prefers?|preferred|agreed|promised|booked|scheduled|applied"
    r"|signed up|joined|started|goal|allergic|favou?rite|lost|bought|moved|quit|hired|fixed|failed|chose|instead of)\b"
    r"|决定|打算|计划|准备|必须|想要|想去|想学|喜欢|讨厌|最爱|偏好|记住|记得|约定|同意|参加|报名|开始|目标|梦想|过敏|买了|搬|改用",
    re.IGNORECASE,
)
_TROUBLE: Final = re.compile(
    r"\b(?:errors?|fail(?:s|ed|ure)?|exception|traceback|denied|crash(?:es|ed)?|timed? ?out|broken|bug)\b|错误|失败|报错|异常|崩溃|超时",
    re.IGNORECASE,
)
SIGNS: Final = (
    (_NUMBER, 0.35),
    (_WHEN, 0.3),
    (_NAME, 0.5),  # the best sign of all: without it 3 % of the answers are lost
    (_SELF, 0.35),
    (_PLAN, 0.25),  # at 0.9 good resolutions push out what happened
    (_TROUBLE, 0.5),
)
"""The signs that raise the worth of a sentence, and how much each adds."""

_PLEASANTRY: Final = re.compile(
    r"\A(?:thanks|thank you|yeah|yep|yes|great|awesome|cool|nice|sounds|that's|that is|congrat\w*|see you|take care|good (?:luck|to)"
    r"|you're welcome|no problem|sure|okay|ok|totally|absolutely|so? glad|happy to|of course|certainly|feel free|understood"
    r"|i'm (?:here|sure|glad|so (?:happy|glad|proud))|let me (?:know|look|check|see)|i hope|hope|keep (?:it up|going|me posted)"
    r"|have (?:a|fun)|talk to you|catch you|can't wait|i'll keep)\b"
    r"|\A(?:你好|您好|嗨|谢谢|感谢|非常感谢|多谢|那(?:感谢|真)|不客气|不用谢|好的|好呀|好啊|再见|拜拜|没关系|没问题|当然|是的|是啊|对啊|嗯"
    r"|恩|哈哈|哇|真棒|很棒|好梦|抱歉|不好意思|很高兴|祝|加油|随时|如果[你您](?:有|需要)|有什么|希望[你您这]|我(?:很|能|非常)?理解|我会(?:一直|注意|试)"
    r"|听起来|听到|听完|太[好棒]了|真的吗|晚安|早安|这些[都也听方]|这个主意|这(?:真的|确实|听起来)|[你您]说|非常重要|我知道了|原来如此|还有什么)"
    r"|作为.{0,6}(?:AI|人工智能|助手)|我是.{0,4}(?:AI|助手)|没有(?:实体|身体)|至于我|as an ai\b|聊天|再聊|明天见|试试",
    re.IGNORECASE,
)
# Phrases that may precede a statement, or stand alone: "Thanks, Ines!", "你好，朋友，".
_GREETING: Final = re.compile(
    r"\A(?:(?i:hey|hi|hello|wow|thanks|thank you|bye|goodbye|congrats|great|cool|nice|awesome|totally agree|of course"
    r"|sounds (?:good|great|awesome))\b[\s,!.]*(?:(?i:so much|a lot|everyone|there|again)\b|[A-Z]\w*(?=[,!.…]))?[\s,!.…]*"
    r"|(?:[你您]好[啊呀]?|[嗨嘿]|(?:早上|下午|晚上|大家)好|谢谢[你您]?)(?:[，,、\s]*(?:朋友|\w{0,6}(?:伴侣|助手)))?[，,！!。～\s]*)"
)
_YES_OR_NO: Final = re.compile(
    r"\A(?:yes|yeah|yep|no|nope|ok|okay|sure|please do|go ahead|do it|exactly|right|correct|definitely|不?(?:对|是|好|可以|行|要|用)|没有|没错)"
    r"[^\w]*(?:please|thanks|thank you|do|的|吧|谢谢)?\W*\Z",
    re.IGNORECASE,
)
_OTHER: Final = re.compile(r"\b(?:you|you're|you've|you'll|your|yours)\b|你|您", re.IGNORECASE)


def worth(sentence: Sentence, terms: Sequence[str]) -> float:
    """Return the worth of *sentence* by itself: 0 for a greeting or without *terms*, about 1 for a fact that the user states.

    ``(0.5 + sum of the weights of its signs) * n / (n + 6) * role * kind``, *n* the number of *terms*, which
    ``sentence_choice.terms`` returns.
    """
    text = _GREETING.sub("", sentence.text)
    if not text:
        return 0.0
    score = PLAIN_WORTH + sum(added for sign, added in SIGNS if sign.search(text))
    score *= len(terms) / (len(terms) + HALF_LENGTH) * ROLE_WORTH[sentence.role]
    if sentence.is_kept:
        score *= KEPT_WORTH
    if sentence.is_code:
        return score * CODE_WORTH
    if _PLEASANTRY.search(text):
        score *= PLEASANTRY_WORTH
    if not sentence.is_question and _OTHER.search(text) and not _SELF.search(text):
        score *= PRAISE_WORTH
    return score


def worth_in_place(sentences: Sequence[Sentence], answers: Mapping[int, int]) -> list[float]:
    """Return the factors for the worth of each sentence that come from its position in the conversation.

    There is at least one sentence; *answers* is what ``questions_answered`` returns.
    """
    first_request = next((sentence.turn for sentence in sentences if sentence.role == "user"), None)
    last_turn = sentences[-1].turn
    confirmed = {question for answer, question in answers.items() if says_yes_or_no(sentences[answer])}
    factors: list[float] = []
    for number, sentence in enumerate(sentences):
        factor = FIRST_REQUEST_WORTH if sentence.turn == first_request else 1.0
        if number in confirmed:
            factor *= CONFIRMED_QUESTION_WORTH
        elif sentence.is_question and sentence.turn == last_turn:
            factor *= OPEN_QUESTION_WORTH
        elif sentence.is_question:
            factor *= ANSWERED_QUESTION_WORTH.get(sentence.role, 1.0)
        elif number in answers:
            factor *= ANSWER_WORTH
        factors.append(factor)
    return factors


def says_yes_or_no(sentence: Sentence) -> bool:
    """Return whether *sentence* is only a yes or a no; the question before it then holds the content."""
    return _YES_OR_NO.match(sentence.text) is not None


def questions_answered(sentences: Sequence[Sentence]) -> dict[int, int]:
    """Map the number of each sentence that may be an answer to the number of the question before it.

    The last question of a turn is answered by the first statements of the next one, when another speaker says them.
    """
    answers: dict[int, int] = {}
    asked: int | None = None
    latest_question: int | None = None
    for number, sentence in enumerate(sentences):
        if number and sentence.turn != sentences[number - 1].turn:
            asked = latest_question if sentence.role != sentences[number - 1].role else None
            latest_question = None
        if sentence.is_question:
            latest_question = number
        elif asked is not None and sentence.place < LONGEST_ANSWER:
            answers[number] = asked
    return answers
