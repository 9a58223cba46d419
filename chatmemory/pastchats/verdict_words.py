"""What people say of an answer that failed, and of one that worked: patterns, each with the parts that it needs.

A pattern is compiled and tried only where one of its parts stands: most turns hold none.  Texts are in lower case, with
straight apostrophes.
"""

from typing import Final, TypeAlias

Patterns: TypeAlias = tuple[tuple[tuple[str, ...], str], ...]
"""Parts, one of which must stand in the text, and the pattern."""

_NOT: Final = r"(?:(?:did|does|do|is|was|are|can|could|wo|would)(?:n'?t| not)|cannot|won'?t|ain'?t|not|never)"
_THINGS: Final = (
    "fix|change|patch|code|command|script|tests?|build|query|solution|answer|suggestion|problem|error"
)
# "that" after a noun tells which one: "write a test that fails".
_IT: Final = (
    r"(?:\bit|(?:^|[.,;:!?\n] ?|\b(?:and|but|now|so|thanks|ok|well|sorry|no) )(?:this|that|these|they|which)"
    rf"|\bthe (?:{_THINGS}))"
)
_TROUBLE: Final = "(?:error|problem|issue|exception|failure)"
# "Use the same error type": no verdict.
_ITSELF: Final = (
    r"\b(?! (?:types?|class(?:es)?|handling|handlers?|codes?|messages?|pages?|format|boundary|as in)\b)"
)
_FAILS: Final = r"fails?|failed|crash(?:es|ed)|hangs|errors? out|throws|threw|times? out|timed out"
_GIVES: Final = r"(?:raises|raised|gives?|gave)(?: me)? (?:an? |the )?(?:\w+ )?(?:error|exception)"
_DOES: Final = "work|help|fix|solve|compile|build|run|pass|start|load|match|seem to (?:work|help)"
_STILL: Final = (
    "fail|broken|crash|hang|wrong|red|not |get|got|see|throw|show|happen|have the|having|block|lock|slow|does|isn|can|won"
    rf"|an? \w*error|error|\d+ ?(?:m?s|seconds?|minutes?|errors|failures|times)\b|rebuild|times? ?out|the same (?:result|output|{_TROUBLE})"
)
_BROKE: Final = r"broke|breaks|made it worse|got it wrong|(?:is|are|was|were|'s|'re) (?:wrong|incorrect|not (?:right|correct|what i))"
_SEEN: Final = r"\w*errors?|\w*exceptions?|traceback|panic|segfault|failures?|timeouts?"
_BEFORE_NO: Final = r"^(?:hm+,? |sorry,? |ok,? |but )?"

REFUSAL: Final = rf"{_BEFORE_NO}(?:no|nope)\b"
"""A failure only where nothing was asked back."""

FAILED: Final[Patterns] = (
    (
        ("n't", "nt ", " not ", "cannot", "never"),
        rf"{_IT} (?:still |also |just |really )?{_NOT} (?:\w+ )?(?:{_DOES})",
    ),
    (("did", "does"), r"\b(?:did|does)(?:n'?t| not) (?:work|help|fix|solve|change anything)\b"),
    (("still ",), rf"\bstill (?:{_STILL})"),
    (
        ("no", "wrong", "incorrect"),
        (
            rf"{_BEFORE_NO}(?:no|nope|wrong|incorrect|not quite|not really)\b(?=[,.!:;]| (?:that|this|it|you)\b)"
            r"(?!,? (?:problem|worries|thanks|thank|need|rush|hurry|questions?)\b)"
        ),
    ),
    (("same ",), rf"\bsame (?:\w+ )?{_TROUBLE}{_ITSELF}"),
    (
        ("another ", "new ", "different "),
        (
            r"(?:^|\bnow,? |\bbut )(?:there is |there's |i have |it has |with )?(?:an? )?(?:another|new|different) "
            rf"(?:\w+ )?{_TROUBLE}{_ITSELF}"
        ),
    ),
    (
        ("broke", "breaks", "worse", "wrong", "incorrect", "not "),
        rf"\b(?:you|that|it|this|your \w+) ?(?:just |has |have |completely )?(?:{_BROKE})",
    ),
    (("that's ",), r"\bthat's (?:wrong|incorrect|not (?:right|correct|what i|it\b|working))"),
    (
        ("error", "exception", "traceback", "panic", "segfault", "failure", "timeout"),
        (
            r"\b(?:now |and |but )?(?:i|we)(?:'m|'re)? (?:am |are |now |just |still )?(?:get|got|getting|see|seeing|hit|hitting) "
            rf"(?:this |the |an? |these )?(?:\w+ ){{0,3}}(?:{_SEEN})\b"
        ),
    ),
    (
        ("fail", "crash", "hang", "error", "thr", "time", "exception"),
        rf"{_IT} (?:now )?(?:{_FAILS}|{_GIVES})\b",
    ),
    (("revert", "undo", "roll"), r"^(?:please )?(?:revert|undo|roll back|rollback|/undo)\b"),
    (
        ("revert", "roll", "back"),
        r"\b(?:i|we)(?:'ve| have)? (?:just )?(?:had to (?:revert|roll|back)|reverted|rolled|backed)(?: (?:it|that|this))? ?(?:back|out|it|that|this)\b",
    ),
    (
        ("no change", "no difference", "no effect", "no luck", "slower", "not an option"),
        r"^(?:hm+,? |sorry,? )?no (?:change|difference|effect|luck)\b|\bmade (?:it|things) (?:\w+ )?slower|\b(?:that|this)(?:'s| is) not an option",
    ),
)
FAILED_CHINESE: Final[Patterns] = (
    (("不对", "不對"), r"(?<![对對])不[对對](?![不劲称等应齐外]|吗|吧)"),
    (("不行",), r"(?<!行)不行(?!吗)"),
    (
        ("用", "效", "解", "反应", "变化"),
        r"没用|沒用|没有用|[没沒]有?(?:效果|生效|解决|解決|反应|变化)|不起作用|不管用|不能用|用不了",
    ),
    (("跑不", "运行不了", "编译不过"), r"跑不(?:起来|通)|运行不了|编译不过"),
    (
        ("还是", "還是", "仍", "依", "又", "结果"),
        r"(?:还是|還是|仍然|仍旧|依然|依旧|又|结果)(?:会)?(?:不|没|沒|报错|報錯|出错|失败|失敗|一样|一樣|有(?:问题|錯|错)|卡)",
    ),
    (("报错", "報錯", "出错", "失败"), r"(?:^|[，,。！!\s])(?:报错|報錯|出错|失败)(?:了|：|:)"),
    (("回滚", "回退"), r"(?:已经|已|先|只好|只能|不得不)(?:回滚|回退)|(?:回滚|回退)了(?![吗么])"),
    (("投诉",), r"投诉(?:越来越多|不断|了)|(?:又|还|被|都在)(?:有人)?投诉"),
    (
        ("不到", "不出", "不上", "不开", "不了", "不起", "不动", "不通"),
        (
            r"(?:还是|還是|仍然?|依然|依旧|果然|又|结果|都|全都?)[^，,。！!\n]{0,8}"
            r"(?:搜|找|看|连|打|收|查|登|跑|装|导|传|编译|启动|显示|生效)不(?:到|出|上|开|了|起来|动|通)"
        ),
    ),
    (
        ("还是", "還是", "仍", "依", "还会", "还在"),
        r"(?:还是|還是|仍然?|依然|依旧|还会|还在)(?:会)?(?:很慢|太慢|超时|断|崩溃|挂|卡|丢|乱码|闪退|重复|泄漏)",
    ),
    (
        ("换个", "换一", "不同意", "不能接受", "不可行"),
        r"^[^。！!\n]{0,16}(?:换个|换一[个种])(?:办法|方法|方案|思路|方式)|不同意[，,。]|不能接受|不可行",
    ),
    (("错了", "同样的"), r"(?:改|弄|搞|答|写|说|做)错了|同样的(?:错误|问题|报错)"),
)
WORKED: Final[Patterns] = (
    (
        ("work", "did ", "trick", "pass", "fixed", "solved", "helped"),
        (rf"(?:{_IT}|\bnow|\beverything|\ball|\bboth) (?:now |all |finally |really |indeed )?(?:works?\b"
        r"|worked\b(?! (?:before|until|yesterday|last))|did it\b|did the trick|does the trick|passes|passed\b"
        r"|fixed (?:it|the)|solved (?:it|the)|helped)"),
    ),
    (("work",), r"\bworks? (?:\w+ )?(?:now|perfectly|great|fine|like a charm|well)\b"),
    (
        ("thank", "thx", "cheers", "perfect", "merge it", "ship it", "good catch"),
        r"[,.!:;] ?(?:thanks?|thank you|thx|cheers|perfect|many thanks)(?: (?:a lot|so much|again))?[.! ]*$|\b(?:merge|ship) it[.! ]*$|\bgood catch\b",
    ),
    (
        (" without ",),
        r"\b(?:minutes|hours|days?|weeks?|months?|nights?|runs|since \w+) without (?:a|an|any|one)(?: single)? (?:\w+ )?(?:error|failure|crash|restart|timeout|problem|issue)",
    ),
    (
        ("working", "fixed", "solved", "green", "pass"),
        r"\b(?:is|are|it's) (?:now )?(?:working|fixed|solved|green|passing)\b|\ball (?:tests )?(?:pass|green)\b",
    ),
    (("no more", "no longer"), r"\bno (?:more|longer) (?:\w+ )?(?:errors?|fail|failing|crash|hang|warnings?|problem)"),
    (
        ("perfect", "great", "awesome", "excellent", "brilliant", "nice", "lovely", "wonderful", "fantastic", "lgtm", "thank",
         "thx", "cheers"),
        (r"^(?:ok,? |yes,? |yay,? )?(?:perfect|great|awesome|excellent|brilliant|nice|lovely|wonderful|fantastic|lgtm|thanks"
        r"|thank you|thx|cheers)\b"),
    ),
)  # fmt: skip
WORKED_CHINESE: Final[Patterns] = (
    (
        ("了", "管用", "有效"),
        (
            r"(?<![还還没沒])(?:好了|可以了|解决了|解決了|搞定|成功了|没问题了|沒問題了|能用了|正常了|行了|通过了|修好了|跑通了|管用|有效)"
            r"(?![吗嗎么？?])"
        ),
    ),
    (("报错", "出现", "发生"), r"不(?:再)?报错了|没有?报错|(?:没有?|不)再(?:出现|发生|报错)"),
    (
        ("多了", "稳定", "对了", "上线", "合并", "能"),
        (
            r"(?:快|好|少)多了|稳定了|[^，,。！!\s]对了(?=[，,。！!]|$)|(?:上线|合并|合了)吧[。！!]?$"
            r"|(?:都|终于|现在|这下)(?:可以|能)[^，,。！!吗？?]{1,8}了(?![吗么])"
        ),
    ),
    (("完美", "太好了", "谢", "搞定"), r"完美|太好了|搞定|^(?:谢谢|多谢|感谢)"),
)
REPORTS: Final[Patterns] = (
    (("Traceback (most recent call last)",), r"Traceback \(most recent call last\)"),
    (("Error", "Exception"), r"^\s*(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)(?::|\b.*\n\s+at )"),
    (("error: ", "error["), r"^error(?:\[E\d+\])?: "),
    (("error TS",), r"\berror TS\d+:"),
    (("npm ERR!",), r"^npm ERR!"),
    (("panic: ", "fatal"), r"^(?:panic|fatal|fatal error): "),
    (("Segmentation fault",), r"\bSegmentation fault\b"),
    (("FAIL",), r"^(?:FAILED|FAIL) "),
    ((" failed",), r"^=+ .*\d+ failed"),
)
UNSURE: Final = (
    r"(?:\b(?:if|when|whenever|unless|until|in case|where|whether|so that|make sure|ensure|check|what|how|should|would|could"
    r"|might|may|without|never|no longer|not|n't|doesn't|don't|isn't)\b|如果|要是|假如|万一|怎么|怎样|会不会|是否|是不是|不再|没有?)"
    r"[^.!?\n。！？]{0,40}$"
)
"""What, said shortly before, takes a word back: a condition, a question about what would be, a denial."""

BUT: Final = r"\b(?:but|however|although|though|except|still|unfortunately)\b|但|不过|可是|还是|還是|仍"
ASKS_BACK: Final = r"[?？]\s*[\"'*_)）]*\s*$"
