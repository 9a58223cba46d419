"""The arithmetic of sentences, checked against matrices that are small enough to write out."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from chatmemory_layers.skills.sentence_rank import DAMPING, SentenceVectors, terms

SENTENCES = [["cat", "sat", "mat"], ["cat", "ran"], ["cat", "mat", "mat"], ["stock", "fell"], []]


def test_terms_are_words_without_stop_words_and_pairs_of_cjk_characters() -> None:
    assert terms("The Team's v2 release, I've re-tested it") == ["team's", "v2", "release", "tested"]
    assert terms("我喜欢徒步 in Oslo") == ["我喜", "喜欢", "欢徒", "徒步", "oslo"]
    assert terms("的了") == []
    assert terms("茶") == ["茶"]


def dense(sentences: list[list[str]]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """The same vectors by the formula, with every zero."""
    vocabulary = sorted({term for sentence in sentences for term in sentence})
    counts = np.array([[sentence.count(term) for term in vocabulary] for sentence in sentences], float)
    weights = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0) * np.log1p(
        len(sentences) / (counts > 0).sum(0)
    )
    lengths = np.linalg.norm(weights, axis=1, keepdims=True)
    return np.divide(weights, lengths, out=np.zeros_like(weights), where=lengths > 0)


def test_cosines_are_those_of_the_full_matrix() -> None:
    vectors = SentenceVectors(SENTENCES)
    expected = dense(SENTENCES) @ dense(SENTENCES).T
    for row in range(len(SENTENCES)):
        assert vectors.cosines(row) == pytest.approx(expected[row])


def test_centrality_is_the_fixed_point_of_its_formula() -> None:
    prior = np.array([1.0, 2.0, 1.0, 1.0, 1.0])
    similar = dense(SENTENCES) @ dense(SENTENCES).T
    np.fill_diagonal(similar, 0)
    walk = np.divide(similar, similar.sum(0), out=np.zeros_like(similar), where=similar.sum(0) > 0)
    prior_share = prior / prior.sum()
    walk[:, similar.sum(0) == 0] = prior_share[:, None]
    rank = np.linalg.solve(np.eye(5) - DAMPING * walk, (1 - DAMPING) * prior_share)
    assert SentenceVectors(SENTENCES).centrality(prior) == pytest.approx(rank / rank.max(), abs=0.01)


@given(st.lists(st.lists(st.sampled_from("abcdefg"), max_size=6), min_size=1, max_size=12).filter(any))
def test_cosines_lie_between_0_and_1_and_a_sentence_is_like_itself(sentences: list[list[str]]) -> None:
    vectors = SentenceVectors(sentences)
    for row, sentence in enumerate(sentences):
        cosines = vectors.cosines(row)
        assert ((cosines >= 0) & (cosines <= 1 + 1e-9)).all()
        assert cosines[row] == pytest.approx(1 if sentence else 0)
    rank = vectors.centrality(np.ones(len(sentences)))
    assert np.isfinite(rank).all()
    assert rank.max() == 1
