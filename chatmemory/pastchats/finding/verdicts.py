"""``verdict``: decides whether a user's next turn shows that an answer worked, or that it failed.

Most turns show neither, and then there is no verdict: a wrong failure would keep an agent from a solution that works.
Words count only if they are about the answer: ``it still fails`` is a verdict, ``what if it fails?`` is a question.

A pattern is compiled and tried only if the text contains one of its strings: most turns contain none, and compiling a
pattern takes up to a millisecond.  Texts are in lower case, with straight apostrophes.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal, TypeAlias

Verdict: TypeAlias = Literal["worked", "failed"]
READ: Final = 400  # characters: a verdict is at the beginning
REPORT_READ: Final = 4_000  # characters in which a pasted error report is searched

Patterns: TypeAlias = tuple[tuple[str, str], ...]
"""Strings of which one must occur in the text, between bars, and the pattern."""

_NOT: Final = r"(?:(?:did|does|do|is|was|are|can|could|wo|would)(?:n'?t| not)|cannot|won'?t|ain'?t|not|never)"
_THINGS: Final = "fix|change|patch|code|command|script|tests?|build|query|solution|approach|answer|suggestion|problem|error"
# "that" after a noun begins a relative clause: "write a test that fails".
_IT: Final = (
    r"(?:\bit|(?:^|[.,;:!?\n] ?|\b(?:and|but|now|so|thanks|ok|well|sorry|no|yes|yep|hm+|unfortunately) )(?:this|that|these|they|which)"
    rf"|\bthe (?:{_THINGS}))"
)
_TROUBLE: Final = "(?:error|problem|issue|exception|failure)"
# "Use the same error type" is not a verdict.
_ITSELF: Final = (
    r"\b(?! (?:types?|class(?:es)?|handling|handlers?|codes?|messages?|pages?|format|boundary|as in)\b)"
)
_FAILS: Final = (
    r"fails?|failed|freezes|froze|crash(?:es|ed)|hangs|errors? out|throws|threw|times? out|timed out"
)
_GIVES: Final = r"(?:raises|raised|gives?|gave)(?: me)? (?:an? |the )?(?:\w+ )?(?:error|exception)"
_DOES: Final = "work|help|fix|solve|compile|build|run|pass|start|load|match|apply|install|respond|open|render|connect|do what|seem to (?:work|help)"
_STILL: Final = (
    "there\\b|blank|empty|missing|fail|broken|crash|hang|wrong|red|not |get|got|see|throw|show|happen|have the|having|block|lock|slow|does|isn|can|won|stuck|waiting|loading"
    rf"|an? \w*error|error|\d+ ?(?:m?s|seconds?|minutes?|errors|failures|times)\b|rebuild|times? ?out|no luck|nothing(?=[.,!]|$)|the same (?:result|output|{_TROUBLE})"
)
_BROKE: Final = r"broke|breaks|made it worse|got it wrong|(?:is|are|was|were|'s|'re) (?:wrong|incorrect|not (?:right|correct|what i))"
_SEEN: Final = r"\w*errors?|\w*exceptions?|traceback|panic|segfault|failures?|timeouts?"
_BEFORE_NO: Final = r"^(?:hm+,? |sorry,? |ok,? |but )?"

REFUSAL: Final = rf"{_BEFORE_NO}(?:no|nope)\b"
"""Means a failure only if the assistant did not ask a question before."""

FAILED: Final[Patterns] = (
    (
        "n't|dnt |snt |ont |arent |cant |aint | not |cannot|never",
        rf"{_IT} (?:still |also |just |really )?{_NOT} (?:\w+ )?(?:{_DOES})",
    ),
    (
        "did|does",
        (
            r"\b(?:did|does)(?:n'?t| not) (?:work|help|fix|solve|(?:change|do) anything|make (?:a|any) difference)\b"
            rf"|^(?:hm+,? |sorry,? )?(?:did|does)(?:n'?t| not) (?:\w+ )?(?:{_DOES})\b"
        ),
    ),
    (
        "t working",
        r"(?:^(?:still |hm+,? )?|\b(?:it|this|that)(?:'s| is) (?:still )?)not working\b|\bisn't working\b",
    ),
    ("still ", rf"\bstill (?:{_STILL})"),
    (
        "no|wrong|incorrect",
        (
            rf"{_BEFORE_NO}(?:no|nope|wrong|incorrect|not quite|not really)\b(?=[,.!:;]|$| (?:that|this|it|you)\b)"
            r"(?!,? (?:problem|worries|thanks|thank|need|rush|hurry|questions?)\b)"
        ),
    ),
    (
        "same ",
        (
            rf"\bsame (?:\w+ )?{_TROUBLE}{_ITSELF}"
            r"|^(?:hm+,? |again,? |still |exactly )*(?:the )?same (?:result|output|behaviou?r|thing)(?=[.,!]|$| again| as before)"
        ),
    ),
    (
        "another |new |different ",
        (
            r"(?:^|\bnow,? |\bbut )(?:there is |there's |i have |it has |with )?(?:an? )?(?:another|new|different) "
            rf"(?:\w+ )?{_TROUBLE}{_ITSELF}"
        ),
    ),
    (
        "broke|breaks|worse|wrong|incorrect|not right|not correct|not what i",
        rf"\b(?:you|that|it|this|(?:that|this|the) (?:{_THINGS})|your \w+) ?(?:just |has |have |completely )?(?:{_BROKE})",
    ),
    (
        "that's |not what i",
        r"\bthat's (?:wrong|incorrect|not (?:right|correct|what i|it\b|working))|^(?:no,? |hm+,? )?not what i (?:meant|asked|wanted)\b",
    ),
    (
        "error|exception|traceback|panic|segfault|failure|timeout",
        (
            r"\b(?:now |and |but )?(?:i|we)(?:'m|'re)? (?:am |are |now |just |still )?(?:get|got|getting|see|seeing|hit|hitting) "
            rf"(?:this |the |an? |these )?(?:\w+ ){{0,3}}(?:{_SEEN})\b"
        ),
    ),
    (
        "fail|crashe|freezes|froze|hangs|error|throws|threw|time out|times out|timed out|exception",
        rf"(?<!why does )(?<!why do ){_IT} (?:now )?(?:{_FAILS}|{_GIVES})\b",
    ),
    (
        "throwing|raising|crashing|failing|hanging|looping|leaking|gives me|gave me",
        (
            r"\b(?:it|this|that)(?:'s| is) (?:now |still )?(?:throwing|raising|crashing|failing|hanging|looping|leaking)\b"
            rf"|{_IT} (?:now )?(?:gives|gave) me\b"
        ),
    ),
    (
        "nothing ",
        r"(?:^|\b(?:and|but|then|now) )nothing (?:happens|happened|changes|changed|works(?= now| any ?more| at all|[.,!]|$))\b",
    ),
    (
        "broken|gone|missing|blank|white|frozen|empty|red|down",
        (
            r"^(?:but )?now (?:the |my )?\w+(?: \w+)? (?:is|are) (?:broken|gone|missing|blank|white|frozen|empty|red|down)\b"
            r"|^\w+, (?:but )?now (?:the |my )?\w+(?: \w+)? (?:is|are) (?:\w+ly )?(?:broken|blank)\b"
        ),
    ),
    (
        "after this|after that|after your|after the|since this|since that|since your|since the",
        (
            r"\b(?:is|are|was|fails|crashes|hangs|breaks|blank|broken|slower)\b[^.?!\n]{0,40} "
            r"(?:after|since) (?:this|that|your|the) (?:last )?(?:change|fix|patch)\b"
        ),
    ),
    (
        "is red|are red|fail|broke|crashed",
        (
            r"^(?:but |and )?(?:the )?(?:ci|builds?|tests?|pipeline|deploy(?:ment)?)"
            r"(?: (?:is|are) (?:now |still )?(?:red|broken)(?=[.,!]|$| again)"
            r"| (?:is|are) (?:(?:now|still) failing|failing now)\b|(?: just)?(?: now)? (?:failed|fails?|crashed|broke)(?=[.,!]|$| with| at| again))"
        ),
    ),
    (
        "keep",
        r"(?:^|[,.;] |\bbut )(?:it|the \w+) keeps? (?:restarting|crashing|failing|hanging|looping|timing out|getting|throwing|showing)\b",
    ),
    (
        "i get|i'm getting",
        r"""\bi(?: get|'m getting) ["'`][^"'`\n]{1,60}["'`](?: now| again| instead)?(?=[.,!]|$)""",
    ),
    ("worse|slower", r"\b(?:it|this|that)(?:'s| is| got) (?:even |now |much )*(?:worse|slower)\b"),
    (
        "introduced|caused|causes|broke|breaks",
        r"^(?:that|this|it) (?:just )?caused an? |\byour (?:\w+ )?(?:fix|change|patch|code|version|commit)\b[^.?!\n]{0,20} (?:introduced|caused|causes|broke|breaks)\b",
    ),
    (
        "persist|remain|back|effect|only works|not fixed|not solved|not resolved",
        (
            rf"\bthe (?:same )?(?:bug|{_TROUBLE})s? (?:still )?(?:persists?|remains?|(?:came|is|are) back)\b|\b(?:has|had) no effect\b"
            r"|\b(?:it|that|this) only works\b|^(?:still )?not (?:fixed|solved|resolved)(?=[.,!]|$)"
        ),
    ),
    (
        "any more|anymore|nothing is|nothing gets|does nothing|did nothing|no good|no longer |stopped working|no difference|doing the same",
        (
            r"^(?:but |and |now )*(?:it|this|that|the \w+(?: \w+)?) (?:does|did|do) nothing\b|^(?:no,? |still )?no good(?=[.,!]|$)"
            r"|^(?:but |and |now )*(?:it|the \w+(?: \w+)?) (?:no longer (?:work|load|start|compile|build|run)s|stopped working|made no difference|won't \w+ any ?more)\b"
            r"|\bit's (?:still )?doing the same\b|^nothing (?:is|gets) (?:rendered|shown|displayed|saved|written|sent)\b"
        ),
    ),
    ("wrong ", r"^(?:no,? |sorry,? )?wrong \w+(?=[.,!]|$)"),
    (
        "not the |n't the ",
        r"\b(?:that|it)(?:'s| is| was|)(?: not|n't) the (?:problem|cause|issue|reason|bug)\b",
    ),
    ("ugh|argh|damn|hm", r"^(?:ugh|argh|damn|hm+),? (?:not )?again(?=[.,!]|$)"),
    (
        "now the|now my|now all|now some|now other|now two|now three|now every",
        r"^(?:and |but )?now (?:(?:the|my|all|some|other|two|three|every) )(?:\w+ ){1,3}(?:fails?|crash(?:es)?|breaks?|hangs?)\b",
    ),
    (
        "getting |seeing ",
        r"""^(?:now |still |i'm |but )*(?:getting|seeing) (?:an? |the )?["'`]?(?:\d{3}\b|\w*errors?\b|\w*exceptions?\b|timeouts?\b|nothing\b)""",
    ),
    ("return", r"\breturns? (?:nothing|null|none|empty \w+|an empty \w+|\w+ rows) (?:now|again)\b"),
    ("but ", r"\bbut (?:it )?(?:now )?(?:panics|crashes|fails|hangs|breaks|segfaults|leaks|loops)\b"),
    (
        "the wrong ",
        r"\byou(?:'ve| have)? (?:removed|deleted|changed|edited|renamed|moved|fixed) the wrong\b",
    ),
    (
        "made |makes ",
        r"\b(?:that|this|it|the (?:fix|change|patch)) (?:made|makes) (?:it|things|everything|the \w+(?: \w+)?) (?:slower|worse|hang|crash|fail)\b",
    ),
    ("revert|undo|roll", r"^(?:please )?(?:revert|undo|roll back|rollback|/undo)\b"),
    (
        "revert|roll|back",
        r"\b(?:i|we)(?:'ve| have)? (?:just )?(?:had to (?:revert|roll|back)|reverted|rolled|backed)(?: (?:it|that|this))? ?(?:back|out|it|that|this)\b",
    ),
    (
        "no change|no difference|no effect|no luck|slower|not an option",
        r"^(?:hm+,? |sorry,? )?no (?:change|difference|effect|luck)\b(?! (?:to|of|for|is|request|need))|[,.;] (?:but |and |still )?no (?:difference|effect|luck)(?=[.,!]|$)|\bmade (?:it|things) (?:\w+ )?slower|\b(?:that|this)(?:'s| is) not an option",
    ),
)
FAILED_CHINESE: Final[Patterns] = (
    ("不对|不對", r"(?<![对對“\"「])不[对對](?![不劲称等应齐外]|吗|吧)"),
    ("不行", r"(?<!行)不行(?!吗)"),
    (
        "用|效|解|反应|变化",
        r"没用|沒用|没有用|[没沒]有?(?:效果|生效|解决|解決|反应(?![式堆])|变化)|不起作用|不管用(?![哪什谁多])|不能用|用不了",
    ),
    ("跑不|运行不了|编译不过", r"跑不(?:起来|通)|运行不了|编译不过"),
    (
        "还是|還是|仍|依|又|结果",
        r"(?:还是|還是|仍然|仍旧|依然|依旧|又|结果)(?:会)?(?:不(?!对)|没|沒|报(?![告名表备])|報錯|出错|失败|失敗|一样|一樣|有(?:问题|錯|错)|卡)",
    ),
    (
        "还是|仍|依旧",
        r"(?:还是|仍然?|依旧)(?:老样子|(?:有点|很|太)?(?:慢|卡|错)(?![误过])|有 ?(?:bug|问题))",
    ),
    (
        "复现|修好|回去了|乱了",
        r"(?:仍然?|还是?|又|还能)(?:能|会)?复现|没有?修好|又变回去了|全乱了",
    ),
    ("不好使", r"不好使(?![吗的])"),
    (
        "打不开|进不去|白屏|黑屏|闪退|卡死|死机|崩溃",
        r"(?:打不开|进不去|白屏|黑屏|闪退|卡死|死机|崩溃)了(?=[，,。！!]|$)",
    ),
    ("又", r"又(?:出|有)了?问题|又(?:出|报)错"),
    ("任何", r"没有?任何(?:改善|变化|效果|反应|区别)"),
    ("有问题", r"你[^，,。！!？?\n]{0,8}有问题(?=[，,。！!]|$)"),
    ("样的", r"报(?:同|一)样的?(?:错|异常)"),
    ("还在报", r"还在报(?![告名表备])"),
    (
        "依旧|依然|还在|仍|没变",
        r"(?:问题|故障|现象|错误)(?:还是)?(?:依旧|依然|还在|仍在|仍然?存在|没变)|^依旧(?=[，,。！!]|$|如此|不)",
    ),
    (
        "通过|没过|不过",
        r"(?:测试|编译|构建|检查|校验|ci)[^，,。！!？?\n]{0,4}(?:没有?|不)(?:通过|过)(?![的滤])",
    ),
    ("我要的|我想要的|的不一样", r"不是我(?:想)?要的|[和跟]我(?:想要?|要|说)的不一样"),
    ("坏了", r"(?:改|弄|搞)坏了"),
    ("不了", r"^[^，,。！!\n]{0,6}(?:启动|运行|登录|打开|编译|连接|访问|保存)不了(?=[，,。！!]|$)"),
    (
        "慢了|卡了|糟了|差了",
        r"(?:改完|改了|现在|反而)[^，,。！!\n]{0,6}(?:更|变)(?:慢|卡|糟|差)了",
    ),
    ("报错|報錯|出错|失败", r"(?:^|[，,。！!\s])(?:报错|報錯|出错|失败)(?:了|：|:)"),
    ("回滚|回退", r"(?:已经|已|先|只好|只能|不得不)(?:回滚|回退)|(?:回滚|回退)了(?![吗么])"),
    ("投诉", r"投诉(?:越来越多|不断|了)|(?:又|还|被|都在)(?:有人)?投诉"),
    (
        "不到|不出|不上|不开|不了|不起|不动|不通",
        (
            r"(?:还是|還是|仍然?|依然|依旧|果然|又|结果|都|全都?)[^，,。！!\n]{0,8}"
            r"(?:搜|找|看|连接?|打|收|查|登|跑|装|导|传|编译|启动|显示|生效)不(?:到|出|上|开|了|起来|动|通)"
        ),
    ),
    (
        "还是|還是|仍|依|还会|还在",
        r"(?:还是|還是|仍然?|依然|依旧|还会|还在)(?:会)?(?:很慢|太慢|超时|断|崩溃|挂|卡|丢|乱码|闪退|重复|泄漏)",
    ),
    (
        "换个|换一|不同意|不能接受|不可行",
        r"^[^。！!\n]{0,16}(?:换个|换一[个种])(?:办法|方法|方案|思路|方式)|不同意[，,。]|不能接受|不可行",
    ),
    (
        "崩|挂|卡死|闪退|白屏|空白|乱码",
        r"(?:又|还是|還是|仍然?|依然|依旧|结果|全都?|都|变)(?:是|成)?(?:崩|挂(?![载钩在起])|卡死|闪退|白屏|空白|乱码)",
    ),
    ("不了了", r"(?:启动|运行|登录|打开|编译|连接?|访问|跑|用|保存)不了了"),
    ("报错|失败|出错", r"(?:编译|运行|启动|执行|构建)(?:又|时|还)?(?:报错|失败|出错)(?:了|：|:)"),
    ("不是这个", r"不是这个(?:问题|原因|意思)"),
    ("越", r"越改越|越来越(?:慢|卡|糟)"),
    ("错文件|错地方", r"[改删]错(?:文件|地方)"),
    ("错了|同样的", r"(?:改|弄|搞|答|写|说|做|删)错了|同样的(?:错误|问题|报错)"),
)
WORKED: Final[Patterns] = (
    (
        "work|did it|the trick|passes|passed|fixed it|fixed the|solved it|solved the|resolved|helped",
        (
            rf"(?<!make )(?<!making )(?:{_IT}|\bnow|\beverything|\ball|\bboth) (?:now |all |finally |really |indeed )?(?:works?\b"
            r"|worked\b(?! (?:before|until|yesterday|last))|did it\b|did the trick|does the trick|passes|passed\b"
            r"|(?:fixed|solved|resolved) (?:it|the)|helped)"
        ),
    ),
    (
        "work",
        r"\bworks? (?:\w+ )?(?:now|again|perfectly|great|fine|like a charm|well)\b|^(?:yes|yep|yeah|ok|okay),? works(?=[.,!]|$)",
    ),
    (
        "exactly what",
        r"\b(?:that's|this is|that is) exactly what i (?:needed|wanted|meant|was looking for)\b",
    ),
    (
        "confirmed|fixed|solved|resolved",
        r"^(?:(?:yes|yep|great|ok|problem|issue|bug)[,!]? )?(?:confirmed|fixed|solved|resolved)(?=[,.!]|$| working)",
    ),
    (
        "all good|green|does it|tests pass|loads|finishes|renders|passes|opens|connects|is stable|is fast|is fine|s fast now|i can ",
        (
            r"(?:^|[,.;] )(?:all good|(?:finally|all) green|that does it|(?:all )?(?:the )?tests pass|it's fast now)(?=[.,!]|$)"
            r"|^(?:\w+,? )?(?:the \w+(?: \w+)?|it|everything) (?:loads|finishes|renders|passes|opens|connects|is (?:stable|fast|fine)) (?:now|again)\b"
            r"|^(?:ok,? )?i can (?:\w+ ){1,2}(?:now|again)(?=[.,!]|$)"
        ),
    ),
    (
        "builds|compiles|runs|loads|starts",
        r"(?:\bit (?:now )?|^(?:ok,? |yes,? )?)(?:builds|compiles|runs|loads|starts) (?:now|fine|again|cleanly|without (?:any )?(?:errors?|problems?|issues?))\b",
    ),
    ("looks |seems ", r"\b(?:looks|seems) (?:good|right|correct|fine|great) now\b"),
    ("working", r"(?:^|[,.;] )(?:deployed|merged|tested|installed)(?: it)? and (?:it's )?working\b"),
    ("were right", r"\byou were right[,.:!]* (?:it|that) was\b"),
    (
        "gone|that was it",
        r"\b(?:leak|error|problem|bug|issue|crash|warning)s? (?:(?:is|are) gone\b|gone(?=[.,!]|$))|\bthat was it\b",
    ),
    (
        "no ",
        r"\bno (?:more )?(?:errors?|crashes|failures|timeouts|logouts|problems|issues)(?: \w+){0,2} (?:since|any ?more|so far)\b",
    ),
    (" now", r"\b(?:faster|quicker|smaller) now\b"),
    (
        "thank|thx|cheers|perfect|merge it|ship it|good catch",
        r"[,.!:;] ?(?:thanks?|thank you|thx|cheers|perfect|many thanks)(?: (?:a lot|so much|again))?[.! ]*$|\b(?:merge|ship) it[.! ]*$|\bgood catch\b",
    ),
    (
        " without ",
        r"\b(?:minutes|hours|days?|weeks?|months?|nights?|runs|since \w+) without (?:a|an|any|one)(?: single)? (?:\w+ )?(?:error|failure|crash|restart|timeout|problem|issue)",
    ),
    (
        "working|fixed|solved|green|pass",
        r"\b(?:is|are|it's) (?:now )?(?:working|fixed|solved|green|passing)\b|\ball (?:tests )?(?:pass|green)\b",
    ),
    (
        "no more|no longer",
        r"\bno (?:more|longer) (?:\w+ )?(?:errors?|fail|failing|crash|hang|warnings?|problem)",
    ),
)
WORKED_CHINESE: Final[Patterns] = (
    (
        "了|啦|管用|有效",
        (
            r"(?<![还還没沒不])(?:(?<!太)好了|可以了(?!解)|解决[了啦]|解決[了啦]|搞定|成功了|没问题了|沒問題了|能用了|正常了|行了|通过了|修好了|跑通了|管用|有效)"
            r"(?![吗嗎么？?])"
        ),
    ),
    ("报错|出现|发生", r"不(?:再)?报错了|没有?报错|(?:没有?|不)再(?:出现|发生|报错)"),
    (
        "多了|稳定|对了|上线|合并|能",
        (
            r"(?:快|好|少)多了|稳定了|[^，,。！!\s]对了(?=[，,。！!]|$)|(?:上线|合并|合了)吧[。！!]?$"
            r"|(?:都|终于|现在|这下)(?:可以|能)[^，,。！!吗？?]{1,8}了(?![吗么])"
        ),
    ),
    (
        "过了|通过|绿了|成功|问题",
        r"(?:都|全部?|全都)(?:过|通过|绿)了|(?:部署|编译|构建|运行|上线)成功|没有?问题(?=[，,。！!]|$)|问题(?:已经?)?解决(?=[，,。！!]|$)",
    ),
    (
        "可用|好使了|可以用了|没毛病",
        r"亲测可用|(?:现在|已经?)可用|(?<![不没])好使了|可以用了|没毛病",
    ),
    (
        "正常|可以|没再|消失|修复|通过|解决|跑|成了|快了",
        (
            r"完全正常(?=[，,。！!]|$)|(?:已经|又|终于)(?:可以|能)[^，,。！!吗？?]{1,8}了|没再(?:复现|出现|发生|崩|超时)|(?:问题|错误|报错|警告)消失了"
            r"|确认(?:已经?)?修复|^(?:测试|编译|构建)(?:全部?)?通过(?=[，,。！!]|$)|^(?:终于)?(?:跑起来|能跑|成|正常工作)了(?=[，,。！!]|$)|^已(?:经)?解决(?=[，,。！!]|$)|真的快了"
        ),
    ),
    ("过了", r"(?:编译|构建|测试|全部)过了(?=[，,。！!]|$)"),
    (
        "效果|明显",
        r"效果(?:很|非常|挺)?(?:好|不错)(?=[，,。！!]|$)|(?:提升|改善)(?:很|非常)?明显|明显(?:提升|改善|快)",
    ),
    ("很多|不少", r"(?:快|好|稳定|少|小|流畅)了(?:很多|不少)"),
    ("了", r"不(?:卡|慢|崩|超时|闪退|乱码|丢)了(?![吗么])|^ok ?了"),
    ("果然是|搞定", r"果然是[^，,。！!？?\n]{1,12}(?:原因|问题)|搞定"),
)
PRAISE: Final[Patterns] = (
    (
        "perfect|great|awesome|excellent|brilliant|nice|lovely|wonderful|fantastic|looks |lgtm|thank|thx|cheers",
        (
            r"^(?:ok,? |yes,? |yay,? )?(?:lgtm\b|(?:thanks|thank you|thx|cheers)\b(?! (?:in advance|for (?:trying|nothing)))"
            r"|(?:perfect|great|awesome|excellent|brilliant|nice|lovely|wonderful|fantastic|looks (?:good|great|perfect))"
            r"(?=[^\w ]|$| (?:now|work|job|stuff|thanks?|thx|that|it|this|catch|find|fix|solution|answer|one|success)\b))"
        ),
    ),
    ("棒|好用|完美|太好了|谢", r"^(?:太棒|真棒|好用|谢谢|多谢|感谢)|完美|太好了"),
)
"""Shows that the answer worked, unless the same sentence takes it back."""
REPORTS: Final[Patterns] = (
    ("Traceback (most recent call last)", r"Traceback \(most recent call last\)"),
    ("Error|Exception", r"^\s*(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)(?::|\b.*\n\s+at )"),
    ("error: |error[", r"^error(?:\[E\d+\])?: "),
    ("error TS", r"\berror TS\d+:"),
    ("npm ERR!", r"^npm ERR!"),
    ("panic: |fatal", r"^(?:panic|fatal|fatal error): "),
    ("Segmentation fault", r"\bSegmentation fault\b"),
    ("FAIL", r"^(?:FAILED|FAIL) "),
    (" failed", r"^=+ .*\d+ failed"),
)
UNSURE: Final = (
    r"(?:\b(?:if|when|whenever|unless|until|in case|where|whether|so that|make sure|ensure|check|what|how|should|would|could"
    r"|might|may|without|never|no longer|why did|not|n't|doesn't|don't|isn't)\b|如果|要是|假如|万一|怎么|怎样|会不会|是否|是不是|不再|没有?)"
    r"[^.!?\n。！？]{0,40}$"
)
"""Words shortly before a match that cancel it: a condition, a hypothetical question, a negation."""

WHENEVER: Final = r"(?:的?时候?|之后|以后|后|的话|就|则)"
"""Words right after a match that make it a condition."""

_TURN: Final = r"\b(?:but|however|although|though|except|unfortunately)\b|(?<!不)但|不过|可是|除了"
BUT: Final = rf"{_TURN}|\bstill\b|还是|還是|仍"
_END: Final = r".!?\n。！？"
_NOT_GOOD: Final = (
    r"\b(?:crash\w*|fail\w*|errors?|broken?|breaks?|red|won't|can't|cannot|doesn't|isn't|aren't|didn't|hangs?|stuck|wrong|missing"
    r"|nothing|bugs?|keeps)\b|崩|失败|报错|错误|不行|没用|坏|红|卡住|打不开|起不来|没反应"
)
TAKEN_BACK: Final = rf"[^{_END}]*(?:[{_END}]+\s*)?(?:{_TURN})[^{_END}]*(?:{_NOT_GOOD})"
"""Right after praise: a word that takes it back, in the same sentence or at the beginning of the next one, and trouble."""

AND_NOW: Final = r"[,，]?\s?(?:and )?(?:now\b|现在)"
"""Right after praise: with a failure behind it, the praise is not meant ("Great, now nothing works")."""

ASKS_BACK: Final = r"[?？]\s*[\"'*_)）]*\s*$"
TAG: Final = "user_query"  # the tag in which Cursor encloses the text of the user


def verdict(text: str, *, answer: str = "") -> Verdict | None:
    """Return whether *text*, the user's turn after *answer*, shows that the answer worked or failed; None if neither.

    >>> verdict("Still failing, same error"), verdict("thanks, that fixed it"), verdict("还是报错"), verdict("好了，可以了")
    ('failed', 'worked', 'failed', 'worked')
    >>> verdict("What should happen when it fails?"), verdict("Now add a test"), verdict("no, leave it", answer="Shall I push?")
    (None, None, None)
    """
    return _verdict(own_words(text)[:REPORT_READ], asks_back(answer))


def asks_back(text: str) -> bool:
    """Return whether *text* ends with a question."""
    return re.search(ASKS_BACK, text[-READ:]) is not None


def own_words(text: str) -> str:
    r"""Return *text* without the tag of Cursor, if it encloses the whole text.

    >>> own_words("<user_query>\nsort by id?\n</user_query>\n"), own_words("what does <user_query> mean?")
    ('sort by id?', 'what does <user_query> mean?')
    """
    said = text.strip()
    begin, end = f"<{TAG}>", f"</{TAG}>"
    if said.startswith(begin) and said.endswith(end):
        return said[len(begin) : -len(end)].strip()
    return text


@lru_cache(maxsize=256)
def _verdict(text: str, asked_back: bool) -> Verdict | None:
    beginning = text[:READ].lower().replace("’", "'")
    failed, worked = _first(FAILED, beginning), _first(WORKED, beginning)
    if not beginning.isascii():
        failed = _earlier(failed, _first(FAILED_CHINESE, beginning))
        worked = _earlier(worked, _first(WORKED_CHINESE, beginning))
    worked = _earlier(worked, _praised(beginning, has_failed=failed is not None))
    if failed is not None and asked_back and re.search(REFUSAL, beginning[failed:]):
        failed = None  # "no" answers the assistant's question
    if failed is not None and worked is not None:
        return "failed" if failed < worked or re.search(BUT, beginning) else "worked"
    if failed is not None:
        return "failed"
    if worked is not None:
        return "worked"
    is_report = any(_places(REPORTS, text))
    return "failed" if is_report else None


def _earlier(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)


def _praised(text: str, *, has_failed: bool) -> int | None:
    """Return the first place of praise that is meant; *has_failed*: whether the text also tells a failure."""
    taken_back = rf"{TAKEN_BACK}|{AND_NOW}" if has_failed else TAKEN_BACK
    sure = (found for found in _places(PRAISE, text) if _is_sure(text, found))
    return min(
        (found.start() for found in sure if not re.match(taken_back, text[found.end() :])), default=None
    )


def _first(patterns: Patterns, text: str) -> int | None:
    """Return the first place where one of *patterns* matches and is not cancelled by a condition or a negation."""
    sure = (found.start() for found in _places(patterns, text) if _is_sure(text, found))
    return min(sure, default=None)


def _is_sure(text: str, found: re.Match[str]) -> bool:
    if re.match(WHENEVER, text[found.end() :]):
        return False
    return re.search(UNSURE, text[: found.start()]) is None


def _places(patterns: Patterns, text: str) -> list[re.Match[str]]:
    return [
        found
        for parts, pattern in patterns
        if any(part in text for part in parts.split("|"))
        for found in re.finditer(pattern, text, re.MULTILINE)
    ]
