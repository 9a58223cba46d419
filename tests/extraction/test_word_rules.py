"""Each rule of ``extraction/words/`` matches its own sentence and not the other one."""

from chatmemory.longterm.extraction.grammar import expression
from chatmemory.longterm.extraction.word_rules import word_table


def test_each_word_rule_matches_its_sentence_and_not_the_other_one() -> None:
    faults: list[str] = []
    for table in (word_table("en"), word_table("zh")):
        for rule in table.rules:
            pattern = expression(rule.pattern, table.words)
            if pattern.search(rule.match) is None:
                faults.append(f"{rule.meaning} does not match {rule.match!r}")
            if pattern.search(rule.differs) is not None:
                faults.append(f"{rule.meaning} matches {rule.differs!r}")
            if bool(rule.affirms) != (rule.kind == "negated"):
                faults.append(f"{rule.meaning} affirms {rule.affirms!r}")
    assert not faults, "\n".join(faults)
