"""The grammar of English for extraction: the rules for lasting facts, and the expressions that show what is a statement.

The order of the rules matters: when two rules match the same words, the first one is used.  ``grammar.py`` describes the
notation.
"""

from functools import partial
from typing import Final

from chatmemory.longterm.extraction.grammar import (
    DONE,
    GENERAL,
    PLANNED,
    SUGGESTED,
    Grammar,
    Subject,
    Vocabulary,
    expression,
    rule,
)
from chatmemory.longterm.extraction.topics import TOOLS

VOCABULARY: Final[Vocabulary] = {
    "value": r"(?P<value>.+)",
    "opening": r"((hi|hello|hey|well|so|yes|no|and|but|also|honestly|actually|personally|please|remember|note|btw|maybe|perhaps"
    r"|probably|by the way|for the record|fyi|keep in mind|i think|i guess|i'd say|in general|after \w+ \w+|that) )*",
    "adverbs": r"( (also|really|just|still|actually|personally|generally|very much|much|truly|absolutely|definitely|currently|now"
    r"|mostly|mainly|do|always|finally|already|both|probably|quite|simply|usually|recently))*",
    "I": "<opening>(i|we)<adverbs>",
    "I am": "<opening>(i'm|i am|we're|we are)<adverbs>",
    "I have": "<opening>(i've|we've|(i|we)<adverbs> have)( got)?<adverbs>",
    "I did": "<I>|<I have>",
    "I would": "<opening>(i'd|i would|we'd|we would)<adverbs>",
    "my": "<opening>(my|our)",
    "Name": r"(?-i:[A-Z])[\w'-]*",
    "days": r"(every|each) (other |single |second )?(\w+day|day|morning|afternoon|evening|night|week|weekend|month|quarter|year|spring|summer"
    r"|autumn|fall|winter|time)s?( (morning|afternoon|evening|night))?|on (\w+days|weekends|week ?days)"
    r"|in the (mornings?|evenings?|afternoons?)|at night|(once|twice|\w+ times) (a|per) (day|week|month|year)"
    r"|most (mornings|days|evenings|nights|weekends)",
    "occasions": r"<days>|whenever \w+ [\w ]+?",
    "often": "always|usually|normally|typically|generally|often|regularly|habitually|mostly|tend to|almost always",
    "many": r"an?|one|two|three|four|five|six|\d+|several|twin|no",
    "occupation": r"(?!no |not )([\w-]+ ){0,4}?(engineer|developer|programmer|coder|teacher|nurse|doctor|physician|surgeon|lawyer|attorney"
    r"|designer|scientist|manager|student|researcher|writer|author|artist|chef|cook|accountant|architect|analyst|consultant|founder"
    r"|journalist|professor|lecturer|pilot|driver|electrician|plumber|mechanic|carpenter|translator|interpreter|editor|photographer"
    r"|musician|pharmacist|dentist|physicist|chemist|biologist|mathematician|economist|psychologist|therapist|baker|farmer|barista"
    r"|freelancer|actor|librarian|secretary|salesperson|officer|firefighter|soldier|veterinarian|vet|admin|administrator|technician"
    r"|tutor|trainer|entrepreneur|director|intern|postdoc|owner|bookkeeper|paramedic|social worker|contractor|recruiter)\b",
    "business": "bakery|company|shop|startup|business|studio|restaurant|caf[eé]|farm|agency|store|practice|team",
    "kin": r"wife|husband|partner|girlfriend|boyfriend|fianc[ée]e?|sons?|daughters?|kids?|child|children|baby|mother|father|mom|mum|dad"
    r"|parents|brothers?|sisters?|siblings|twins?|grandmother|grandfather|grandma|grandpa|niece|nephew|cousin|uncle|aunt",
    "pet": r"dogs?|puppy|puppies|cats?|kittens?|parrots?|rabbits?|hamsters?|horses?|goldfish|turtles?|tortoises?|birds?|pets?"
    r"|golden retrievers?|labradors?|poodles?|corgis?|beagles?|bulldogs?|terriers?|guinea pigs?",
    "illness": r"diabetes|asthma|migraines?|epilepsy|arthritis|hypertension|high blood pressure|adhd|autism|depression|anxiety|insomnia"
    r"|dyslexia|ibs|eczema|psoriasis|anemia|tinnitus|cancer|back (pain|problems)|[\w ]+ (disease|syndrome|disorder|intolerance)",
    "language": r"english|chinese|mandarin|cantonese|german|french|spanish|italian|japanese|korean|portuguese|russian|dutch|polish"
    r"|turkish|arabic|hindi|bengali|greek|swedish|norwegian|danish|finnish|czech|hungarian|ukrainian|vietnamese|thai|hebrew|persian",
    "address": "e-?mail|phone|mobile|number|telegram|twitter|github|linkedin|wechat|whatsapp|signal|address|website",
    # Feelings, and verbs in the past tense: "I always felt", "we never knew".
    "no habit": r"(\w+ed|had|been|felt|thought|knew|saw|feel|hope|think|wish|want|look forward|give up|quit)\b",
    "standing": r"(from now on|in (the )?future|going forward|by default|at all times|in general),?",
    # What only the moment holds: helping verbs and verbs of thought, irregular verbs in the past tense, things and states.
    "passing verb": r"(ai|am|are|be|ca|can|cannot|could|did|do|does|had|has|have|is|may|might|must|shall|should|was|were|will|would|'?d|'?ll)(n't)?\b"
    r"|(agree|apologi[sz]e|appreciate|ask|believe|bet|doubt|expect|feel|find|forget|get|gets|gotta|guess|hear|hope|know|look|mean|need|notice|promise"
    r"|recommend|remember|say|see|suggest|suppose|swear|thank|think|try|understand|want|wish|wonder)\b"
    r"|(ate|began|bought|broke|brought|built|came|caught|chose|cut|drank|drew|drove|fell|felt|flew|forgot|found|gave|got|grew|heard|hit|hurt|kept|knew"
    r"|left|lost|made|meant|met|paid|put|ran|read|rode|said|sat|saw|sent|set|shut|slept|sold|spent|split|stood|stuck|taught|thought|threw|told|took|went"
    r"|woke|won|wrote|\w{3,}(ed|ing))\b|(a|all|an|and|at|for|in|just|myself|of|on|the|to|too|who|with)\b",
    "passing thing": r"(answer|battery|branch|brain|bugs?|build|bus|calls?|class|code|coffee|cold|commit|csv|current|cursor|draft|errors?|exam|feeling|few|files?"
    r"|first|flight|function|guess|head|headache|hunch|ideas?|issues?|laptop|last|list|meetings?|mistake|new|next|output|point|pr|previous|problems?|quer(y|ies)"
    r"|questions?|reply|screen|scripts?|tables?|task|terminal|tests?|time|train|turn)\b",
    "person": r"<kin>|boss|clients?|coach|colleagues?|co-?workers?|customers?|doctor|driver('s)?|friends?|landlord|manager|neighbou?rs?|roommates?|teachers?",
    "passing state": r"(about to|at \d|back|broken|dead|done|down|failing|fine|gone|happy|here|in a|late|ok|out|ready|red|so|still|stuck|there|too|up|very|\w+ing"
    r"|not \w+ing|ago|an error|and|every|is|it|of|that|this|to|was|were|when)\b",
    "near": r"(here|it|that|these|this|those|you|how|what|why)\b",
    "long": r"(for (over |almost |about |nearly |more than )?(\w+ )?(years?|months|decades?)|since \d{4})\b.*",
}
_expression: Final = partial(expression, vocabulary=VOCABULARY)
_rule: Final = partial(rule, vocabulary=VOCABULARY)

_PREFERENCES: Final = (
    _rule(
        "food preference",
        r"<I am>( an?)?( strictly)? (?P<value>vegetarian|vegan|pescatarian|kosher|halal)\b",
        r"<I> (?P<value>((don't|do not|never|can't|cannot) (really )?(eat|drink)|avoid) .+)",
        category="preference",
    ),
    _rule(
        "{topic} preference",
        r"<I> (?P<value>(hate|dislike|detest|loathe|can't stand|cannot stand|can't bear) .+)",
        r"<I> (?P<value>(don't|do not|never) (really |particularly |much )?(like|love|enjoy|use) .+)",
        r"<I am> (?P<value>not (really )?(an? (big |huge )?fan of|into|fond of|keen on) .+)",
        r"<I am>( an?)?( (big|huge|real|great))? ((fan|lover) of|into|fond of|keen on|crazy about|partial to|more of an?) <value>",
        r"<I> (like|love|enjoy|adore|prefer|favou?r)( to)? <value>",
        r"<opening>i only (?P<value>(drink|eat|wear|buy|watch|read|listen to) .+)",
        r"<opening>(?P<value>.+) (is|are) (something|what) i( really)? (like|love|enjoy|prefer)",
        r"<I have> (always|long) (liked|loved|enjoyed|preferred) <value>",
        r"<I would> (rather|prefer)( have| to)? <value>",
        r"<my> favou?rite ([\w-]+ ){1,4}?(is|are|has always been|would be) <value>",
        r"<opening>(?P<value>.+) (is|are) <my> favou?rite\b",
        otherwise="personal preference",
        category="preference",
    ),
    _rule(
        "{topic} preference",
        r"<opening>((from now on|in future|always|please) )*(?P<value>(answer|reply|respond|write|talk|speak|be|keep|use|avoid|give)\b.+)",
        category="preference",
        topics=frozenset({"answer style", "answer language"}),
    ),
    _rule(
        "{topic} preference",
        r"(<I> (use|work with|code in|program in|develop (in|with)|rely on|stick to)|<I am> (using|working (in|with))) <value>",
        category="preference",
        confidence=DONE,
        topics=TOOLS,
    ),
)
_FACTS: Final = (
    _rule(
        "name",
        r"<my>( full| first)? name is (?P<value><Name>( <Name>)*)",
        r"<opening>((i'm|i am) called|((you can|please) )*call me) (?P<value><Name>( <Name>)*)",
        r"<opening>(i'm|i am) (?P<value>(?!\w+(ish|ese|ian|can)\b|<language>\b)<Name>)$",
    ),
    _rule(
        "age",
        r"<I am>( turning)? (?P<value>\d{1,3})( years? old| yo)?($| (this|in|on|and)\b)",
        r"<I did> turned (?P<value>\d{1,3})\b",
    ),
    _rule(
        "birthday",
        r"<my> (birthday|date of birth) is (on )?<value>",
        r"<opening>i was born (in |on )?(?P<value>(<Name> )?(the )?\d.*)",
    ),
    _rule(
        "hometown",
        r"<I am>( originally)? from (?P<value><Name>.*)",
        r"<I> (grew up|come|was (born|raised))( and raised)? (in|from) (?P<value><Name>.*)",
    ),
    _rule(
        "occupation",
        r"(<I> work as|<I am>( working as)?|<my> (job|profession|occupation) is)( an?)? (?P<value><occupation>( of [\w ]+)?)",
        r"(<I> work|<I am> working) as (an? )?<value>",
        r"<I did> (started|got|took|have) (a|my) (new )?job as (an? )?<value>",
        r"<I> (?P<value>teach (?!you\b|him\b|her\b|them\b).+)",
        r"<I> (?P<value>(run|own|manage) an? .*(<business>))",
        r"<I> (?P<value>work in (?!<Name>|an?\b|the\b|my\b).+)",
        r"<I am> (?P<value>retired|unemployed|self-employed|between jobs)\b",
    ),
    _rule(
        "employer",
        r"(<I>|<I am>)( .*)? (work|working|employed) (at|for|by) (an? )?(?P<value><Name>.*)",
        r"<my> (company|employer|firm|startup) is (called )?<value>",
    ),
    _rule(
        "place of work",
        r"(<I> work|<I am> working)( .*)? (in|from) (?P<value><Name>.*)",
        r"<my> office is in <value>",
    ),
    _rule(
        "home",
        r"(<I did> (live|reside|(moved|relocated)( from [\w ]+?)?)|<I am> (living|based|[\w ]+ based))( .*)? (in|to) (the )?(?P<value><Name>.*)",
    ),
    _rule(
        "education",
        r"<I did> (study|studied|(graduated|major|majored) (from|in|at)) (?!hard\b)<value>",
        r"<I am> (studying|majoring in) <value>",
        r"<I did> (did|got|finished|completed) my (phd|doctorate|degree|master's|bachelor's|studies)( degree)? (in|at|from) <value>",
        r"<I have> an? [\w' ]*(degree|phd|doctorate|diploma|bachelor's|master's) (in|from) <value>",
    ),
    _rule("allergy", r"<I am>( \w+)? allergic to <value>", r"<I have> (?P<value>(an? )?(\w+ )?allergy.*)"),
    _rule(
        "health",
        r"<I have>( an?| some)? (?P<value>([\w-]+ ){0,3}?(<illness>))\b",
        r"(<I> (suffer from|was diagnosed with|live with (?=<illness>))|<I am> suffering from) <value>",
        r"(<I am>|<I have> been) (?P<value>([\w-]+ )?(diabetic|asthmatic|pregnant|dyslexic|colou?r ?blind|deaf|autistic|lactose intolerant))\b",
    ),
    _rule(
        "pet",
        r"(<I have>|<I did> (own|adopted|got|keep)) (?P<value>(<many>) ([\w-]+ ){0,3}?(<pet>)\b.*)",
        r"<my> (?P<value>(\w+ )?(<pet>)('s name)? is (called |named )?<Name>.*)",
    ),
    _rule(
        "family",
        r"<I have> (?P<value>(<many>) ([\w-]+ ){0,2}?(<kin>)\b.*)",
        r"<I am> (?P<value>(married|engaged|divorced|single|widowed|expecting)\b.*)",
        r"<my> (?P<value>(\w+ )?(<kin>)('s name)?( <Name>)? (is|are|works?|lives?|has|studies)"
        r" (?!so |very |really |our |my |doing |fine |great |good |excited |happy |sick |getting |the ).+)",
    ),
    _rule(
        "languages spoken",
        r"(<I>( can)? speak|<I am> (fluent in|a native speaker of|learning)|<my> ((native|first) language|mother tongue) is) (?P<value>(\w+ ){0,2}<language>\b.*)",
        r"<I am> an? (native|fluent) (?P<value><language>) speaker",
    ),
    _rule(
        "experience",
        r"<I have> (?P<value>.*\byears?\b.* experience.*)",
        r"<I have> been (\w+ing|an?) (in |with )?(?P<value>.+ <long>)",
    ),
    _rule(
        "contact",
        r"<my> (?P<value>(\w+ )?(<address>)[\w ]* is .+)",
        r"<opening>you can (reach|contact|email|call) me (at|on|via|under) <value>",
    ),
    _rule(
        "deadline",
        r"<opening>(the|my|our) ([\w-]+ )*(deadline|due date|cut-?off)( \w+)* is (on )?<value>",
        r"<opening>(the|my|our) ([\w-]+ )+(is|are) due (on |by |in )?<value>",
        r"<opening>(the|my|our) ([\w-]+ )+(has to|must|needs to) be (\w+ ){1,2}(by|before|on) <value>",
        r"<I> (have to|must|need to) (submit|finish|deliver|ship|hand in|release) (?P<value>.+ (by|before|until) .+)",
    ),
    _rule(
        "current project", r"<I am> (working on|building|developing) (?P<value>(an?|my|our|two|several) .+)"
    ),
    _rule("goal", r"<my> ([\w-]+ )?(goal|aim|dream|ambition|resolution)( for [\w ]+)? is (to )?<value>"),
    _rule(
        "plan",
        r"(<I am> (planning|hoping)|<I> (plan|intend|aim|hope)) (to|on) <value>",
        r"<I> want to (?P<value>(become|learn|move|start|quit|retire|study|visit) .+)",
        confidence=PLANNED,
    ),
    _rule(
        "{topic} decision",
        r"<I did> (decided|agreed|settled|opted|chosen|chose|picked(?! up)|went with|switched)( to use| to go with| on using| on| for| with| to)? <value>",
        r"<I am> (going with|switching to|moving to|migrating to) <value>",
        otherwise="decision",
        confidence=DONE,
    ),
    _rule(
        "{topic} decision",
        r"<opening>(we'll|we will|let's) (use|go with|switch to|stick with) <value>",
        confidence=DONE,
        topics=TOOLS,
    ),
)
_HABITS: Final = (
    _rule(
        "{topic} habit",
        r"(<occasions> )?<I> (<often>) (?!<no habit>)<value>",
        r"(<occasions> )?<I> (?P<value>(never|rarely|seldom|hardly ever) (?!<no habit>).+)",
        r"<occasions> <I> <value>",
        r"<I> (?!<no habit>|was\b|were\b|went\b)(?P<value>.+ (<days>))$",
        otherwise="daily habit",
        category="pattern",
        confidence=DONE,
    ),
)
# Statements that only look like lasting ones: the simple present about the speaker and what is the speaker's.
_GENERAL: Final = (
    _rule(
        "{topic} preference",
        r"<opening>(<standing> )?(?P<value>(always|never(?! mind\b)|don't ever|do not ever|(stop|quit) \w+ing) (?!\w+(s|ed)\b|a\b|the same\b|at\b|by\b|over\b).+)",
        r"<opening>(please )?(?P<value>(?!(an?|the|it|this|that)\b)[a-z]+(?<!s) .+ (<standing>|for good|ever))$",
        r"<standing> (?P<value>(?!(an?|the|it|this|that)\b)[a-z]+(?<!s) .+)",
        otherwise="personal preference",
        category="preference",
        confidence=GENERAL,
    ),
    _rule(
        "personal fact",
        r"(?!.*\b(just|still|already|gotta|now|your?)\b)<I> (?!<passing verb>)(?P<value>(?-i:[a-z]+) (?!<near>).+)",
        r"<I> (?P<value>(don't|do not|can't|cannot|no longer) (have (?!<passing thing>|any|an idea|the)|(?!<passing verb>|have\b)\w+ )(?!<near>|to\b).+)",
        r"<I am> (?P<value>((not )?an? (?!(bit|little|lot|few|step|moment)\b)|no longer |terrified of|saving (up )?for|\w+ years into).+)",
        r"<I am> (?P<value>[a-z]+-(handed|blind|sighted|free|abled)|coeliac|celiac|bilingual|sober|teetotal|agnostic|atheist|muslim|jewish|hindu|buddhist|catholic)\b",
        r"((all|each|most) (of )?)?<my> (?!([\w'-]+ ){0,2}?(<passing thing>|(<person>)\b))(?P<value>(?!\w+s )([\w'-]+ ){1,4}?(is|are|have|can't|don't|doesn't|[a-z]+(?<!s)s)"
        r" (?!<passing state>).+)",
        confidence=GENERAL,
    ),
)
_ADVICE: Final = (
    _rule(
        "{topic} recommendation",
        r".*?\b(i|we)('d| would|'ll)?( highly| strongly| personally| also)* (recommend|suggest|advise)"
        r"( that)?( you)?( using| use| trying| try| to use| going with| installing| reading| staying in)? <value>",
        r".*?\byou (should|could|might want to|may want to|ought to)( definitely| also| really)*"
        r" (try|use|consider|switch to|check out|install|go with|read)( using| out)? <value>",
        r".*?\b(my|the|your) (top |main |best )?(recommendation|suggestion|choice|option|bet|pick)( for \w+)? (is|would be) (to )?<value>",
        otherwise="recommendation",
        confidence=SUGGESTED,
    ),
)

ENGLISH: Final = Grammar(
    language="en",
    statements=(*_PREFERENCES, *_FACTS, *_HABITS, *_GENERAL),
    advice=_ADVICE,
    clause_break=_expression(
        r",\s+((and|but|so|then|because)\s+)?(?!like\b|such as\b|especially\b|including\b)|:\s+|\s+[-–—]+\s+"
        r"|\s+(and|but|so|because|since|though|although|while)\s+(?=(i|i'm|i've|i'd|we|we're|my|our|she|he|they|you|it|am|live|work"
        r"|love|like|hate|dislike|prefer|enjoy|use|usually|always|never|grew|have|speak|study|moved|(an?|one|two) ([\w-]+ )?(<pet>|<kin>))\b)"
    ),
    subject=_expression(r"<opening>(i|we|i'm|i've|we're|my name)\b"),
    subjects=(
        Subject("I ", _expression(r".*\b(and|but|or)\s")),
        Subject("I'm ", _expression(r",\s+an?\s")),
        Subject("I have ", _expression(r".*\band\s+(an?|one|two)\s")),
    ),
    supposition=_expression(
        r"<opening>(if|suppose|supposing|imagine|assume|assuming|pretend|unless|i wish|act as|let's say|what if|say i)\b"
    ),
    question=_expression(
        r"\A((and|but|so|or|well) )?((do|does|did|is|are|am|was|were|can|could|should|shall|would|will|have|has|may|might)"
        r" (i|you|we|they|he|she|it|there|this|that|the|my|your|people|anyone|somebody)|what|which|who|whom|whose|where|when|why|how)\b"
    ),
    hedge=_expression(r"\b(maybe|perhaps|probably|might|i guess|not sure|sort of|possibly)\b"),
    passing=_expression(
        r"\b(right now|at the moment|today|tonight|just now|yesterday|for a (minute|moment|second))\b"
    ),
    reason=_expression(r" (because|since(?! \d)|so that)\b"),
    tail=_expression(
        r",|( and| or)? (when|whenever|if|for (me|that|this|everything)|a lot|very much|too|as well|these days|please|who|which|working|based|though)\b"
    ),
    vague=_expression(
        r".*\b(it|them|you|your(?! (answers?|repl(y|ies)|responses?|explanations?))|this|these|those|him|her|myself|yourself)\b.*"
        r"|(i|we|that|me|us|your|one|some|something|anything|everything|so|not|to|how|when|what|where|why|his|their|like)( .*)?"
        r"|the (first|second|third|last|other|way|idea|sound|answer|plan|look|one)\b.*"
        # A thing that was mentioned before; but there is only one sea.
        r"|the (?!sea|ocean|beach|mountains|outdoors|countryside|rain|cold|heat|sun|city|<Name>)\w+( and \w+)?( even more)?"
        r"|an? ((new |big |small )?project|question|problem|error|bit|few)( .*)?|everywhere"
    ),
)
