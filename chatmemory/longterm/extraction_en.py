"""How people say in English what lasts: the table of rules, and what tells a statement from everything else.

Read from top to bottom: where two rules want the same words, the first one has them.
"""

import re
from typing import Final

from chatmemory.longterm.extraction_grammar import DONE, SUGGESTED, Grammar, Rule

_OPENING: Final = (
    r"(?:(?:hi|hello|hey|well|so|yes|no|and|but|also|honestly|actually|personally|please|remember|note|btw|maybe|perhaps|probably"
    r"|by the way|for the record|fyi|keep in mind|i think|i guess|i'd say|in general|after some \w+|that) )*"
)
_ADVERBS: Final = (
    r"(?:(?:also|really|just|still|actually|personally|generally|very much|much|truly|absolutely|definitely|currently|now|mostly"
    r"|mainly|do|always|finally|already|both|probably|quite|simply|usually) )*"
)
_BE: Final = rf"{_OPENING}(?:i'm|i am|we're|we are) {_ADVERBS}"
_HAVE: Final = rf"{_OPENING}(?:i|we)(?:'ve| have|'ve got| have got) {_ADVERBS}"
_DO: Final = (
    rf"{_OPENING}(?:i|we)(?:'ve| have(?= (?:\w+ )?(?:always|never|\w+ed|chosen|been|grown)\b))? {_ADVERBS}"
)
_WOULD: Final = rf"{_OPENING}(?:i|we)(?:'d| would) {_ADVERBS}"
_MY: Final = rf"{_OPENING}(?:my|our) "
_OCCUPATION: Final = (
    r"(?:[\w-]+ ){0,4}?(?:engineer|developer|programmer|coder|teacher|nurse|doctor|physician|surgeon|lawyer|attorney|designer|scientist"
    r"|manager|student|researcher|writer|author|artist|chef|cook|accountant|architect|analyst|consultant|founder|journalist|professor"
    r"|lecturer|pilot|driver|electrician|plumber|mechanic|carpenter|translator|interpreter|editor|photographer|musician|pharmacist"
    r"|dentist|physicist|chemist|biologist|mathematician|economist|psychologist|therapist|baker|farmer|barista|freelancer|actor"
    r"|librarian|secretary|salesperson|officer|firefighter|soldier|veterinarian|vet|admin|administrator|technician|tutor|trainer"
    r"|entrepreneur|director|intern|postdoc|owner|bookkeeper|paramedic|social worker|contractor|recruiter)\b"
)
_KIN: Final = (
    r"(?:wife|husband|partner|girlfriend|boyfriend|fianc[ée]e?|son|daughter|kids?|child|children|baby|mother|father|mom|mum|dad"
    r"|parents|brother|sister|twins?|grandmother|grandfather|grandma|grandpa|niece|nephew|cousin|uncle|aunt)"
)
_MANY: Final = r"(?:an?|one|two|three|four|five|six|\d+|several|twin|no)"
_PET: Final = r"(?:dogs?|pupp(?:y|ies)|cats?|kittens?|parrots?|rabbits?|hamsters?|horses?|goldfish|turtles?|tortoises?|birds?|pets?)"
_ILLNESS: Final = (
    r"(?:diabetes|asthma|migraines?|epilepsy|arthritis|hypertension|high blood pressure|adhd|autism|depression|anxiety|insomnia"
    r"|celiac disease|coeliac disease|dyslexia|ibs|eczema|psoriasis|anemia|tinnitus|cancer|back (?:pain|problems)|[\w ]+ (?:disease|syndrome|disorder|intolerance))"
)
_OFTEN: Final = (
    r"(?:always|usually|normally|typically|generally|often|regularly|habitually|mostly|tend to|almost always)"
)
_DAYS: Final = (
    r"(?:(?:every|each) (?:other |single |second )?\w+(?: (?:morning|afternoon|evening|night))?|on (?:\w+days|weekends|week ?days)"
    r"|in the (?:mornings?|evenings?|afternoons?)|at night|whenever \w+ [\w ]+?)"
)
_CAPITAL: Final = r"(?-i:[A-Z])"
_LANGUAGE: Final = (
    r"(?:english|chinese|mandarin|cantonese|german|french|spanish|italian|japanese|korean|portuguese|russian|dutch|polish|turkish|arabic"
    r"|hindi|bengali|greek|swedish|norwegian|danish|finnish|czech|hungarian|ukrainian|vietnamese|thai|hebrew|persian|latin|catalan)"
)

_PREFERENCES: Final = (
    Rule(
        "{topic} preference",
        rf"{_OPENING}(?:{_DO}|{_WOULD})(?P<value>(?:hate|dislike|detest|loathe|can't stand|cannot stand|can't bear|(?:don't|do not|never)"
        r" (?:really |particularly |much )?(?:like|love|enjoy|eat|drink|use)|(?:can't|cannot) (?:eat|drink)|avoid) .+)",
        "personal preference",
        "preference",
    ),
    Rule(
        "{topic} preference",
        rf"{_BE}(?P<value>not (?:really )?(?:an? (?:big |huge )?fan of|into|fond of|keen on) .+)",
        "personal preference",
        "preference",
    ),
    Rule(
        "food preference",
        rf"{_BE}(?:an? |strictly )*(?P<value>vegetarian|vegan|pescatarian|kosher|halal)\b",
        "",
        "preference",
    ),
    Rule(
        "{topic} preference",
        rf"{_BE}(?:an? )?(?:(?:big|huge|real|great) )?(?:(?:fan|lover) of|into|fond of|keen on|crazy about|partial to|more of an?) (?P<value>.+)",
        "personal preference",
        "preference",
    ),
    Rule(
        "{topic} preference",
        rf"{_DO}(?:like|love|loved|enjoy|adore|prefer|favou?r)(?: (?:to|it when))? (?P<value>.+)",
        "personal preference",
        "preference",
    ),
    Rule(
        "{topic} preference",
        rf"{_WOULD}(?:rather|prefer)(?: (?:have|to))? (?P<value>.+)",
        "personal preference",
        "preference",
    ),
    Rule(
        "{topic} preference",
        rf"{_MY}favou?rite (?:[\w-]+ ){{1,4}}?(?:is|are|has always been|would be) (?P<value>.+)",
        "personal preference",
        "preference",
    ),
    Rule(
        "{topic} preference",
        rf"{_OPENING}(?P<value>.+) (?:is|are) (?:my|our) favou?rite\b.*",
        "personal preference",
        "preference",
    ),
    Rule(
        "{topic} preference",
        rf"{_OPENING}(?:always |please |in future |from now on )*(?:always |please )*(?P<value>(?:answer|reply|respond|write|talk|speak|be|keep|use|avoid|give)\b.+)",
        "",
        "preference",
        topics=frozenset({"answer style", "answer language"}),
    ),
    Rule(
        "{topic} preference",
        rf"{_DO}(?:use|work with|code in|program in|develop (?:in|with)|rely on|stick to) (?P<value>.+)",
        "",
        "preference",
        DONE,
        frozenset(
            {
                "programming language",
                "development tool",
                "framework",
                "database",
                "operating system",
                "interface",
            }
        ),
    ),
)
_FACTS: Final = (
    Rule(
        "name",
        rf"(?:{_MY}(?:full |first )?name is|{_OPENING}(?:i'm|i am) called|{_OPENING}(?:please )?call me) (?P<value>{_CAPITAL}[\w'-]+(?: {_CAPITAL}[\w'-]+)*)",
    ),
    Rule(
        "name",
        rf"{_OPENING}(?:i'm|i am) (?P<value>{_CAPITAL}(?!\w+(?:ish|ese|ian|can)\b|{_LANGUAGE}\b)[a-z'-]+)$",
        confidence=DONE,
    ),
    Rule(
        "age",
        rf"(?:{_BE}|{_HAVE}|{_DO})(?:turned |turning )?(?P<value>\d{{1,3}})(?: years? old| yo)?(?:$| (?:last|this|in|on|and)\b)",
    ),
    Rule("birthday", rf"{_MY}(?:birthday|date of birth) is (?:on )?(?P<value>.+)"),
    Rule("birthday", rf"{_OPENING}i was born (?:(?:in|on) )?(?P<value>(?:{_CAPITAL}\w+ )?(?:the )?\d.*)"),
    Rule(
        "hometown",
        rf"(?:{_BE}(?:originally )?from|{_DO}(?:grew up|come|was born|was raised)(?: and raised)? (?:in|from)) (?P<value>{_CAPITAL}.+)",
    ),
    Rule(
        "occupation",
        rf"(?:{_DO}work as |{_BE}(?:working as )?|{_MY}(?:job|profession|occupation) is )(?:an? )?(?P<value>{_OCCUPATION}(?: of [\w ]+)?)",
    ),
    Rule("occupation", rf"(?:{_DO}work as|{_BE}working as) (?:an? )?(?P<value>.+)"),
    Rule(
        "occupation",
        rf"{_DO}(?P<value>(?:run|own|manage) an? .*(?:bakery|company|shop|startup|business|studio|restaurant|caf[eé]|farm|agency|store|practice|team))",
    ),
    Rule("occupation", rf"{_DO}(?P<value>work in (?!{_CAPITAL}|an?\b|the\b|my\b).+)"),
    Rule("occupation", rf"{_BE}(?P<value>retired|unemployed|self-employed|between jobs)\b"),
    Rule(
        "employer",
        rf"(?:{_DO}|{_BE})(?:.*\b)?(?:work|working|employed) (?:at|for|by) (?:an? )?(?P<value>{_CAPITAL}.+)",
    ),
    Rule("employer", rf"{_MY}(?:company|employer|firm|startup) is (?:called )?(?P<value>.+)"),
    Rule("place of work", rf"(?:{_DO}work|{_BE}working) (?:.*\b)?(?:in|from) (?P<value>{_CAPITAL}.+)"),
    Rule("place of work", rf"{_MY}office is in (?P<value>.+)"),
    Rule(
        "home",
        rf"(?:{_DO}(?:live|reside|moved|relocated)|{_BE}(?:living|based|(?:[\w ]+ )based)) (?:.*\b)?(?:in|to) (?:the )?(?P<value>{_CAPITAL}.+)",
    ),
    Rule(
        "education",
        rf"(?:{_DO}|{_BE})(?:(?:stud(?:y|ied|ying)|graduated|major(?:ed|ing)?)(?: (?:from|in|at))?|(?:have|hold|got|'ve got) an? [\w' ]+?(?:degree|phd|doctorate|diploma|bachelor's|master's) (?:in|from)) (?P<value>.+)",
    ),
    Rule("allergy", rf"{_BE}(?:\w+ )?allergic to (?P<value>.+)"),
    Rule("allergy", rf"{_HAVE}(?P<value>(?:an? )?(?:\w+ )?allergy.*)"),
    Rule(
        "health",
        rf"(?:{_HAVE}|{_DO}(?:have|suffer from|was diagnosed with|live with)) ?(?:an? |some |the )?(?P<value>(?:[\w-]+ ){{0,3}}?{_ILLNESS})\b",
    ),
    Rule("health", rf"(?:{_DO}(?:suffer from|was diagnosed with)|{_BE}(?:suffering from)) (?P<value>.+)"),
    Rule(
        "health",
        rf"{_BE}(?P<value>(?:[\w-]+ )?(?:diabetic|asthmatic|pregnant|dyslexic|colou?r ?blind|deaf|autistic|lactose intolerant))\b",
    ),
    Rule(
        "pet",
        rf"(?:{_HAVE}|{_DO}(?:have|own|adopted|got|keep)) ?(?P<value>{_MANY} (?:[\w-]+ ){{0,3}}?{_PET}\b.*)",
    ),
    Rule("pet", rf"{_MY}(?P<value>(?:\w+ )?{_PET}(?:'s name)? is (?:called |named )?{_CAPITAL}.*)"),
    Rule(
        "family",
        rf"(?:{_HAVE}|{_DO}have) ?(?P<value>{_MANY} (?:[\w-]+ ){{0,2}}?(?:{_KIN}|siblings|brothers|sisters|sons|daughters)\b.*)",
    ),
    Rule("family", rf"{_BE}(?P<value>(?:married|engaged|divorced|single|widowed|expecting)\b.*)"),
    Rule(
        "family",
        rf"{_MY}(?P<value>(?:\w+ )?{_KIN}(?:'s name)?(?: {_CAPITAL}\w+)? (?:is|are|works?|lives?|has|have|studies|was) .+)",
    ),
    Rule(
        "languages spoken",
        rf"(?:{_DO}(?:can )?speak|{_BE}(?:fluent in|a native speaker of|learning)|{_MY}(?:native|first) language is|{_MY}mother tongue is) (?P<value>(?:\w+ ){{0,2}}{_LANGUAGE}.*)",
    ),
    Rule("experience", rf"{_HAVE}(?P<value>.*\byears?\b.* experience.*)"),
    Rule("experience", rf"{_HAVE}been (?:\w+ing|an?) (?:in |with )?(?P<value>.+ (?:for|since) .+)"),
    Rule(
        "contact",
        rf"{_MY}(?P<value>(?:\w+ )?(?:e-?mail|phone|mobile|number|telegram|twitter|github|linkedin|wechat|whatsapp|signal|address|website)[\w ]* is .+)",
    ),
    Rule("contact", rf"{_OPENING}you can (?:reach|contact|email|call) me (?:at|on|via|under) (?P<value>.+)"),
    Rule(
        "deadline",
        rf"{_OPENING}(?:the |my |our )(?:[\w-]+ )*(?:deadline|due date|cut-?off)(?: \w+)* is (?:on )?(?P<value>.+)",
    ),
    Rule("deadline", rf"{_OPENING}(?:the |my |our )(?:[\w-]+ )+(?:is|are) due (?:on |by |in )?(?P<value>.+)"),
    Rule(
        "deadline",
        rf"{_DO}(?:have to|must|need to) (?:submit|finish|deliver|ship|hand in|release) (?P<value>.+ (?:by|before|until) .+)",
    ),
    Rule(
        "current project",
        rf"{_BE}(?:working on|building|developing) (?P<value>(?:an?|my|our|two|several) .+)",
    ),
    Rule(
        "goal",
        rf"{_MY}(?:[\w-]+ )?(?:goal|aim|dream|ambition|resolution)(?: for [\w ]+)? is (?:to )?(?P<value>.+)",
    ),
    Rule("plan", rf"(?:{_BE}(?:planning|hoping)|{_DO}(?:plan|intend|aim|hope)) (?:to|on) (?P<value>.+)"),
    Rule(
        "plan",
        rf"{_DO}want to (?P<value>(?:become|learn|move|start|quit|retire|study|visit) .+)",
        confidence=DONE,
    ),
    Rule(
        "{topic} decision",
        rf"(?:{_HAVE}|{_DO})(?:(?:decided|agreed|settled|opted|chosen|chose|picked|went|switched)(?: (?:to use|to go with|on using|on|for|with|to))?) (?P<value>.+)",
        "decision",
        confidence=DONE,
    ),
    Rule(
        "{topic} decision",
        rf"{_BE}(?:going with|switching to|moving to|migrating to) (?P<value>.+)",
        "decision",
        confidence=DONE,
    ),
)
_HABITS: Final = (
    Rule("{topic} habit", rf"(?:{_DAYS} )?{_DO}(?:{_OFTEN} )+(?P<value>.+)", "daily habit", "pattern", DONE),
    Rule(
        "{topic} habit",
        rf"(?:{_DAYS} )?{_DO}(?P<value>(?:never|rarely|seldom|hardly ever) .+)",
        "daily habit",
        "pattern",
        DONE,
    ),
    Rule("{topic} habit", rf"{_DAYS} {_DO}(?P<value>.+)", "daily habit", "pattern", DONE),
    Rule("{topic} habit", rf"{_DO}(?P<value>.+ {_DAYS})$", "daily habit", "pattern", DONE),
)
_ADVICE: Final = (
    Rule(
        "{topic} recommendation",
        r".*?\b(?:i|we)(?:'d| would|'ll)? (?:highly |strongly |personally |also )*(?:recommend|suggest|advise)(?: (?:that )?(?:you )?(?:using|use|trying|try|to use|going with|installing|reading|staying in))* (?P<value>.+)",
        "recommendation",
        "fact",
        SUGGESTED,
    ),
    Rule(
        "{topic} recommendation",
        r".*?\byou (?:should|could|might want to|may want to|ought to) (?:definitely |also |really )*(?:try|use|consider|switch to|check out|install|go with|read)(?: (?:using|out))? (?P<value>.+)",
        "recommendation",
        "fact",
        SUGGESTED,
    ),
    Rule(
        "{topic} recommendation",
        r".*?\b(?:my|the|your) (?:top |main |best )?(?:recommendation|suggestion|choice|option|bet|pick)(?: for \w+)? (?:is|would be) (?:to )?(?P<value>.+)",
        "recommendation",
        "fact",
        SUGGESTED,
    ),
    Rule(
        "{topic} recommendation",
        r"(?:.*, )?(?:consider|try) (?:using |trying )?(?P<value>.+)",
        "",
        "fact",
        SUGGESTED,
    ),
)

ENGLISH: Final = Grammar(
    language="en",
    statements=(*_PREFERENCES, *_FACTS, *_HABITS),
    advice=_ADVICE,
    clause_break=re.compile(
        r",\s+(?:(?:and|but|so|then|because)\s+)?|:\s+|\s+[-–—]+\s+|\s+(?:and|but|so|because|since|though|although|while)\s+(?=(?:i|i'm|i've|i'd|we|we're|my|our"
        r"|she|he|they|you|it|live|work|love|like|hate|dislike|prefer|enjoy|use|usually|always|never|grew|have|speak|study|moved|am|(?:an?|one|two) (?:[\w-]+ )?(?:dogs?|cats?|sons?|daughters?)\b)\b)",
        re.IGNORECASE,
    ),
    subject=re.compile(r"(?:and |but )?(?:i|we|i'm|i've|we're|my name)\b", re.IGNORECASE),
    subjects=("I ", "I'm ", "I have "),
    supposition=re.compile(
        rf"{_OPENING}(?:if|suppose|supposing|imagine|assume|assuming|pretend|unless|i wish|act as|let's say|what if|say i)\b",
        re.IGNORECASE,
    ),
    question=re.compile(
        r"\A(?:(?:and|but|so|or|well) )?(?:(?:do|does|did|is|are|am|was|were|can|could|should|shall|would|will|have|has|may|might)"
        r" (?:i|you|we|they|he|she|it|there|this|that|the|my|your|people|anyone|somebody)\b|(?:what|which|who|whom|whose|where|when|why|how)\b)",
        re.IGNORECASE,
    ),
    hedge=re.compile(
        r"\b(?:maybe|perhaps|probably|might|i guess|not sure|sort of|possibly)\b", re.IGNORECASE
    ),
    passing=re.compile(
        r"\b(?:right now|at the moment|today|tonight|just now|for a (?:minute|moment|second))\b",
        re.IGNORECASE,
    ),
    reason=re.compile(r" (?:because|since|so that)\b", re.IGNORECASE),
    tail=re.compile(
        r" (?:when|if|for (?:me|that|this|everything)|a lot|very much|too|as well|these days|at the moment|please|who|which|working|based|though)\b",
        re.IGNORECASE,
    ),
    vague=re.compile(
        r"(?:it|that|this|these|those|them|him|her|you|one|some|something|anything|everything|so|not|to)(?: .*)?"
        r"|(?:your|his|their) .*|the (?:first|second|third|last|other|way|idea|sound|answer|plan|look|one)\b.*|an? (?:question|problem|error|bit|few)\b.*",
        re.IGNORECASE,
    ),
)
