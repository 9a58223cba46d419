"""Of a hundred texts with a secret at most two keep it, of a hundred without at most one is changed."""

from collections import Counter
from typing import Final

from chatmemory.pastchats.redaction.redaction import Redaction
from tests.for_each import for_each
from tests.pastchats.corpus.innocent_texts import innocent_texts
from tests.pastchats.corpus.true_secrets import true_texts

LEAST_TRUE: Final = 120
LEAST_INNOCENT: Final = 200
LEAST_REDACTED: Final = 0.98
MOST_CHANGED: Final = 0.01

SEEDS: Final = (20, 21, 22, 23, 24)  # what is drawn by chance must not be lucky


def test_the_corpus_is_no_smaller_than_it_was() -> None:
    assert len(true_texts()) >= LEAST_TRUE
    assert len({one.text for one in innocent_texts()}) >= LEAST_INNOCENT
    assert min(Counter(one.kind for one in innocent_texts()).values()) >= 14


@for_each("seed", SEEDS)
def test_secrets_are_taken_out(seed: int) -> None:
    texts = true_texts(seed)
    kept = [(one.kind, one.text) for one in texts if one.secret in Redaction().text(one.text)]
    assert len(kept) <= (1 - LEAST_REDACTED) * len(texts), kept


@for_each("seed", SEEDS)
def test_what_only_looks_like_a_secret_stays(seed: int) -> None:
    texts = innocent_texts(seed)
    changed = [
        (one.kind, one.text, kept) for one in texts if (kept := Redaction().text(one.text)) != one.text
    ]
    assert len(changed) <= MOST_CHANGED * len(texts), changed
