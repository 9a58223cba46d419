"""The characters of Chinese, Japanese and Korean, each constant the inside of a character class: ``re.compile(f"[{HAN}]")``.

What is made of a text that holds them is for those who read it: ``search_terms.py``, the extraction, the embedders.
"""

from typing import Final

HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
"""Every block of ideographs, Unicode 16; the hexagrams between the first two are no writing."""

KANA_AND_HANGUL: Final = "\u3040-\u30ff\uac00-\ud7af"

CJK: Final = HAN + KANA_AND_HANGUL

CJK_RUN: Final = f"([{CJK}]+)"
"""A pattern.  Such a class takes 2 ms to compile: whoever uses this one, as text, shares what ``re`` remembers of it.
``re.split(CJK_RUN, text)`` has the runs at its odd places."""
