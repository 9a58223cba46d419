"""Verdicts: whether what a person says next shows that an answer worked, or that it failed.

Most turns show neither, and then nothing is claimed: a failure that was none would keep an agent from what works.
Words count only where they are about the answer: ``it still fails`` is a verdict, ``what if it fails?`` is a question.
"""

import re
from typing import Final, Literal, TypeAlias

Verdict: TypeAlias = Literal["worked", "failed"]

READ: Final = 500  # characters: a verdict stands at the beginning
REPORT_READ: Final = 4_000  # characters in which a pasted error report is looked for

# Patterns are texts, compiled when first used: a recall that finds nothing to judge does without.
_APOSTROPHE: Final = "['’]?"
_NOT: Final = rf"(?:(?:did|does|do|is|was|are|can|could|wo|would)(?:n{_APOSTROPHE}t| not)|cannot|won{_APOSTROPHE}t|not|never)"
# "that" after a noun tells which one: "write a test that fails".
_IT: Final = r"(?:\bit|(?:^|[.,;:!?\n] ?|\b(?:and|but|now|so|thanks|ok|well|sorry|no) )(?:this|that|these|they|which)|\bthe (?:fix|change|patch|code|command|script|test|tests|build|query|solution|answer|suggestion))"

_NOT_A_NOUN: Final = (
    r"(?! (?:types?|class(?:es)?|handling|handlers?|codes?|messages?|pages?|format|boundary|as in)\b)"
)

_FAILED: Final = "|".join(
    (
        rf"{_IT} (?:still |also |just |really )?{_NOT} (?:\w+ )?(?:work|help|fix|solve|compile|build|run|pass|start|load|match|seem to (?:work|help))",
        rf"\b(?:did|does)(?:n{_APOSTROPHE}t| not) (?:work|help|fix|solve|change anything)\b",
        rf"\bstill (?:fail|broken|crash|hang|wrong|red|not |the same (?:error|problem|issue|result|output)|get|got|see|throw|show|happen|have the|having|an? \w*error|error|block|lock|slow|does|is{_APOSTROPHE}?n|can|won)",
        r"^(?:hm+,? |sorry,? |ok,? |but )?(?:no|nope|wrong|incorrect|not quite|not really)\b(?=[,.!:;]| (?:that|this|it|you)\b)(?!,? (?:problem|worries|thanks|thank|need|rush|hurry|questions?)\b)",
        rf"\bsame (?:\w+ )?(?:error|problem|issue|exception|failure)\b{_NOT_A_NOUN}",
        (
            r"(?:^|\bnow,? |\bbut )(?:there is |there's |i have |it has |with )?(?:an? )?(?:another|new|different) "
            rf"(?:\w+ )?(?:error|problem|issue|exception|failure)\b{_NOT_A_NOUN}"
        ),
        rf"\b(?:you|that|it|this|your \w+) (?:just |has |have |completely )?(?:broke|breaks|made it worse|got it wrong|(?:is|are|was|were|{_APOSTROPHE}s|{_APOSTROPHE}re) (?:wrong|incorrect|not (?:right|correct|what i)))",
        r"\bthat['’]s (?:wrong|incorrect|not (?:right|correct|what i|it\b|working))",
        r"\b(?:now |and |but )?(?:i|we) (?:am |are |now |just |still )?(?:get|got|getting|see|seeing|hit|hitting) (?:this |the |an? |these )?(?:\w+ ){0,3}(?:\w*errors?|\w*exceptions?|traceback|panic|segfault|failures?|timeouts?)\b",
        rf"{_IT} (?:now )?(?:fails?|failed|crash(?:es|ed)|hangs|errors? out|throws|threw|times? out|timed out|(?:raises|raised|gives?|gave)(?: me)? (?:an? |the )?(?:\w+ )?(?:error|exception))\b",
        r"^(?:please )?(?:revert|undo|roll back|rollback|/undo)\b",
        (
            r"(?<!对)不对(?![不劲称等应齐外]|吗|吧)|(?<!行)不行(?!吗)|没用|沒用|没有用|没有?(?:效果|生效|解决|反应|变化)|不起作用|不管用|不能用|用不了|跑不(?:起来|通)|运行不了|编译不过"
            r"|(?:还是|還是|仍然|仍旧|依然|依旧|又|结果)(?:会)?(?:不|没|报错|報錯|出错|失败|失敗|一样|一樣|有(?:问题|錯|错)|卡)|(?:^|[，,。！!\s])(?:报错|報錯|出错|失败)(?:了|：|:)|(?:改|弄|搞|答|写|说|做)错了|同样的(?:错误|问题|报错)"
        ),
    )
)
_WORKED: Final = "|".join(
    (
        rf"(?:{_IT}|\bnow|\beverything|\ball|\bboth) (?:now |all |finally |really |indeed )?(?:works?\b|worked\b(?! (?:before|until|yesterday|last))|did it\b|did the trick|does the trick|passes|passed\b|fixed (?:it|the)|solved (?:it|the)|helped)",
        r"\bworks? (?:\w+ )?(?:now|perfectly|great|fine|like a charm|well)\b|\b(?:is|are|it['’]s) (?:now )?(?:working|fixed|solved|green|passing) ?(?:now)?\b|\ball (?:tests )?(?:pass|green)\b",
        r"\bno (?:more |longer )(?:\w+ )?(?:errors?|fail|failing|crash|hang|warnings?|problem)",
        r"^(?:ok,? |yes,? |yay,? )?(?:perfect|great|awesome|excellent|brilliant|nice|lovely|wonderful|fantastic|lgtm|thanks|thank you|thx|cheers)\b",
        r"(?<![还沒没])(?:好了|可以了|解决了|解決了|搞定|成功了|没问题了|沒問題了|能用了|正常了|行了|通过了|修好了|跑通了|管用|有效)(?![吗嗎么？?])|不(?:再)?报错了|没有?报错|完美|太好了|^(?:谢谢|多谢|感谢)",
    )
)
# What comes before a word may take it back: a condition, a question about what would be, a denial.
_UNSURE: Final = (
    r"(?:\b(?:if|when|whenever|unless|until|in case|where|whether|so that|make sure|ensure|check|what|how|should|would|could|might|may|"
    r"without|never|no longer|not|n['’]t|doesn['’]t|don['’]t|isn['’]t)\b|如果|要是|假如|万一|怎么|怎样|会不会|是否|是不是|为什么会|不再|没有?)[^.!?\n。！？]{0,40}$"
)
_BUT: Final = r"\b(?:but|however|although|though|except|still|unfortunately)\b|但|不过|可是|还是|還是|仍"
_REPORT: Final = "|".join(
    (
        r"Traceback \(most recent call last\)",
        r"^\s*(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)(?::|\b.*\n\s+at )",
        r"^error(?:\[E\d+\])?: ",
        r"\berror TS\d+:",
        r"^npm ERR!",
        r"^(?:panic|fatal|fatal error): ",
        r"\bSegmentation fault\b",
        r"^(?:FAILED|FAIL|E  ) ",
        r"=+ .*\d+ failed",
    )
)
_ASKS_BACK: Final = r"[?？]\s*[\"'*_)）]*\s*$"
_REFUSAL: Final = r"^(?:hm+,? |sorry,? |ok,? |but )?(?:no|nope)\b"


def verdict(text: str, *, answer: str = "") -> Verdict | None:
    """Return what *text*, a person's turn after *answer*, shows of it; None when it shows nothing.

    >>> verdict("Still failing, same error"), verdict("thanks, that fixed it"), verdict("还是报错"), verdict("好了，可以了")
    ('failed', 'worked', 'failed', 'worked')
    >>> verdict("What should happen when it fails?"), verdict("Now add a test"), verdict("no, leave it", answer="Shall I push?")
    (None, None, None)
    """
    beginning = text[:READ].lower().replace("’", "'")
    failed = _sure(_FAILED, beginning)
    if failed and re.search(_REFUSAL, failed[0]) and re.search(_ASKS_BACK, answer[-READ:]):
        failed = None  # "no" answers what was asked back
    worked = _sure(_WORKED, beginning)
    if failed and worked:
        return "failed" if failed.start() < worked.start() or re.search(_BUT, beginning) else "worked"
    if failed:
        return "failed"
    if worked:
        return "worked"
    is_report = re.search(_REPORT, text[:REPORT_READ], re.MULTILINE) is not None
    return "failed" if is_report else None


def _sure(pattern: str, text: str) -> re.Match[str] | None:
    """Return the first place where *pattern* is said for sure."""
    for found in re.finditer(pattern, text, re.MULTILINE):
        if re.search(_UNSURE, text[: found.start()]) is None:
            return found
    return None
