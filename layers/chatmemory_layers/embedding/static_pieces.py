"""``static_pieces``: which rows stand for a text, those of its English words and those of the glosses of its Chinese ones."""

from chatmemory_layers.embedding.text_features import WordPiece, static_part


def static_pieces(pieces: WordPiece, text: str) -> tuple[list[int], list[float] | None]:
    """Return the rows of *text* and their weights.

    Args:
        pieces: cuts what is not Chinese.
        text: any text.

    Returns:
        places in the vocabulary, a place as often as it occurs; and as many weights, or None where each is 1.
    """
    if text.isascii():
        return pieces.places(text), None
    # Imported late: a process that reads English alone does without.
    from chatmemory_layers.embedding.chinese_glosses import chinese_glosses

    places = pieces.places(static_part(text))
    glossed, weights = chinese_glosses().pieces(text)
    return places + glossed, [1.0] * len(places) + weights
