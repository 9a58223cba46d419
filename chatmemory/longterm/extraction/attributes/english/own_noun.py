"""What people say of theirs in English by the noun itself: the table ``OWN_NOUN``, read from top to bottom."""

from typing import Final

from chatmemory.longterm.extraction.attributes.english.vocabulary import attribute
from chatmemory.longterm.extraction.attributes.grammar import AttributeRule


def _mine(
    family: str, noun: str, value: str, *, key: str = "", of: str = "", others: bool = True
) -> AttributeRule:
    """Return the rule of what is *mine*: my X is V, V is my X, I have a new X, V, I changed my X to V."""
    held = f"(?P<value>{value})"
    is_now = "( is|'s| are| has been| (has |was |is )?(changed|switched|moved|updated|renamed|set) to| became)<adv>"
    return attribute(
        family,
        key or family,
        rf"\b(my|our)<new> {noun}('s name)?{is_now}<somebody>( called| named| at| in| on)? (an? |the )?{held}",
        rf"\b(switched|changed|got|have|found|chose|picked|hired)( to| me)?( an?| my| our)( new| different)+ {noun}s?( now)?( is|,|:| -| called| named| and)*"
        rf"( now)?( it's| it is| her name is| his name is| named| called| he's| she's)? {held}",
        rf"\b(changed|switched|moved|updated|renamed|set)( my| our)<new> {noun}( from [^,.]+?)? to (an? |the )?{held}",
        rf"{held} is<adv> (my|our)<new> {noun}(?=$|[,.;!]| now\b| these\b)",
        rf"{held}( has| have)?<adv> (became|become|taken over as|took over as|replaced [\w .]+? as) (my|our)<new> {noun}\b",
        rf"\b(my|our)<new> {noun} (?P<was>(isn't|is not|is no longer|used to be|was) [^,.;]+?),?( and| but)?( it's| it is| now| is)+ {held}",
        rf"\b(my|our) {noun} (has |was |have )?(changed|switched)( again| recently)?[,:]?( it's| it is| now| to)+ {held}",
        rf"\b(renamed|changed|switched|updated|got)( my| our|<new>| a new)* {noun},( and)? (it's|it is|she's|he's|that's|now)( now)?( called)? (an? |the )?{held}",
        rf"\b(switched|changed) {noun}s?( from [^,.]+?)?,?( and| now| so)*( to| it's| it is| i'm with| i'm at| i am with| i see| i use| i go to| i'm seeing)( now)? {held}",
        rf"\b(switched|moved|changed|went)( over)? to {held}, (my|our) new {noun}\b",
        of=of,
        others=others,
    )


OWN_NOUN: Final = (
    _mine("boss", "<superior>", "<proper>"),
    _mine("doctor", "(family |primary care )?(?P<of><clinician>)", "<proper>"),
    _mine("work", "(employer|company|workplace|firm)", "<proper>", key="employer", others=False),
    _mine("work place", "(office|workplace|company)", "<place>", key="place of work", others=False),
    _mine(
        "residence", "(home )?(city|town|location|place of residence)", "<place>", key="home", others=False
    ),
    _mine("theme", "((editor|ide|terminal|app|colou?r|ui|vs code) )*theme", "<Name>", others=False),
    _mine("gym", "gym", "<proper>", others=False),
    _mine("bank", "bank", "<proper>", others=False),
    _mine("role", "(job title|title|position)", "<role>", key="occupation"),
    _mine("role", "(job|role|occupation|profession)", "<job>", key="occupation"),
    _mine("editor", "((main|default|code|text|favou?rite) )*(editor|ide)", "<editor>", others=False),
    _mine(
        "address",
        "((home|mailing|shipping|postal|delivery|street|residential) )?address",
        r"[^@;!?]*\d[^@;!?]*",
    ),
    _mine("operating system", "(os|operating system|distro)", "<os>", key="operating system", others=False),
    _mine("school", "(university|college|uni)", "<Name>", key="education", others=False),
    _mine("name", "(full |real |legal )?name", "<Name>"),
    _mine("age", "age", "<number>"),
    _mine("detail", "(?P<of><companion>)", "<proper>"),
    _mine("detail", "(?P<of><detail>)", r"[^,.;!?]+"),
)
"""What is told by its own noun."""
