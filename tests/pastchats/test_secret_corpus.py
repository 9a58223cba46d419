"""Of a hundred texts with a secret at most two keep it, of a hundred without at most one is changed."""

from collections import Counter

from chatmemory.pastchats.redaction.redaction import Redaction
from tests.for_each import for_each
from tests.pastchats.corpus.innocent_texts import innocent_texts
from tests.pastchats.corpus.true_secrets import true_texts


def test_the_corpus_is_no_smaller_than_it_was() -> None:
    assert len(true_texts()) >= 120
    innocent = innocent_texts()
    assert len({text for _, text in innocent}) >= 200
    assert min(Counter(kind for kind, _ in innocent).values()) >= 14


@for_each("seed", (20, 21, 22, 23, 24))  # what is drawn by chance must not be lucky
def test_secrets_are_taken_out_and_what_only_looks_like_one_stays(seed: int) -> None:
    secret = true_texts(seed)
    kept = [(one.kind, one.text) for one in secret if one.secret in Redaction().text(one.text)]
    assert len(kept) <= 0.02 * len(secret), kept
    innocent = innocent_texts(seed)
    changed = [(kind, text) for kind, text in innocent if Redaction().text(text) != text]
    assert len(changed) <= 0.01 * len(innocent), changed
