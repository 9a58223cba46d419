"""Each rule of ``extraction/words/`` matches its own sentence and not the other one."""

from chatmemory.longterm.extraction.attributes.grammar import attribute_grammar_of, in_any_language
from chatmemory.longterm.extraction.grammar import NAMES, expression, grammar_of, table
from chatmemory.longterm.extraction.memory_extractor import Language
from chatmemory.longterm.extraction.word_rules import word_table
from tests.for_each import for_each


@for_each("language", [*NAMES])
def test_each_rule_about_doubts_matches_its_sentence_and_not_the_other_one(language: Language) -> None:
    content = word_table(language)
    for rule in content.rules:
        pattern = expression(rule.pattern, content.words)
        assert pattern.search(rule.match), rule.meaning
        assert not pattern.search(rule.differs), rule.meaning
        assert bool(rule.affirms) == (rule.kind == "negated"), rule.meaning


@for_each("language", [*NAMES])
def test_each_rule_about_facts_matches_its_clause_and_not_the_other_one(language: Language) -> None:
    grammar, content = grammar_of(language), table(f"{NAMES[language]}_statements")
    assert grammar is not None
    entries = [*content["rule"], *content["advice"]]
    for rule, entry in zip((*grammar.statements, *grammar.advice), entries, strict=True):
        assert rule.match(entry["match"]), entry
        assert not rule.match(entry["differs"]), entry


@for_each("language", [*NAMES])
def test_each_rule_about_attributes_matches_its_sentence_and_not_the_other_one(language: Language) -> None:
    grammar, content = attribute_grammar_of(language), table(f"{NAMES[language]}_attributes")
    assert grammar is not None
    for rule, entry in zip(grammar.stated, [*content["own_noun"], *content["attribute"]], strict=True):
        assert any(pattern.search(entry["match"]) for pattern in rule.patterns), entry
        assert not any(pattern.search(entry["differs"]) for pattern in rule.patterns), entry


def test_each_expression_for_any_language_finds_something_in_its_text_and_not_in_the_other_one() -> None:
    for name, entry in table("attribute_words")["expressions"].items():
        assert in_any_language(name).search(entry["match"]), entry["meaning"]
        assert not in_any_language(name).search(entry["differs"]), entry["meaning"]
