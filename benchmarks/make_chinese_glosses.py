"""Write the bundled glosses of Chinese words: ``python benchmarks/make_chinese_glosses.py zh_glosses.npz STATIC``.

The archive says of 175,750 words which English WordPiece tokens their glosses in CC-CEDICT have: ``words`` (UTF-8, a word
a line, sorted), ``ids`` (uint16, 0 parts one gloss from the next), ``ends`` (uint32, where the ids of a word end).  The ids
count the lines of ``vocab`` in STATIC, the archive that ``make_static_rows.py`` reads.

Here each id gets the weight that its row has in the vector of the word, so that such a vector is a weighted sum of
bundled rows and nothing else has to be known of it.  The vector is the sum of the glosses' directions, each of them
``LATER_GLOSS`` of the one before; a gloss' direction is the sum of those of its tokens.  How long it is, is said at
``length_of``.  Words of grammar, and those that ask, keep their place, so that a text is cut at them, and weigh nothing.
"""

import sys
from itertools import groupby, product
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chatmemory.text.stop_words import STOP_CHARACTERS
from chatmemory_layers.embedding.bundled import GLOSSES, ROWS, SCALES, WEIGHT_ONE, vocabulary

LATER_GLOSS: Final = 0.6
BESIDE_ROWS: Final = 1.2
"""The length of a word, in lengths of the middle one of all rows."""

OF_ONE_CHARACTER: Final = 0.6
RARITY_POWER: Final = 0.5
LARGEST: Final = 255

# What asks for a kind of thing says nothing of the thing: 8 of 90 paraphrases more are found without these words.
ASKING: Final = frozenset(
    [
        *"什么 怎么 怎么样 怎样 如何 为何 为什么 为啥 啥 谁 多少 多久 有没有 是否 是不是 几 几个 几时 几位".split(),  # noqa: SIM905  a list of quoted words is hard to read
        *map("".join, product("哪", ["", *"种些个位件家样里儿年天类"])),
        *map("".join, product("何", ["", *"种时处地"])),
    ]
)


class Lengths:
    """Rows by their length."""

    def __init__(self) -> None:
        rows = np.load(ROWS).astype(np.float32) * np.load(SCALES)[:, None]
        self.each: NDArray[np.float32] = np.linalg.norm(rows, axis=1)
        self.usual = float(np.median(self.each[self.each > 0]))
        self.directions: NDArray[np.float32] = rows / np.maximum(self.each, 1e-9)[:, None]


def weights_of(word: str, glosses: list[list[int]], rows: Lengths) -> dict[int, float]:
    """Return the weight of each row in the vector of *word*."""
    weights: dict[int, float] = {}
    for number, gloss in enumerate(glosses):
        length = float(np.linalg.norm(rows.directions[gloss].sum(axis=0)))
        for place in gloss if length else []:
            weights[place] = weights.get(place, 0.0) + LATER_GLOSS**number / length
    vector = sum(weight * rows.directions[place] for place, weight in weights.items())
    present = float(np.linalg.norm(vector)) if weights else 0.0
    if not present:
        return {}
    scale = length_of(word, glosses, rows) / present
    return {place: weight * scale / float(rows.each[place]) for place, weight in weights.items()}


def length_of(word: str, glosses: list[list[int]], rows: Lengths) -> float:
    """Return how long the vector of *word* is: longer where its glosses are rare words, whose rows are long."""
    later = [LATER_GLOSS**number for number in range(len(glosses))]
    rare = sum(share * float(rows.each[gloss].max()) for share, gloss in zip(later, glosses, strict=True))
    rarity = rare / sum(later) / rows.usual
    shortened = OF_ONE_CHARACTER if len(word) == 1 else 1.0
    return float(rows.usual * BESIDE_ROWS * shortened * rarity**RARITY_POWER)


def main(archive: Path, static: Path) -> None:
    order = {piece: place for place, piece in enumerate(vocabulary())}
    with np.load(static) as distilled:
        places = [order[piece] for piece in bytes(distilled["vocab"]).decode().split("\n")]
    with np.load(archive) as made:
        words = bytes(made["words"]).decode().split("\n")
        said = np.split(made["ids"], made["ends"][:-1])
    rows = Lengths()
    glosses = {
        word: [[places[id_] for id_ in gloss] for parts, gloss in groupby(ids.tolist(), key=bool) if parts]
        for word, ids in zip(words, said, strict=True)
    }
    pieces: list[int] = []
    weights: list[int] = []
    starts = [0]
    lines: list[tuple[int, int]] = []
    text = b""
    for head, of_head in groupby(sorted(glosses.keys() | ASKING), key=lambda word: word[0]):
        line = list(of_head)
        lines.append((len(text), len(starts) - 1))
        text += " ".join(line).encode() + b"\n"
        for word in line:
            is_told = word not in ASKING and not STOP_CHARACTERS.issuperset(word)
            weighed = weights_of(word, glosses[word], rows) if is_told else {}
            for place, weight in weighed.items():
                pieces.append(place)
                weights.append(min(LARGEST, max(1, round(weight * WEIGHT_ONE))))
            starts.append(len(pieces))
        assert line[0][0] == head
    lines.append((len(text), len(starts) - 1))
    Path(GLOSSES.words).write_bytes(text)
    np.save(GLOSSES.lines, np.array(lines, np.uint32))
    np.save(GLOSSES.starts, np.array(starts, np.uint32))
    np.save(GLOSSES.pieces, np.array(pieces, np.uint16))
    np.save(GLOSSES.weights, np.array(weights, np.uint8))
    print(f"{len(starts) - 1} words, {len(pieces)} weights")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
