"""Questions that share no word with their answer find it by what the bundled vectors know."""

from chatmemory.text.search_terms import query_terms, search_terms
from chatmemory_layers.embedding.composite import composite_rows, hashed_rows
from tests.recall.paraphrases import found_by_vectors, paraphrases, shares


def test_no_question_shares_a_word_with_its_memory() -> None:
    for one in paraphrases():
        shared = {*query_terms(one.question)} & {*search_terms(one.memory).split()}
        assert {term for term in shared if len(term) > 1} == set(), one


# Measured .753, .667, .929 and .767; by hashed features alone .198.
def test_most_questions_find_their_memory_by_vectors_alone() -> None:
    found = shares(found_by_vectors(composite_rows))
    assert len(paraphrases()) == 162
    assert found["all"] >= 0.75
    assert found["zh"] >= 0.66
    assert found["en"] >= 0.92
    assert found["across"] >= 0.76


def test_hashed_features_alone_know_no_meaning() -> None:
    found = shares(found_by_vectors(hashed_rows))
    assert found["all"] < 0.25
    assert found["across"] == 0
