"""Stop words, and the character classes of Chinese, Japanese and Korean.

No pattern is compiled here, because a search in past chats must be fast and needs no other part of ``search_terms.py``.
"""

from typing import Final

STOP_WORDS: Final = frozenset(
    """a about above after again all also am an and any are aren't as at be because been before being both but by can
    can't cannot could couldn't did didn't do does doesn't doing don't down each even ever few for from get gets getting
    go goes going gonna got had has hasn't have haven't having he he's her here hers him his how i i'd i'll i'm i've if
    in into is isn't it it's its itself just kind kinda know let let's like ll lot lots made make makes many may maybe me
    might more most much must my myself need needs no nor not now of off oh ok okay on one only or other our ours out
    over own please put really re right said same say see she she's should so some something still such sure take
    than thank thanks that that's the their them then there there's these they they're thing things think this those
    though through to too try under until up us use ve very want wants was wasn't way we we'd we'll we're we've well
    were what what's when where which while who why will with won't would wouldn't wow yeah yes yep you you'd you'll
    you're you've your yours""".split()  # noqa: SIM905  a list of quoted words is hard to read
)

STOP_CHARACTERS: Final = frozenset(
    "的了是我你他她它们在有和就不都也很到说要去会着没看好这那个一为与及或之而其吗吧呢啊哦呀嗯么什怎可以能但被把对从让给还更最再又哪谁"
)
"""A pair of two of these has only a grammatical meaning; next to another character they may be half of a word."""

PARTICLES: Final = frozenset("的了吗呢吧啊么什怎哪谁")
"""A pair with one of these crosses two words, or is a question word: 时的, 锁了, 怎么."""

# Each is the inside of a character class: re.compile(f"[{HAN}]").
HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
"""Every block of ideographs of Unicode 16, without the hexagrams between the first two."""

KANA_AND_HANGUL: Final = "\u3040-\u30ff\uac00-\ud7af"

CJK: Final = HAN + KANA_AND_HANGUL

CJK_RUN: Final = f"([{CJK}]+)"
"""A pattern, not compiled.  Compiling takes 2 ms; code that passes this same text to ``re`` shares its cache.
``re.split(CJK_RUN, text)`` has the runs at its odd places."""
