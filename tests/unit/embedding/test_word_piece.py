"""Pieces are those of Hugging Face's BertTokenizer: the sequences here were checked against it."""

import pytest

from chatmemory_layers.embedding.bundled import vocabulary
from chatmemory_layers.embedding.composite import bundled_rows
from chatmemory_layers.embedding.text_features import WordPiece, words

PIECES = vocabulary()


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


def test_words_are_remembered_up_to_a_bound(word_piece: WordPiece) -> None:
    for number in range(40_000):
        word_piece.places(f"word{number}")
    assert word_piece._of_word.cache_info().currsize <= 1 << 14


def test_accents_fall_and_marks_stand_alone() -> None:
    assert words("Ça va? 很好！") == ["ca", "va", "?", "很", "好", "！"]
