"""How people say in English what they are, have and use now: the table of attributes, read from top to bottom.

The notation is that of ``grammar.py``; ``attribute_rules.py`` applies it.
"""

from functools import partial
from typing import Final

from chatmemory.longterm.extraction import attribute_values as values
from chatmemory.longterm.extraction.attribute_grammar import (
    UNKNOWN,
    AttributeGrammar,
    AttributeRule,
    attribute,
)
from chatmemory.longterm.extraction.english import VOCABULARY as STATEMENTS
from chatmemory.longterm.extraction.grammar import Vocabulary, expression

VOCABULARY: Final[Vocabulary] = {
    "liked": r"(?!it\b|that\b|this\b|them\b|you\b|to\b|not\b|when\b|how\b|what\b|for\b|so\b)[\w'-]+( [\w'-]+){0,2}?",
    "stop": r"(?= *($|[,.;!]| (and|or|a lot|very|so much|every|on|in|at|with|when|because|but|too|as well|now|these days|twice|once|most|after|before|for|instead)\b))",
    "new": r"( (new|current|present|latest|actual))?",
    "superior": r"(?:direct |new |line |team |project )?(?:boss|manager|supervisor|team lead|team leader|lead|superior)",
    "proper": r"(?!(?:<spoken>|american|canadian|australian|indian|mexican|brazilian|egyptian|nigerian|kenyan|scottish|belgian|austrian|swiss"
    r"|israeli|iranian|iraqi|african|european|asian|british|irish)\b)((dr|mr|mrs|ms|prof|professor)\b\.? )?<Name>",
    "role": r"(?!(?:at|with|in|on|for|as)\b)[\w -]+?(?= *($|[,.:;!)]| and\b| at\b| now\b))",
    "companion": r"landlord|landlady|trainer|personal trainer|coach|mentor|advisor|adviser|tutor|hairdresser|barber|lawyer|accountant|best friend"
    r"|(?:\w+ )?teacher|nanny|babysitter|thesis supervisor|insurance agent",
    "detail": r"(?:last|family|first|middle|maiden|english|chinese) name|surname|user ?name|nick ?name|blood type|nationality|citizenship|native language|mother tongue|major|minor|degree|religion|star sign|zodiac sign"
    r"|licen[cs]e plate|bedtime|(?:shoe|shirt|dress|ring|clothing|jacket|trouser) size|password manager|search engine",
    "noun": r"(?!(?:<other>|name|favou?rite|question|problem|issue|point|idea|guess|answer|understanding|concern|error|bug|output|result|plan|dog|cat|pet|next|other|first"
    r"|second|old|former|previous|ex|last|only)\b)[\w-]+( (?!is\b|are\b|was\b|has\b)[\w-]+){0,2}?",
    "typed": r"(?:(?:at |on |due |by )*(?:[$€£¥]? ?\d[\w:.,/%$€£ -]*?|<day>|(?:mon|tues|wednes|thurs|fri|satur|sun)days?(?: at \d[\w:]*)?|noon|midnight)|<proper>)(?= *($|[,;!]| (now|instead|from now on|these days|as of|starting|and|but)\b))",
    "browser": values.BROWSER,
    "music": values.MUSIC,
    "packages": values.PACKAGES,
    "adv": r"( (also|really|just|still|actually|currently|now|finally|officially|mostly|mainly|already|always|all|both|basically|temporarily"
    r"|recently|newly|happily|only|back|over|so|been))*",
    "I": r"\b(i|we)",
    "and I": r"(?:\b(?:i|we)|\A(?:[\w ]{0,16}[,:] )?(?:i|we|i'm|i've|i'd)\b(?:(?!\b(?:he|she|they|who|that|<other>)\b)[^.;])*?\b(?:and|but|so)(?= now\b| then\b| currently\b))",
    "I am": r"\b(i'm|i am|im|we're|we are|i've been|i have been|we've been)",
    "I have": r"\b(i've|i have|we've|we have|i|we)( got)?",
    "my": r"\b(my|our|the)",
    "Name": r"(?!I\b)(?-i:[A-Z0-9])[\w'&./+#-]*( ((?!I\b)(?-i:[A-Z0-9])[\w'&./+#-]*|(of|the|de|la|le|and|&)(?= (?!I\b)(?-i:[A-Z]))))*",
    "Word": r"(?!I\b)(?-i:[A-Z])[\w'&/+#-]*( (?!I\b)(?-i:[A-Z])[\w'&/+#-]*)*",
    "place": r"(?!(?:<database>|<host>|<editor>|<language>|<shell>|Squad|Team|Sprint|Figma|Slack)\b)<Word>",
    "firm": r"((an?|the) (?!office|home|bus|moment|same|end|weekend|day|night|bit|lot|few|new project)[\w' -]+?(,? (called )?<Name>)?(?=$|[,.;!]| (and|so|but|since|as|near|now|this|last|yesterday|in|on|these)\b)|<Name>)",
    "thing": r"[\w'+#.-]+( [\w'+#.-]+){0,4}",
    "job": STATEMENTS["occupation"]
    + r"|([\w-]+ ){0,3}?(lead|head|chair|president|treasurer|captain|scrum master|supervisor|principal|foreman|assistant|clerk|waiter"
    r"|waitress|cashier|cleaner|builder|guard|coach|receptionist|hairdresser|bartender|butcher|courier|dispatcher|planner|surveyor|sailor|tailor|statistician|optician|paralegal|copywriter|strategist|specialist|coordinator|executive|representative|agent|broker|buyer|producer|operator|counsellor|investigator|c[etfoi]o|vp|sre|pm)\b",
    "kin": r"wife|husband|partner|girlfriend|boyfriend|fianc[ée]e?|sons?|daughters?|kids?|child|children|baby|toddler|mother|father|mom|mum|dad"
    r"|parents|brothers?|sisters?|siblings?|twins?|grandmother|grandfather|grandma|grandpa|gran|niece|nephew|cousins?|uncle|aunt|in-laws?",
    "other": r"<kin>|friends?|mates?|colleagues?|coworkers?|co-workers?|neighbou?rs?|boss|manager|landlord|landlady|customers?|clients?"
    r"|flatmates?|roommates?|teammates?|students?|teachers?|barista|assistant|secretary|intern|coach|trainer|tutor|ex|guy|girl|woman|man|team",
    "child": "son|daughter|kid|child|baby|toddler|boy|girl|little one|eldest|youngest|oldest",
    "pet": r"dog|puppy|pup|cat|kitten|kitty|parrot|rabbit|bunny|hamster|horse|pony|goldfish|fish|turtle|tortoise|bird|budgie|guinea pig|gerbil"
    r"|beagle|labrador|retriever|poodle|corgi|terrier|whippet|spaniel|collie|shepherd|greyhound|tabby|siamese",
    "gym": r"gym|climbing (place|wall|gym|cent(er|re))|crossfit|fitness|yoga studio|pilates|boxing|swimming pool|leisure cent(er|re)|bouldering",
    "clinician": "gp|doctor|physician|dentist|orthodontist|eye doctor|optician|optometrist|physio(therapist)?|therapist|psychologist|psychiatrist"
    "|dermatologist|cardiologist|gynaecologist|gynecologist|paediatrician|pediatrician|midwife|vet|osteopath|chiropractor|counsellor|counselor",
    "school": "school|primary|academy|college|university|uni|nursery|kindergarten|high|grammar|polytechnic|institute|elementary|preschool",
    "language": values.PROGRAMMING_LANGUAGE,
    "database": values.DATABASE,
    "editor": values.EDITOR,
    "notes": values.NOTES,
    "shell": values.SHELL,
    "host": values.HOST,
    "os": values.OPERATING_SYSTEM,
    "car": values.CAR,
    "phone": values.TELEPHONE,
    "email": values.EMAIL,
    "street": values.STREET,
    "zone": values.TIME_ZONE,
    "day": values.DAY_OF_YEAR,
    "spoken": values.SPOKEN_LANGUAGE,
    "units": values.AMOUNT_UNITS,
    "number": values.NUMBER_WORD,
    "theme": r"(dark|light|black|white|high[- ]contrast|solarized|dracula|sepia|night|day) ?(mode|themes?)",
    "on": r"(on|in|with|to|onto|into|at|from|over to)",
    "diet": r"vegetarian|vegan|pescatarian|pescetarian|keto|ketogenic|low-carb|paleo|kosher|halal|mediterranean|omnivore|flexitarian|carnivore"
    r"|gluten-free|gluten|dairy-free|whole30|intermittent fasting|raw food|fodmap|plant-based|meat again",
    "vehicle": "bus|train|tram|tube|metro|subway|bike|e-bike|bicycle|scooter|car|ferry|motorbike|motorcycle|moped|foot|carpool|u-bahn|s-bahn",
    "device": r"thinkpad|macbook(?: (?:air|pro))?|mac mini|imac|dell xps|xps|surface(?: pro)?|chromebook|framework|zenbook|iphone|ipad|pixel|galaxy|oneplus|xperia"
    r"|fairphone|kindle|laptop|desktop",
    "handset": r"iphone|pixel(?! ?book)|galaxy(?! ?(?:tab|book))|oneplus|xperia|fairphone",
    "tablet": r"ipad|kindle|galaxy tab|surface go",
    "plain": r"(?P<of>[\w-]+( [\w-]+)?)",
    "project": r"((the|our|my|all of|everything of( the)?) )?(?P<of>(?!(?:i|we|it|they|he|she|you|this|that|there|everything|who|which|what|store|db|data|database|backend|our|my|the|all|a|an|its|main"
    r"|old|new|project|service|app|company|laptop|machine)\b)[\w-]+(?:'s? [\w-]+| (?!is\b|are\b|was\b|runs?\b|uses?\b|sits?\b|stores?\b|lives?\b|has\b|depends?\b)[\w-]+){0,3}?)'?s?( (project|service|app|system|website|site|repo|codebase))?",
}
_attribute: Final = partial(attribute, vocabulary=VOCABULARY)


def _mine(
    family: str, noun: str, value: str, *, key: str = "", of: str = "", others: bool = True
) -> AttributeRule:
    """Return the rule of what is *mine*: my X is V, V is my X, I have a new X, V, I changed my X to V."""
    held = f"(?P<value>{value})"
    is_now = "( is|'s| are| has been| (has |was |is )?(changed|switched|moved|updated|renamed|set) to| became)<adv>"
    return _attribute(
        family,
        key or family,
        rf"\b(my|our)<new> {noun}('s name)?{is_now}( called| named| at| in| on)? (an? |the )?{held}",
        rf"\b(switched|changed|got|have|found|chose|picked|hired)( to| me)?( an?| my| our)( new| different)+ {noun}s?( now)?( is|,|:| -| called| named| and)*"
        rf"( now)?( it's| it is| her name is| his name is| named| called| he's| she's)? {held}",
        rf"\b(changed|switched|moved|updated|renamed|set)( my| our)<new> {noun}( from [^,.]+?)? to (an? |the )?{held}",
        rf"{held} is<adv> (my|our)<new> {noun}(?=$|[,.;!]| now\b| these\b)",
        of=of,
        others=others,
    )


MINE: Final = (
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
    _mine("name", "(full |real |legal )?name", "<Name>"),
    _mine("age", "age", "<number>"),
    _mine("detail", "(?P<of><companion>)", "<proper>"),
    _mine("detail", "(?P<of><detail>)", r"[^,.;!?]+"),
)
"""What is told by its own noun."""

STATED: Final = (
    *MINE,
    _attribute(
        "spoken language",
        "spoken language",
        r"<I>( can| could)?<adv>( a little| some| fluent)? (speak|know|understand|learn|study)( a little| some| fluent)? (?P<value><spoken>)\b",
        r"<I am><adv> (learning|studying|fluent in) (?P<value><spoken>)\b",
        named=True,
    ),
    _attribute(
        "work place",
        "place of work",
        r"(<I>|<I am>)<adv> (work|working)<adv>( out of| from| in| at)( our| the)? (?P<value><place>)( office| branch| campus)",
        r"(<I>|<I am>)<adv> (work|working)<adv>( downtown)? in (?P<value>(?!IT\b|HR\b|PR\b|UX\b|QA\b|R&D|AI\b|Sales\b|Marketing\b|Finance\b|Engineering\b|Legal\b|Support\b)<place>)",
    ),
    # --- Reaching somebody
    _attribute(
        "email",
        "contact",
        r"\b(?P<of>work|private|personal|git|company|school)( author)? (e-?mail|author)?.*?(?P<value><email>)",
        wished=True,
        owned=True,
    ),
    _attribute("email", "contact", r"(?P<value><email>)", wished=True, owned=True),
    _attribute(
        "phone",
        "contact",
        r"\b(?P<of>work|landline|office|home|emergency|spare|second|company)\b.*?(phone|number|line|mobile|is|:)?.*?(?P<value><phone>)",
        wished=True,
        owned=True,
    ),
    _attribute(
        "phone",
        "contact",
        r"\b(phone|mobile|cell|number|call|ring|text|reach|whatsapp|cv|contact)\b.*?(?P<value><phone>)",
        r"\A(it's|it is|the new one is)( now)? (?P<value><phone>)",
        r"(?P<value><phone>).*\b(phone|mobile|cv|contact|number|call)\b",
        wished=True,
        owned=True,
    ),
    _attribute(
        "address",
        "address",
        r"\b(?P<of>storage|billing|work|office|parents)\b.*?(?P<value><street>)",
        wished=True,
        owned=True,
    ),
    _attribute("address", "address", r"(?P<value><street>)", wished=True, owned=True),
    # --- The user
    _attribute(
        "name",
        "name",
        r"\bmy( full| first| real| new)? name('s| is)( now)? (?P<value><Name>)",
        r"\b(i go by|i'm called|i am called|known as) (?P<value><Name>)",
        r"\A([\w ]{0,14}, )?(?P<value><Name>) here\b",
        r"\A((hi|hello|hey)[, ]+)?i'm (?P<value>(?!(from|in)\b)<Word>)(?=,? (sign|by the way|btw)|$|,)",
        r"\bit's (now )?(?P<value>(?-i:[A-Z])[a-z]+ (?-i:[A-Z])[a-z]+)\b.*\b(official|paper|passport|now|changed)",
    ),
    _attribute("name", "name", r"\bcall me (?P<value><Name>)", wished=True),
    _attribute(
        "birthday",
        "birthday",
        r"\b(my birthday|i was born|date of birth|born on|birth date)\b.*?(?P<value><day>)",
        r"(?P<value><day>)[^,.]* (i was born|is my birthday)",
    ),
    _attribute(
        "age",
        "age",
        r"<I am><adv> (?P<value>(twenty|thirty|forty|fifty|sixty|seventy|eighty)([- ](one|two|three|four|five|six|seven|eight|nine))?)(?= *($|[,.!)]|and\b|now\b|years?\b))",
        r"<I am><adv>( turning)? (?P<value>\d{1,3})(?= *($|[,.!)]|and\b|years?\b|now\b|yo\b|this\b|but\b))",
        r"(<I>('ve)?|\A) ?(just )?turned (?P<value><number>)\b",
        r"\bbirthday\b.*?\b(?P<value>\d\d)\b",
        r"\b(yes|now|i'm) (?P<value>\d\d)\b(?=[!., ]|$)",
    ),
    _attribute(
        "age",
        "age",
        r"\b(my|our) (?P<of>son|daughter|child|baby|dog|cat)( is|'s| just turned| turned| turns) (?P<value><number>)\b",
        others=True,
    ),
    _attribute(
        "age",
        "age",
        r"\b(the|my|our) (little one|kid|youngest|eldest|boy|girl)( is|'s| just turned| turned) (?P<value><number>)\b",
        of=UNKNOWN,
        others=True,
    ),
    _attribute(
        "allergy",
        "allergies",
        r"<I am><adv>( \w+ly)? allergic to (?P<value><liked>)<stop>",
        r"<I have> an? (?P<value><liked>) allergy",
        named=True,
    ),
    _attribute("anniversary", "anniversary", r"\banniversary\b.*?(?P<value><day>)"),
    _attribute(
        "avoid",
        "diet",
        r"<I><adv> (?P<value>(don't|do not|can't|cannot|never) eat [\w -]+)",
        named=True,
    ),
    _attribute(
        "diet",
        "diet",
        r"<I am><adv>( an?| strictly| on| going| gone)*<adv> (?P<value><diet>)\b",
        r"<I have><adv> (gone|went|became|turned|go|eat|eating)( fully| strictly| completely)? (?P<value><diet>)\b",
        r"\b(eat|eating|try|trying|doing|following|follow|on)\b[\w ]{0,16}? (?P<value><diet>)\b",
        r"<I><adv> (?P<value>eat (everything|anything|meat|fish)\b[\w ]*)",
        r"<I><adv> (recently |just |have |finally )*(went|became|turned)( fully| strictly| an?)* (?P<value><diet>)\b",
        r"\b(?P<value><diet>) (is the word|diet|since|now|these days|for)\b",
        r"\b(?P<value>eat(ing)? (meat|fish|dairy|eggs|everything|gluten) again)",
        wished=True,
    ),
    _attribute(
        "habit:smoking",
        "habit",
        r"<I><adv> (?P<value>smoke\b.*)",
        r"\b(?P<value>(non-?smoker|without a cigarette|smoke-free|stopped smoking|quit smoking).*)",
    ),
    _attribute(
        "relationship",
        "relationship",
        r"<I am><adv>( an?)? (?P<value>single|married|engaged|divorced|widowed|separated|in a relationship|married to .+|engaged to .+|dating .+|seeing (somebody|someone)|dating|newlyweds?)\b",
        r"\b(?P<value>(got|get) (married|engaged|divorced))\b",
        r"\b(?P<value>(?-i:[A-Z])\w+ and i are (engaged|married|together|dating|divorced|separated))\b",
        r"<I have> (?P<value>an? (girlfriend|boyfriend|partner))\b",
    ),
    _attribute(
        "relationship",
        "relationship",
        r"\bmy (?P<value>girlfriend|boyfriend|fianc[ée]e?|partner|wife|husband)\b",
        others=True,
        implied=True,
    ),
    # --- Home and work
    _attribute(
        "gym",
        "gym",
        r"<I>( usually| mostly)? (train|work out|exercise|lift|climb|do my (lifting|training|workouts?))<adv> at (the )?(?P<value><Name>)",
        r"\b(joined|signed up (at|for|with)|go to|going to|member (of|at)|switched to) (?=.*\b(<gym>)\b)(?!the gym\b)(?P<value>.*(?-i:[A-Z]).*)",
    ),
    _attribute(
        "residence",
        "home",
        r"<and I>( have)?<adv> (live|reside|rent|stay|settled)<adv>( \w+){0,3}? (in|at|out of|near) (the )?(?P<value><place>)",
        r"<I am><adv> (living|based|renting|staying|residing|settled|settling)<adv>( \w+){0,2}? (in|out of|near) (the )?(?P<value><place>)",
        r"<I am><adv> in (?P<value><place>)(?= *($|[,.!]|now\b|these days\b|for\b|since\b|btw\b))",
        r"\A(?!.*\b(office|company|firm|hq|headquarters|service|project|team|meeting|data|server|repo|event|party|class)\b[^,]*\b(moved|relocated)).*?(\A|[,.;!] |\b(i|we|i've|we've|i'm|we're|just|finally|have|had|been|recently|and|then|family|all|so) )(moved|relocated|moving|emigrated|settled)<adv>( house)?( from [\w ]+?)? (to|in) (?P<value><place>)(?! (project|team))",
        r"\b(i|we|i've|we've|family|just|and)( have)?<adv>( just)* (moved|relocated)<adv> (in)?to( an?| our| my| the)?( new| bigger| smaller)? ?(house|flat|apartment|place|condo|studio|home)( in| near) (?P<value><place>)",
        r"\bhome (is|has been|means)<adv> (?P<value><place>)",
        r"(?P<value><place>) is<adv> home\b",
        r"\A((so|well|hi|hey)[, ]+)?(currently |now )?(based|living) (in|out of) (?P<value><place>)",
        r"\b(a|an|been a) (?P<value><place>) (resident|local|dweller)\b",
        r"\b(have|has|got|bought|rent|own) (an? |our |my )?[\w -]{0,20}?(house|flat|apartment|place|condo|cottage) (is )?in (?P<value><place>)",
    ),
    _attribute(
        "hometown", "hometown", r"<I><adv> (was born|grew up|come)( and raised)? (in|from) (?P<value><place>)"
    ),
    _attribute(
        "work",
        "employer",
        r"(<and I>|<I am>)<adv> (work|working|employed|contracting|freelancing|interning|consulting)(?! on\b| from\b| under\b| out\b)( [\w-]+){0,5}? (at|for|with|by) (?P<value><firm>)",
        r"\b(start(ed|ing)?|began|begun)<adv>( (a|my|the) new (job|role|position))? (at|with) (?P<value><firm>)",
        r"\b(joined|joining|hired by|sign(ed|ing)( on| up)? with|(new|a) job (at|with)|work is) (?P<value><firm>)(?! team)",
        r"\b(got|found|landed|accepted|took|started|have|have got|change of) (a|an|my|the)?( new)?( \w+)? ?(job|position|role|gig|internship) (at|with) (?P<value><firm>)",
        r"\bmy<new> (job|position|role) is<adv> (at|with) (?P<value><firm>)",
        r"\b(changed|switched) (jobs|companies|employers|job|company)\b[^.]*? (at|with|for|to|joined) (?P<value><Name>)",
        r"<I>( just| have)* (got|was|been) (hired|recruited|employed) (by|at) (?P<value><firm>)",
        r"\b(pay ?check|pay ?slip|payslip|badge|contract) (now )?says (?P<value><firm>)",
        r"<I am><adv>( an?| the) <job> (at|with|for) (?P<value><firm>)",
        r"<I am><adv>( an?| the) (?!member|guest|regular|patient|customer|student|fan|loss)([\w-]+ ){1,4}(at|with) (?P<value><firm>)",
        r"(?:\A|[,.:;!-] |\b(so|well|ok|and|but|now) )<I am><adv> (at|with) (?P<value><Word>)",
        r"<I><adv> (bake|cook|teach|drive|nurse) (at|for) (?P<value><firm>)",
    ),
    _attribute(
        "boss",
        "boss",
        r"\b<my> (boss|manager|line manager|supervisor|team lead|lead|pm)('s|,)?( is| called| named| is called)?<adv>,? (?!(?:<spoken>|american|canadian|australian|indian|mexican|brazilian|egyptian|nigerian|kenyan|scottish|belgian|austrian|swiss|israeli|iranian|iraqi|african|european|asian|british|irish)\b)(?P<value><Word>)",
        r"<and I>( now)?<adv> report to (?P<value><Word>|\w+)",
        r"\b(guy|woman|person|man|one) above me is( called)? (?P<value><Word>)",
        r"\bunder a (pm|manager|boss|lead) (named|called) (?P<value><Word>)",
        r"(?P<value>\bmy own boss)",
        r"(?P<value><Word>) is<adv> my( new)? (boss|manager|supervisor|lead)\b",
        others=True,
    ),
    _attribute(
        "shift",
        "shift",
        r"<I am><adv> on (the )?(?P<value>(nights|days|earlies|lates|(early|late|night|day|morning|evening) shift)\b.*)",
        r"\b(gave me|moved( me)? to|put me on|switched( me)? to|work|working|shift is|have)( the)? (?P<value>(nights|days|earlies|lates|(early|late|night|day|morning|evening) shift)\b.*)",
        others=True,
    ),
    _attribute(
        "team",
        "team",
        r"<I am><adv> (in|on|with|part of) (?P<value>(team|squad) <Word>)",
        r"<I am><adv> (in|on|with|part of) the (?P<value>[\w -]+?) (team|squad|group|department|crew)\b",
        r"\b(squad|team)( is| is called|'s called| called| name is| named)<adv> (called )?(?P<value><Word>)",
        r"\bwe're<adv> (?P<value>(squad|team) <Word>)",
        r"\b(moved|transferred|switched|assigned)( me)?<adv> (over )?(to|into) (the )?(?P<value>[\w -]+?)( team| squad)?( with sprint| in sprint| this sprint|,? .*\bon-call|(?<= team)|(?<= squad))",
    ),
    _attribute("role:scrum master", "occupation", r"<I am> (?P<value>(the )?scrum master)"),
    _attribute(
        "role",
        "occupation",
        r"\b(made me|promoted me to|promoted me) (?P<value>(?!last|this|on\b)[\w -]+?)(?= *($|[,.:;!)]| and\b| now\b| last\b| this\b| in\b| on\b| as of\b))",
        others=True,
    ),
    _attribute(
        "role",
        "occupation",
        r"\b(promoted (me )?to|promoted into|became|now work as|work as|my( new)? (job )?(title|position|role) (is|changed to|became))<adv>( an?| the)? (?P<value>[\w -]+?)(?= *($|[,.:;!)]| and\b| at\b| now\b))",
        r"<I am><adv>( an?| the)* (?P<value><job>( (of|for) [\w' -]+)?)",
        r"\bbeen an? (?P<value><job>)",
    ),
    # --- Things
    _attribute(
        "car",
        "car",
        r"<and I>( now| still)? drive (?!to\b|(my|the|our) (son|daughter|kids?|wife|husband|mum|dad|dog|children)\b)(an? |the |my )?(?P<value>[\w -]*?((<car>)|(?-i:[A-Z])[\w-]+|\d{4}).*)",
        r"\b(bought|picked up|got|have|had|own|leased|ordered|purchased|for|drive)\b( myself| my| our)?( an?| the)?[\w ]{0,20}? (?P<value>(<car>)\b[^,.!]*)",
        r"\b(my|our|the)<new> car('s| is)<adv>( an?)? (?P<value>[\w -]*?((<car>)|(?-i:[A-Z])[\w-]+).*)",
        r"\b(replaced|swapped|traded)\b[^.]*? (with|for|to) (an?|the|my)( new| used)? (?P<value>[\w -]*?(<car>).*)",
    ),
    _attribute(
        "device",
        "device",
        r"\b(?P<of>work|personal|private|company|office|gaming|home|old|second) (laptop|computer|pc|phone|tablet)\b.*?(?P<value><device>)",
    ),
    _attribute(
        "device",
        "device",
        r"\b(on|my|arrived|bought|got|switched to|upgraded to|moved to|gave me|issued me|use|using|carry|own|have|phone's|laptop is|laptop's|phone is)\b,?( \w+){0,4}?,?( an?| the)? (?P<value>(<handset>)\b[^,.!]*)",
        of="phone",
    ),
    _attribute(
        "device",
        "device",
        r"\b(on|my|arrived|bought|got|switched to|upgraded to|moved to|gave me|issued me|use|using|carry|own|have|phone's|laptop is|laptop's|phone is)\b,?( \w+){0,4}?,?( an?| the)? (?P<value>(<tablet>)\b[^,.!]*)",
        of="tablet",
    ),
    _attribute(
        "device",
        "device",
        r"\b(on|my|arrived|bought|got|switched to|upgraded to|moved to|gave me|issued me|use|using|carry|own|have|phone's|laptop is|laptop's|phone is)\b,?( \w+){0,4}?,?( an?| the)? (?P<value>(<device>)\b[^,.!]*)",
        of="computer",
    ),
    _attribute(
        "bank",
        "bank",
        r"\b(salary|wages?|paycheck|pay|bank(ing)?)\b.*?\b(goes|go|land|lands|paid|arrive|is|bank with|lives)( in| into| to| at| with)*( an?| my)? (?P<value><Word>)",
        r"<I><adv> bank (with|at) (?P<value><Word>)",
        r"\b(moved|switched|transferred)( my)?( bank| account| salary| money| everything)+( over)? (to|into) (?P<value><Word>)",
    ),
    # --- Families, pets, people
    _attribute(
        "school",
        "school",
        r"\b(my|our) (?P<of>son|daughter|kid|boy|girl)\b.*?\b(goes to|attends|is at|started at|studies at|is in) (?P<value><Name>)",
        others=True,
    ),
    _attribute(
        "school",
        "education",
        r"<I>( \w+)? (study|studied|attend|go to uni)( [\w ]+)? at (?P<value><Name>)",
        r"<I am><adv> (studying|doing|reading)( [\w-]+){0,5}? at (?P<value><Name>)",
        r"<I><adv>( study| studied)? (go|went|attend|transferred|switched|moved|changed)<adv>( to| at)? (?P<value>(?=[\w'. ]*\b(?:<school>)\b)<Name>)",
        r"\bdoing my ([\w-]+ ){1,3}at (?P<value><Name>)",
        r"<I>( have| just)* (transferred to|enrolled (at|in)) (?P<value><Name>)(?! (team|department|office|squad|group))",
        r"\b(transferred|moved|enrolled) (to|at|in) (?P<value><Name>( (university|college|school|academy)))",
    ),
    _attribute(
        "school",
        "school",
        r"\A(?!.*\b(niece|nephew|cousin|friend|neighbou?r|colleague|sister|brother|wife|husband|grand\w+|student|boss)('s)?\b).*?\b(goes to|settled in at|started at|moved to|attends|now at|at) (?P<value><Name> (school|primary|academy|college|nursery|elementary|high)\b)",
        r"\A(?!.*\b(niece|nephew|cousin|friend|neighbou?r|colleague|sister|brother|wife|husband|grand\w+|student|boss)('s)?\b).*?\b(goes to|settled in at|started at|moved to|now at|at) (?P<value>(?-i:[A-Z])[\w']*( (?-i:[A-Z])[\w']*)* (?-i:(School|Primary|Academy|College|Nursery|Elementary|High)))\b",
        of=UNKNOWN,
        others=True,
    ),
    _attribute(
        "doctor",
        "doctor",
        r"\b(my|our) (?P<of><clinician>)( is|'s|,)( now)? (?P<value>(dr\.? )?<Word>)",
        r"\bsee an?( new)? (?P<of><clinician>),? (his name is |her name is |called |named )?(?P<value><Word>)",
        others=True,
    ),
    _attribute(
        "doctor", "doctor", r"\b(see|seeing|saw|at|it's|is|to)( now)? (?P<value>dr\.? <Word>)", of=UNKNOWN
    ),
    _attribute(
        "pet",
        "pet",
        r"\A(?!.*\b(neighbou?r|friend|sister|brother|colleague|boss|parents|mum|mom|dad|their|his|aunt|uncle|grand\w+)('s|s')?\b).*?\b(?P<of><pet>),? (is |and )?(named|called|called (her|him|it)|name is|she's|he's|it's)? ?(?P<value>(?-i:[A-Z])\w+)(?!\w)",
        others=True,
        named=True,
    ),
    _attribute(
        "pet",
        "pet",
        r"\b(second|another|new) (?P<of><pet>),( an? \w+,)? (she|he|it)('s| is)( called| named)? (?P<value>(?-i:[A-Z])\w+)",
        others=True,
        named=True,
    ),
    _attribute(
        "pet",
        "pet",
        r"\A(?!.*\b(neighbou?r|friend|sister|brother|colleague|boss|parents|mum|mom|dad|their|his|aunt|uncle|grand\w+)('s|s')?\b).*?\b(?P<of><pet>)('s name)?( is|'s)( now)?( called| named)? (?P<value>(?-i:[A-Z])\w+)",
        others=True,
        named=True,
    ),
    _attribute(
        "pet",
        "pet",
        r"\A(?-i:[A-Z])\w+ (is|was)( now)?( officially)? (called|named|renamed)( to)? (?P<value>(?-i:[A-Z])\w+)",
        of=UNKNOWN,
        others=True,
    ),
    _attribute(
        "pet",
        "pet",
        r"\b(changed|switched) (the|our|my) (?P<of><pet>)'s name( from \w+)? to (?P<value>(?-i:[A-Z])\w+)",
        r"\brenamed (the|our|my) (?P<of><pet>)\b[^.]*?(called|to|is|he's|she's|it's)( now)?( called)? (?P<value>(?-i:[A-Z])\w+)",
        others=True,
        named=True,
    ),
    _attribute(
        "roommate",
        "roommate",
        r"\b(flatmates?|roommates?|housemates?)( is|,| called| named|'s name is)* (?P<value>(?-i:[A-Z])\w+)",
        r"\b(living|live|(share|sharing)( a (flat|house|place|room))?) with (?P<value>[\w ]+?)(?=$|,| now| and)",
        others=True,
    ),
    # --- Tastes
    _attribute(
        "favourite",
        "favourite",
        r"\bmy<adv>( new| current| all-time)? (favou?rite|fave) (?P<of>[\w-]+( (?!has\b|have\b|was\b|is\b|used\b|changed\b|became\b|now\b)[\w-]+)?)( of all time)?( is| are| has to be| would be|'s| (has |have |was |were )?(changed|switched|moved) to| (has )?bec[oa]me| was always)<adv> (?P<value>.+)",
        r"(?P<value>.+?) (is|are)<adv> my<adv>( new)? favou?rite (?P<of>[\w-]+( (?!now\b|these\b|at\b|right\b|any|because\b|since\b|so\b|and\b|but\b|by\b|of\b|in\b|lately\b|currently\b)[\w-]+)?)",
    ),
    _attribute(
        "favourite",
        "favourite",
        r"(?P<value>.+?) is what i (love|like) (most|best)",
        r"\b(it's|now) (?P<value><Name>) (all day( long)?|all the way|for me now)",
        r"(?P<value>.+?) is (it's|its|it is) my favou?rite",
        r"\bit's my( new)? favou?rite (?P<of>\w+)(?P<value>)",
        of=UNKNOWN,
    ),
    _attribute(
        "usual order",
        "usual order",
        r"\bmy usual( \w+)? is<adv> (?P<value>.+)",
        r"\bi always (have|order|get|take) (?P<value>an? .+)",
        r"(?P<value>.+?) is my thing",
        r"(?P<value>[^,]+), (that's|it's) my( new)? usual",
    ),
    _attribute(
        "commute",
        "commute",
        r"<I><adv> (take|catch|ride|get) (the |my |an? )?(?P<value>[\w -]*\b<vehicle>s?\b.*?(to work|to the office|in\b.*|every morning|$))",
        r"<I><adv> (?P<value>(cycle|walk|drive|bike|run|commute)\b.*?(to work|to the office|in\b.*))",
        r"\bmy commute is (?P<value>.+)",
        r"\b(i|we) (go in|commute) by (?P<value>.+)",
        r"\b(got|bought) (myself )?an? (?P<value>(e-bike|bike|bicycle|scooter|moped|motorbike)\b.*)",
        r"\b(?P<value>(ride|train|bus|drive|walk|cycle) (in|to work) (is|takes).*)",
    ),
    # --- How to answer
    _attribute(
        "reply language",
        "answer language",
        r"\b(answer|reply|respond|talk|write|speak|chat)( to| with)?( me)?( back)?( only)?( in)? (?P<value>(in )?<spoken>)\b",
        r"\b(?P<value><spoken>) (answers?|replies|responses?)( only)?\b",
        r"\b(switch|change|go)( back)? (to|into) (?P<value><spoken>)\b",
        r"\b(use|continue in|let's (speak|talk|chat|write)( in)?|in) (?P<value><spoken>)(?=( please|,? from now on| instead| with me|,? thanks| for (all|your|the)\b.*|$))",
        r"\bonly (talk|speak|write|answer)( in)? (?P<value><spoken>)",
        wished=True,
    ),
    _attribute(
        "mode", "mode", r"\b(?P<value>[\w-]+ mode)\b(?<!dark mode)(?<!light mode)(?<!night mode)", wished=True
    ),
    _attribute("theme", "theme", r"\b(?P<value><theme>)\b", wished=True, owned=True),
    _attribute("time zone", "time zone", r"\b(?P<value><zone>)", wished=True, owned=True),
    _attribute(
        "units",
        "units",
        r"\b(?P<value><units>( and <units>)?)\b.*\b(please|everything|from now on|always|instead|for me)\b",
        r"\b(prefer|use|used to|want|give me|in|show)\b.*?\b(?P<value><units>( and <units>)?)\b",
        wished=True,
        owned=True,
    ),
    # --- Tools
    _attribute(
        "database",
        "database",
        r"\A(so |and |anyway )?<project>( now)? (stores?|keeps?|runs?|is|sits?|uses?|are|lives?|depends?|persists?)<adv>( \w+){0,2}?( <on>)?( an?| the)?( [\w-]+){0,3}? (?P<value><database>)",
        r"\b(all of |keep |moved |migrated |ported |switched )(the )?<project>'? data( <on>)?.*? (?P<value><database>)",
        r"\b(moved|migrated|ported|switched)( the| our)? <project>( over)?( from [\w .]+)? (to|onto|into) (?P<value><database>)",
        r"\b(use|uses|using|run|running|have|chose|picked|(switched|moved|migrated) to)( an?)? (?P<value><database>)( \w+)? (for|in|behind) <project>",
        r"\bfor <project>,? the database is (?P<value><database>)",
    ),
    _attribute(
        "database",
        "database",
        r"\b(on|in|is|with|to|use|uses|using|onto|keep)\b[\w ']{0,24}? (?P<value><database>)",
        of=UNKNOWN,
    ),
    _attribute(
        "language",
        "project language",
        r"\A(so |and |anyway )?<project>( now)? (is|was rewritten|are|'s)( now)?( \w+){0,2}?( written| built| done)?( in| with)? (?P<value><language>)",
        r"\b(re)?(wrote|written|writing|ported|moved|converted|migrated|translated)( the| our| my)? <project>( over)? (in|to|into|with) (?P<value><language>)",
    ),
    _attribute(
        "language",
        "project language",
        r"\b(one hundred percent|100%|all|fully|pure|entirely|completely) (?P<value><language>)",
        of=UNKNOWN,
    ),
    _attribute(
        "deployment",
        "deployment",
        r"\A(so |and )?<project>( now)?( is| are|'s|'s been| has been| lives?| runs?)( now)?( hosted| deployed| running| served| living)? (on|at|from|in|with) (?P<value>.*?<host>.*)",
        r"\A(production|prod|staging|hosting) (for|of) <project> ?(=|is|:|runs on|lives on) ?(?P<value>.*?<host>.*)",
        r"\b(moved|migrated|everything of)( the| our)? <project>( over)?( moved| migrated)? (to|into|onto)( the| our)?[\w ]*? (?P<value><host>.*)",
    ),
    _attribute(
        "deployment",
        "deployment",
        r"\b(deploy|deploying|host|hosted|hosting|production|staging|prod)\b.*? (on|at|to|with|in) (?P<value><host>)",
        r"\b(moved|migrated|switched)<adv>.*? (to|into|onto) (?P<value>.*?<host>)",
        of=UNKNOWN,
    ),
    _attribute(
        "editor",
        "editor",
        r"\b(moved|switched|migrated|went|gone|changed)( over)?( from [\w .]+?)? (to|on) (?P<value><editor>)\b",
        r"\b(use|using|on|in|with|is|everything|for|love)\b( \w+){0,3}? (?P<value><editor>)\b",
        r"\b(?P<value><editor>)('s| is|,)<adv> (my|what i|it's my)\b",
        r"\b(for|use) (?P<value><editor>)\b",
    ),
    _attribute("notes", "notes app", r"\b(use|using|in|to|on|with)\b.*? (?P<value><notes>)\b"),
    _attribute(
        "browser",
        "browser",
        r"\b(use|using|on|to|with|in|is|love|prefer)( \w+){0,2}? (?P<value><browser>)(?= *($|[,.;!]| (now|as|for everything|instead|every|these|browser|because|and)\b))",
    ),
    _attribute(
        "music app", "music app", r"\b(use|using|on|to|with|have|is)( \w+){0,2}? (?P<value><music>)\b"
    ),
    _attribute(
        "package manager", "package manager", r"\b(use|using|to|with|is)( \w+){0,2}? (?P<value><packages>)\b"
    ),
    _attribute("shell", "shell", r"\b(on|use|using|to|in|with|is|shell)\b( \w+){0,3}? (?P<value><shell>)\b"),
    _attribute(
        "operating system",
        "operating system",
        r"(<I>( now)? (run|use|have)|<I am><adv> (on|using|running)|\b(switched|moved|migrated|upgraded)( \w+){0,3}? (to|over to)|installed|on my laptop is|laptop runs)( \w+){0,2}? ?(?P<value><os>)\b",
    ),
    _attribute(
        "medication",
        "medication",
        r"<I><adv> take (\d+ ?mg (of )?)?(?P<value>(?!a |an |the |my |it |care |part )[a-z]{5,})( every| daily| each| twice| once| in the)",
        r"<I am> on \d+ ?mg (of )?(?P<value>[a-z]{5,})",
        named=True,
    ),
    _attribute(
        "membership",
        "membership",
        r"<I am> subscribed to (?P<value><Name>)",
        r"<I have> (an?|the) (?P<value><Name>)( [\w-]+){0,3}? (plan|subscription|membership|account)",
        named=True,
    ),
    _attribute(
        "detail",
        "detail",
        r"\b(my|our)( new| current)? (?P<of><noun>)( is| are|'s| was (moved|changed) to| (has |is |got )?(moved|changed|switched|pushed|rescheduled) to| has been (moved|changed|pushed) to)<adv> (?P<value><typed>)",
        r"\bthe (?P<of><noun>)( was| has been| is| got)?( now)? (moved|changed|switched|pushed|rescheduled) to (?P<value><typed>)",
        r"\b(changed|switched|moved|updated|set|pushed|rescheduled) (my|our|the)( new| current)? (?P<of><noun>)( from [^,.]+?)? to (?P<value><typed>)",
    ),
    _attribute(
        "detail",
        "detail",
        r"<I><adv>( usually| normally| generally)? (?P<of>wake up|get up|go to bed|go to sleep|start work|finish work)( early| late)? (at|around|by) (?P<value>\d[\w:. ]*|<number>|noon|midnight)",
    ),
    _attribute(
        "like",
        "likes",
        r"<I><adv>( really| absolutely)? (like|love|enjoy|adore)( to)?( playing| drinking| eating| watching| reading| doing| going)? (?P<value><liked>)<stop>",
        r"<I><adv>( often| usually| regularly| mostly| mainly)? (play|drink|practi[sc]e|do|go|collect)( the)? (?P<value><liked>)<stop>",
        r"\bmy( favou?rite| main| new)? hobby is<adv>( playing| doing| going)? (?P<value><liked>)<stop>",
        r"<I am><adv> into (?P<value><liked>)<stop>",
        named=True,
    ),
)
"""What is so now; the first that fits has the words."""

ENGLISH_ATTRIBUTES: Final = AttributeGrammar(
    stated=STATED,
    other=expression(
        r"\b((my|our|the|his|her|their) [\w-]+|(?-i:[A-Z])\w+)'s (new |current |work |home |mobile |cell )*(phone|number|e-?mail|address|birthday|favou?rite|boss|manager|job|car|employer|doctor|dentist|age|gym|mobile|cell|house|apartment|hobby|diet)\b|\b(he|she|they|his|her|their|him|them|he's|she's|they're)\b|\b(?-i:[A-Z])\w+'s ([\w-]+ )?(<other>)\b|\b(my|our|his|her|their) ([\w'-]+ )?(<other>)('s)?\b(?!,?( \w+)? and i\b)|\b(the|an?) (friend|neighbou?r|colleague|landlord|customer|client|guy|kids|girl|woman)\b|\b(dad|mum|mom|grandma|grandpa)\b",
        VOCABULARY,
    ),
    own=None,
    added=expression(
        r"\b(also|as well|in addition|additionally|besides|an? (second|third|extra|additional|spare|backup)|one more)\b|\btoo(?= *($|[,.;!]))|\banother (?!job|company|city|country|flat|apartment|place|town)",
        VOCABULARY,
    ),
    owner=expression(
        r"\b(my|mine|me|our|us|i|i'm|i've|we|we're|cv|invoice|parcels?|ship|deliver|delivery|home|use|show|switch|set|please|schedule|all|everything|anywhere|everywhere|always)\b|\bnew (number|phone|address|e-?mail)\b",
        VOCABULARY,
    ),
    dead=expression(
        r"\b(is dead|is gone|no longer works|is closed|bounces|disconnected|deactivated|expired|went to|(is|was) (sold|gone))\b",
        VOCABULARY,
    ),
    shown=expression(
        r"\b(the|this|that|an?) [\w-]+ (shows?|has|had|says?|said|looks?|reads?|uses?|displays?|comes|supports?|lists?|is at|is on)\b|\bmeet\b|\A(?-i:[A-Z])\w+ (prefers|likes|uses|wants|speaks|has|works|lives|thinks|says|runs|drives)\b",
        VOCABULARY,
    ),
    addressed=expression(
        r"\b(you|your|you're|you've)\b|\A((please|now|ok|and|then),? )?(write|draft|translate|explain|give|help|find|suggest|create|tell|list|compare|recommend|imagine|pretend|summari[sz]e|rewrite|describe|compose|generate)\b",
        VOCABULARY,
    ),
    tail=expression(
        r" (yesterday|today|now|these days|from now on|last \w+|this \w+|since\b.*|as of\b.*|on \w+day\b.*|in case\b.*|btw|by the way|please|and (my|the|i|we|it|leave|let)\b.*)$|, (use|put|suggest|please|fix|so|and|but)\b.*$",
        VOCABULARY,
    ),
    further=expression(r"((his|her|their|its) name|(he|she)('s| is) (called|named))\b", VOCABULARY),
    past=expression(
        r"\b((?<!get )(?<!got )(?<!getting )used to|years ago|months ago|back then|back in|as a (kid|child|teenager|student)|in my (teens|twenties|thirties|forties|youth)|when i was|previously|formerly|at the time|had been|had a|in (19|20)\d\d|before that|last year|visiting|visit|until \w+day|for (a|the) (conference|weekend|week|trip|meeting|wedding|holiday|few \w+|couple of|fair|course|match|festival)|on (holiday|vacation|a trip|business)|this weekend|passing through|(my|our) (old|former|previous|ex)[ -]\w+|rented|borrowed|test drove|before$)\b|\b(used|took|drove|lived|worked)\b.*\b(for (\w+) years|years|decades?)\b",
        VOCABULARY,
    ),
    negated=expression(
        r"\b(not|never|no longer|cannot|without|no wish|turned down|refused?|stop (suggesting|recommending|pushing)|pushing|(stopped|quit|gave up) \w+ing|rather than|isn't|aren't|don't|doesn't|didn't|won't|wouldn't|can't|couldn't|shouldn't|ain't|haven't|hasn't|nobody)\b",
        VOCABULARY,
    ),
    wished=expression(
        r"\b(would|could|should|shall|might|(?-i:may)|want to|wants|wish|hope|hoping|plan|planning|thinking (of|about)|considering|going to|will|i'll|we'll|i'd|we'd|tempted|dream|someday|maybe|perhaps|what if|were the|suppose|imagine|offered|interview)\b",
        VOCABULARY,
    ),
    cut=expression(
        r"[;:]\s|\s[:;]-?[()DP](?=\s|$)|,\s(?:and |but |so )?|\s[-–—]+\s|\s(?:and|but|so|because|since(?! \w+ \d)|which|who)\s|\.{2,}\s*",
        VOCABULARY,
    ),
    ended=expression(
        r"\b(sold|traded|scrapped|quit|left|resigned|cancel(l)?ed|unsubscribed|dropped|ditched|gave up|given up|stopped|closed|shut (it |them )?down|shut|ripped|removed"
        r"|moved out|broke up|split up|divorced|separated|died|passed away|put down|retired|stepped down|signed off|discharged|handed|gave back|given back|returned"
        r"|dropped out|goodbye|went to|got bought|bought out|too pricey|too expensive|replaced|got rid of|knocked off|was a phase|dumped|rip|came off|coming off|emptied|(never|didn't) (stuck|stick|caught on|worked out)|merged|out of|expired|run out|ran out"
        r"|(gave|given|threw|thrown|put|let|sent) (\w+ ){0,3}(away|back|up|down|go)|outgrew|outgrown|lapsed|is over|are over|over with|no more|no longer|any ?more|any longer|is gone|are gone|fired|laid off|last day|between jobs|deleted|retire|can stop|overruled|swapped|switched|off|reassigned|finished|ended)\b",
        VOCABULARY,
    ),
    ends={
        "relationship": expression(
            r"\b(broke up|split up|divorced|we separated|ended things|dumped|single again|called it off|no longer (together|married|engaged|dating)|not (together|married|engaged|dating) any ?more|got a divorce)\b",
            VOCABULARY,
        ),
        "work": expression(
            r"\b(quit|left|resigned from|lost) (my|the) job\b|\b(between jobs|laid off|got fired|i resigned|i retired|handed in my notice|unemployed|i (quit|retired)|out of (work|a job)|stopped working|no longer work(ing)?|don't work( there)? any ?more)\b",
            VOCABULARY,
        ),
        "boss": expression(r"\b(no longer have|don't have) an? (boss|manager)\b", VOCABULARY),
        "spoken language": expression(
            r"\b(no longer|any ?more|any longer|stopped|quit|gave up|forgotten)\b", VOCABULARY
        ),
        "allergy": expression(
            r"\b(no longer|any ?more|any longer|outgrew|outgrown|got over|not allergic)\b", VOCABULARY
        ),
        "pet": expression(r"\b(my|our|the)( old| little)? (<pet>)\b(?!')", VOCABULARY),
        "like": expression(
            r"\b(no longer|any ?more|any longer|stopped(?! (by|at|in|for|to)\b)|quit|gave up|given up|off)\b",
            VOCABULARY,
        ),
        "gym": expression(r"\b(the|my) (gym|membership)\b", VOCABULARY),
        "car": expression(r"\b(the|my|our|a|any) (car|old thing)\b", VOCABULARY),
        "diet": expression(r"\b(diet|gluten-free|low-carb|keto|vegan|vegetarian)\b", VOCABULARY),
        "phone:work": expression(r"\bwork phone\b", VOCABULARY),
        "school": expression(
            r"\b(the course|school|college|university|evening classes|accounting course)\b", VOCABULARY
        ),
        "address:storage": expression(r"\bstorage\b", VOCABULARY),
        "doctor": expression(r"\b(physio|therapy|therapist|the doctor)\b", VOCABULARY),
        "deployment": expression(r"\b(staging|production|hosting)\b", VOCABULARY),
        "membership": expression(r"\b(subscription|membership)\b", VOCABULARY),
        "medication": expression(r"\b(antihistamine|pills?|medication|tablets|meds|medicine)\b", VOCABULARY),
        "role": expression(r"\b(stepped down|council|the board|my post)\b", VOCABULARY),
        "habit:smoking": expression(r"\b(cigarettes?|smoking)\b", VOCABULARY),
        "roommate": expression(r"\b(flatmate|roommate|housemate) moved out\b", VOCABULARY),
    },
)
