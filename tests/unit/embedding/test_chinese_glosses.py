"""How a text is cut: into the pieces of BERT's tokenizer, and Chinese words into the pieces of their glosses."""

from pathlib import Path

import numpy as np
import pytest

from chatmemory_layers.embedding.bundled import GLOSSES, vocabulary
from chatmemory_layers.embedding.chinese_glosses import ChineseGlosses, chinese_glosses
from chatmemory_layers.embedding.composite import bundled_rows
from chatmemory_layers.embedding.text_features import WordPiece

PIECES = vocabulary()


def glosses_of(text: str) -> dict[str, float]:
    places, weights = chinese_glosses().pieces(text)
    return {PIECES[place]: weight for place, weight in zip(places, weights, strict=True)}


def test_a_word_has_the_pieces_of_its_glosses_if_it_has_any() -> None:
    assert set(glosses_of("花生")) == {"peanut"}
    for text in ("医院", "醫院", "我的医院", "an 医院 b"):
        assert set(glosses_of(text)) == {"hospital"}, text
    # No headword has the first character; the last words ask.
    for text in ("𰻝", "", "English", "ひらがな", "的", "我们", "什么", "哪种", "为什么", "有没有"):
        assert glosses_of(text) == {}, text


def test_the_longest_word_is_taken_and_what_follows_it_is_read_too() -> None:
    assert "database" in glosses_of("数据库")
    assert glosses_of("数据库医院").keys() == glosses_of("数据库").keys() | glosses_of("医院").keys()


def test_the_first_gloss_weighs_most() -> None:
    weights = glosses_of("狗")
    assert weights["dog"] == max(weights.values())


def test_words_are_found_in_every_line() -> None:
    glosses = chinese_glosses()
    lines = Path(GLOSSES.words).read_text("utf-8").splitlines()
    assert [line[0] for line in lines] == sorted({line[0] for line in lines})
    starts = np.load(GLOSSES.starts)
    number = 0
    for line in lines:
        words = line.split(" ")
        known = glosses._line_of(line[0])[0]
        assert known == {word: number + place for place, word in enumerate(words)}
        number += len(words)
    assert number == len(starts) - 1
    assert starts[-1] == len(np.load(GLOSSES.pieces)) == len(np.load(GLOSSES.weights))
    assert np.load(GLOSSES.pieces).max() < len(PIECES)


def test_the_licence_lies_beside_the_glosses() -> None:
    notice = Path(GLOSSES.words).with_name("NOTICE").read_text("utf-8")
    assert "CC-CEDICT" in notice
    assert "https://creativecommons.org/licenses/by-sa/4.0/" in notice


@pytest.fixture(scope="module")
def word_piece() -> WordPiece:
    return WordPiece(PIECES)


CUT = {
    "": "",
    "Hello, world!": "hello , world !",
    "I don't know": "i don ' t know",
    "unaffable": "una ##ffa ##ble",
    "embeddings tokenization": "em ##bed ##ding ##s token ##ization",
    "Café naïve RÉSUMÉ": "cafe naive resume",
    "state-of-the-art": "state - of - the - art",
    "$5 + 3 = 8 ~ ok_then": "$ 5 + 3 = 8 ~ ok _ then",
    "a\u00a0b\tc\nd": "a b c d",
    "in\u200bvisible\0": "invisible",
    "我 love 北京": "我 love 北 京",
    "x" * 101: "",
    "hi 😀 there": "hi there",
}


def test_a_text_is_cut_as_bert_cuts_it(word_piece: WordPiece) -> None:
    assert {text: " ".join(PIECES[place] for place in word_piece.places(text)) for text in CUT} == CUT


def test_the_vocabulary_is_sorted_and_names_each_piece_once() -> None:
    assert sorted(set(PIECES)) == PIECES
    assert len(PIECES) == len(bundled_rows().rows) == len(bundled_rows().scales) == 29_525


def test_words_and_lines_are_remembered_up_to_a_bound(word_piece: WordPiece) -> None:
    for number in range(40_000):
        word_piece.places(f"word{number}")
    assert word_piece._of_word.cache_info().currsize <= 1 << 14
    glosses = ChineseGlosses()
    glosses.pieces("".join(map(chr, range(0x4E00, 0x9FA6))))
    assert glosses._line_of.cache_info().currsize <= 1 << 12
