"""``linked``: what a text says of attributes, in the light of what is known: pure functions.

Words leave much open: whose school it is, which project runs on Postgres, that Clover was the rabbit.  What is true now
tells it, if it is one thing.  Which memories end is not decided here, but by the store, from the attributes alone; see
``changes.py``.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from attrs import evolve

from chatmemory.longterm.extraction.attribute_grammar import UNKNOWN, AttributeGrammar
from chatmemory.longterm.extraction.attribute_rules import (
    STATED_ATTRIBUTE,
    AttributeStatement,
    attribute_grammar_of,
    clause_around,
    statements_of,
)
from chatmemory.longterm.extraction.proposals import ProposedMemory, Span
from chatmemory.longterm.extraction.rules import grammar_of
from chatmemory.longterm.extraction.statements import FOLD, Passage, passages
from chatmemory.longterm.memories import Memory, NewMemory, Skipped, is_stated
from chatmemory.text.search_terms import HAN

LEAST_LETTERS: Final = 5  # of a word in small letters; shorter ones are everybody's
LONGEST_ENDING: Final = 200  # characters; what is longer says more than that something is over

_CHILDREN: Final = frozenset({"child", "kid", "baby", "孩子", "娃", "宝宝", UNKNOWN})
"""Whose names fit a son and a daughter alike."""

_PLACES: Final = re.compile(
    r"\b(production|prod|staging|test(s|ing)?|unit tests?|dev(elopment)?)\b|生产|线上|测试|压测|开发|预发"
)
"""What is kept apart though all else is the same: nobody tests in production."""

_NEW_ONE: Final = re.compile(
    r"\b(second|another|new|adopted|got|have|has|bought|rescued|fostering|third)\b|又|再|养了|捡了?|领养|认养|收养|第二|新来",
    re.IGNORECASE,
)
_KINDS: Final = tuple(
    re.compile(kind, re.IGNORECASE)
    for kind in (
        r"\b(dog|pup\w*|beagle|whippet|labrador|retriever|poodle|corgi|terrier|spaniel|collie|shepherd|greyhound)\b|狗|金毛|柯基|泰迪|哈士奇|柴犬",
        r"\b(cat|kitt\w+|tabby|siamese)\b|猫|貓",
        r"\b(rabbit|bunny)\b|兔",
        r"\b(hamster|gerbil|guinea pig)\b|仓鼠",
        r"\b(bird|parrot|budgie)\b|鸟|鹦鹉",
        r"\b(gold)?fish\b|鱼",
    )
)
_ABOUT_OTHERS: Final = frozenset({"pet", "roommate", "boss", "doctor", "school", "age", "relationship"})
"""What ends when somebody else does something."""

_OF_MANY: Final = frozenset({"like", "allergy", "spoken language"})
"""What one has many of: it ends only where the words say that just this is no more."""

_EXACT: Final = frozenset({"favourite", "detail", *_OF_MANY})
"""Of which two are the same only where they are named by the same words: a shoe size is no shirt size."""

_LEFT: Final = re.compile(
    r"\bfrom (?P<old>[\w .'&-]+?) (over |back )?to\b|从(?P<旧>[^，。从]+?)(换|搬|跳|改|转|迁|切|调)",
    re.IGNORECASE,
)
_NO_PARTNER: Final = re.compile(
    r"\b(sisters?|brothers?|friends?|parents|cousins?|son|daughter|colleagues?|mum|mom|dad|aunt|uncle|neighbou?rs?|boss)\b"
    r"|[姐妹哥弟爸妈](?!夫)|(?<![男女])朋友|同事|儿子|女儿|老板|邻居",
    re.IGNORECASE,
)
_WORDS: Final = re.compile(rf"[^\W{HAN}_]+|[{HAN}]+")
_COMMON: Final = frozenset(
    """the and with for from that this work works working called named our my his her about since now just team called dr mr mrs ms again
    street road school house company small large office place""".split()  # noqa: SIM905  a list of quoted words is hard to read
)
_COMMON_PAIRS: Final = frozenset(
    {
        "公司",
        "我们",
        "一个",
        "一家",
        "现在",
        "每天",
        "我的",
        "上班",
        "工作",
        "医生",
        "老师",
        "自己",
        "今年",
        "目前",
        "小学",
        "银行",
    }
)
_NOT_ENDED: Final = re.compile(
    r"\b((don't|do not|doesn't)(?!.*\b(any ?more|any longer)\b)|never(?! stuck| caught| worked)|not|won't|wouldn't|can't|didn't|no wish|refuse|should|would|could|might|want to|if|going to|plan(ning)? to|thinking (of|about))\b"
    r"|[没不别](想|打算|会|要|能|舍得|可能|准备)|别(?!克|墅|的|人)|要不要|打算|考虑|想要|如果|要是",
    re.IGNORECASE,
)


def linked(
    text: str, proposals: Sequence[ProposedMemory], standing: Sequence[Memory]
) -> tuple[ProposedMemory, ...]:
    """Return *proposals* with attributes named as *standing* names them, and what *text* says is over.

    Args:
        text: what the user said.
        proposals: what the extractor has found in it.
        standing: the memories of the namespace that are true now and have an attribute.
    """
    known = {memory.attribute: memory for memory in standing if memory.attribute is not None}
    names = {one.attribute: _name(one, known) for one in statements_of(text)}
    renamed = [evolve(one, attribute=names.get(one.attribute or "", one.attribute)) for one in proposals]
    told = {one.attribute for one in renamed}
    return (*renamed, *(one for one in _endings(text, known) if one.attribute not in told))


def with_attributes_read(memories: Sequence[NewMemory], standing: Sequence[Memory]) -> list[NewMemory]:
    """Return *memories*; those that the user stated and that bring no attribute have the one that their content states."""
    known = {memory.attribute: memory for memory in standing if memory.attribute is not None}

    def read(memory: NewMemory) -> NewMemory:
        if memory.attribute is not None or not is_stated(memory.role, memory.source, memory.provenance.path):
            return memory
        stated = (_name(one, known) for one in statements_of(memory.content))
        over = (one.attribute for one in _endings(memory.content, known))
        return evolve(memory, attribute=next((one for one in (*stated, *over) if one is not None), None))

    return [read(memory) for memory in memories]


def as_rules_read(
    found: Sequence[NewMemory | Skipped], standing: Sequence[Memory]
) -> list[NewMemory | Skipped]:
    """Return what was *found*, with attributes read in it when none has any: a model has found it, which knows none."""
    if any(isinstance(one, NewMemory) and one.attribute is not None for one in found):
        return [*found]
    return [one if isinstance(one, Skipped) else with_attributes_read([one], standing)[0] for one in found]


def _name(statement: AttributeStatement, known: Mapping[str, Memory]) -> str | None:
    """Return the attribute of *statement*; None: it only implies what another memory says better."""
    if statement.added:
        return statement.attribute
    if replaced := _replaced(statement.passage, known):
        return replaced
    if statement.attribute in known and statement.of != UNKNOWN:
        return None if statement.implied else statement.attribute
    family = [name for name in known if name.partition(":")[0] == statement.family]
    if statement.family == "pet":
        family = _of_a_kind(statement, family, known)
    elif statement.of in _CHILDREN or statement.of == UNKNOWN:
        said = statement.passage.text
        named = [
            name for name in family if _is_one(name.partition(":")[2], said) or _is_named(known[name], said)
        ]
        family = named if len(named) == 1 else family
    elif statement.of and statement.family not in _EXACT:
        family = [name for name in family if _is_one(name.partition(":")[2], statement.of)]
    else:
        family = []
    return family[0] if len(family) == 1 else statement.attribute


def _replaced(passage: Passage, known: Mapping[str, Memory]) -> str | None:
    """Return the attribute of the one value that *passage* says is left: ``from Google to Meta``, 从微信换到钉钉."""
    left = _LEFT.search(passage.text)
    if left is None:
        return None
    named = [name for name, memory in known.items() if _is_named(memory, left["old"] or left["旧"])]
    return named[0] if len(named) == 1 else None


def _of_a_kind(
    statement: AttributeStatement, family: Sequence[str], known: Mapping[str, Memory]
) -> list[str]:
    """Return the pets that *statement* may give a new name; none when it tells of another one."""
    said = statement.passage.text
    if _NEW_ONE.search(said):
        return []
    kinds = [kind for kind in _KINDS if kind.search(said)]
    return [name for name in family if not kinds or any(kind.search(known[name].content) for kind in kinds)]


def _is_one(one: str, other: str) -> bool:
    """Tell whether two phrases name the same thing: ``order system`` and ``orders``, 订单系统 and 订单."""
    if {found[0] for found in _PLACES.finditer(one)} != {found[0] for found in _PLACES.finditer(other)}:
        return False
    first, second = _parts(one), _parts(other)
    return any(a.startswith(b) or b.startswith(a) for a in first for b in second)


def _parts(phrase: str) -> list[str]:
    return [word for word in _WORDS.findall(phrase.casefold()) if word not in _COMMON]


def _is_named(memory: Memory, text: str, *, least: int = LEAST_LETTERS) -> bool:
    """Tell whether *text* names the value of *memory*: one of its proper names, or two characters of it.

    Args:
        memory: what is known.
        text: what is said.
        least: the letters that a word in small letters must have.
    """
    value = memory.value if isinstance(memory.value, str) else ""
    value = value.translate(FOLD)
    said = text.casefold()
    words = set(_WORDS.findall(said))
    for word in _WORDS.findall(value):
        if re.match(f"[{HAN}]", word):
            pairs = {word[at : at + 2] for at in range(len(word) - 1)} - _COMMON_PAIRS
            if any(pair in said for pair in pairs):
                return True
        elif (
            (word.casefold() in words or word.removesuffix("ing") in words)
            and word.casefold() not in _COMMON
            and (len(word) >= least or word != word.lower())
        ):
            return True
    return False


def _endings(text: str, known: Mapping[str, Memory]) -> Iterator[ProposedMemory]:
    """Yield what *text* says is over, of what is known."""
    if not known:
        return
    found = list(passages(text, grammar_of))
    seen: set[str] = set()
    for passage in found:
        grammar = attribute_grammar_of(passage.grammar.language)
        clauses = list(_ended(passage, grammar)) if grammar else []
        if grammar is None or not clauses:
            continue
        over = _over(passage, clauses, grammar, known)
        if over is None or (over.partition(":")[0] not in _ABOUT_OTHERS and _is_of_others(clauses, grammar)):
            continue
        if over == "relationship" and _is_their_love(clauses):
            continue
        if over not in seen:
            seen.add(over)
            yield _ending(over, known[over], passage, found)


def _ended(passage: Passage, grammar: AttributeGrammar) -> Iterator[str]:
    """Yield the clauses of *passage* that say that something is over."""
    for cue in grammar.ended.finditer(passage.text):
        clause = clause_around(passage.text, cue.start(), cue.end(), grammar)
        if not (_NOT_ENDED.search(clause) or grammar.past.search(clause)):
            yield clause


def _is_of_others(clauses: Iterable[str], grammar: AttributeGrammar) -> bool:
    return all(grammar.other.search(clause) for clause in clauses)


def _is_their_love(clauses: Iterable[str]) -> bool:
    return any(_NO_PARTNER.search(clause) for clause in clauses)


def _over(
    passage: Passage, clauses: Sequence[str], grammar: AttributeGrammar, known: Mapping[str, Memory]
) -> str | None:
    """Return the attribute that is over; None when the words fit none, or several."""
    named = [name for name, memory in known.items() if _is_meant(name, memory, passage, clauses, grammar)]
    if len(named) == 1:
        return named[0]
    meant = [
        name
        for name in known
        for attribute, pattern in grammar.ends.items()
        if attribute not in _OF_MANY
        and (name == attribute or name.partition(":")[0] == attribute)
        and any(pattern.search(clause) for clause in clauses)
    ]
    both = [name for name in meant if name in named]
    return both[0] if len(both) == 1 else meant[0] if len(meant) == 1 else None


def _is_meant(
    name: str, memory: Memory, passage: Passage, clauses: Sequence[str], grammar: AttributeGrammar
) -> bool:
    """Tell whether *passage* names the value of *memory*; of what one has many of, where it says that it is no more."""
    family = name.partition(":")[0]
    if family not in _OF_MANY:
        return _is_named(memory, passage.text)
    no_more = grammar.ends[family]
    return any(no_more.search(clause) and _is_named(memory, clause, least=3) for clause in clauses)


def _ending(attribute: str, memory: Memory, passage: Passage, around: Sequence[Passage]) -> ProposedMemory:
    """Return the memory that *attribute* is over, with what was said beside it: the reason, or what came instead."""
    beside = ". ".join(one.said for one in around)
    content = beside if len(beside) <= LONGEST_ENDING else passage.said
    return ProposedMemory(
        key=memory.key or attribute,
        value=passage.said,
        content=content,
        category=memory.category or "fact",
        confidence=STATED_ATTRIBUTE,
        language=passage.grammar.language,
        evidence=Span(passage.start, passage.start + len(passage.text)),
        attribute=attribute,
    )
