"""The expressions of which the patterns about attributes in English are made, and ``attribute``, which makes a rule of some.

The notation is that of ``extraction/grammar.py``.
"""

from functools import partial
from typing import Final

from chatmemory.longterm.extraction.attributes import values
from chatmemory.longterm.extraction.attributes.grammar import attribute as attribute_of
from chatmemory.longterm.extraction.english import VOCABULARY as STATEMENTS
from chatmemory.longterm.extraction.grammar import Vocabulary

VOCABULARY: Final[Vocabulary] = {
    "liked": r"(?!it\b|that\b|this\b|them\b|you\b|to\b|not\b|when\b|how\b|what\b|for\b|so\b)[\w'-]+( [\w'-]+){0,2}?",
    "stop": r"(?= *($|[,.;!]| (and|or|a lot|very|so much|every|on|in|at|with|when|because|but|too|as well|now|these days|twice|once|most|after|before|for|instead)\b))",
    "new": r"( (new|current|present|latest|actual))?",
    "somebody": r"( (an?|some|this) (new )?(guy|man|woman|lady|person|bloke|chap|fellow|girl|colleague)(?= (called|named) ))?",
    "superior": r"(?:direct |new |line |team |project )?(?:boss|manager|supervisor|team lead|team leader|lead|superior)",
    "proper": r"(?!(?:<spoken>|american|canadian|australian|indian|mexican|brazilian|egyptian|nigerian|kenyan|scottish|belgian|austrian|swiss"
    r"|israeli|iranian|iraqi|african|european|asian|british|irish)\b)((dr|mr|mrs|ms|prof|professor)\b\.? )?<Name>",
    "role": r"(?!(?:at|with|in|on|for|as)\b)[\w -]+?(?= *($|[,.:;!)]| and\b| at\b| now\b))",
    "companion": r"landlord|landlady|(?:[\w-]+ )?trainer|(?:[\w-]+ )?coach|mentor|advisor|adviser|(?:[\w-]+ )?tutor|hairdresser|barber|lawyer|accountant|best friend"
    r"|(?:\w+ )?teacher|nanny|babysitter|thesis supervisor|insurance agent",
    "detail": r"(?:last|family|first|middle|maiden|english|chinese) name|surname|user ?name|nick ?name|(?:[\w-]+ )?(?:handle|login|alias|gamer ?tag|screen name|user id|host ?name|domain|website)|blood type|nationality|citizenship|native language|mother tongue|major|minor|degree|religion|star sign|zodiac sign"
    r"|licen[cs]e plate|bedtime|(?:shoe|shirt|dress|ring|clothing|jacket|trouser) size|password manager|search engine",
    "noun": r"(?!(?:<other>|name|favou?rite|question|problem|issue|point|idea|guess|answer|understanding|concern|error|bug|output|result|plan|dog|cat|pet|next|other|first"
    r"|second|old|former|previous|ex|last|only)\b)[\w-]+( (?!is\b|are\b|was\b|has\b)[\w-]+){0,2}?",
    "typed": r"(?:(?:at |on |due |by )*(?:[$€£¥]? ?\d[\w:.,/%$€£ -]*?|<day>|(?:mon|tues|wednes|thurs|fri|satur|sun)days?(?: at \d[\w:]*)?|noon|midnight|<proper>))(?= *($|[,;!]| (now|instead|from now on|these days|as of|starting|and|but)\b))",
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
    r"|waitress|cashier|cleaner|builder|guard|coach|receptionist|hairdresser|bartender|butcher|courier|dispatcher|planner|surveyor|sailor|tailor|statistician|optician|paralegal|copywriter|strategist|specialist|coordinator|executive|representative|agent|broker|buyer|producer|operator|counsellor|investigator|c[etfoi]o|vp|sre|pm|plumber|electrician|carpenter|joiner|roofer|mason|bricklayer|welder|mechanic|baker|gardener|fisherman|firefighter|paramedic|hygienist|barista|waiter|painter|locksmith|florist)\b",
    "kin": r"wife|husband|partner|girlfriend|boyfriend|fianc[ée]e?|sons?|daughters?|kids?|child|children|baby|toddler|mother|father|mom|mum|dad"
    r"|parents|brothers?|sisters?|siblings?|twins?|grandmother|grandfather|grandma|grandpa|gran|niece|nephew|cousins?|uncle|aunt|in-laws?",
    "other": r"<kin>|friends?|mates?|colleagues?|coworkers?|co-workers?|neighbou?rs?|boss|manager|landlord|landlady|customers?|clients?"
    r"|flatmates?|roommates?|teammates?|students?|teachers?|barista|assistant|secretary|intern|coach|trainer|tutor|supervisor|foreman|director|principal|apprentice|trainee|nurse|ex|guy|girl|woman|man|team",
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
    "clock": r"(half|quarter|ten|five|twenty)( past| to)? <number>|<number>( (thirty|fifteen|forty-five|o'clock))?",
    "layout": r"(bullet(ed)? (points?|lists?)|bullets|numbered lists?|tables?|paragraphs|prose|plain text|markdown|full sentences|json|yaml)",
    "theme": r"(dark|light|black|white|high[- ]contrast|solarized|dracula|sepia|night|day) ?(mode|themes?)",
    "on": r"(on|in|with|to|onto|into|at|from|over to)",
    "length": "long|longer|short|shorter|brief|briefer|detailed|concise|succinct|terse|crisp|thorough|verbose|lengthy|in-depth|comprehensive|extensive|step-by-step|one-line",
    "diet": r"vegetarian|vegan|pescatarian|pescetarian|keto|ketogenic|low-carb|paleo|kosher|halal|mediterranean|omnivore|flexitarian|carnivore"
    r"|gluten-free|gluten|dairy-free|whole30|intermittent fasting|raw food|fodmap|plant-based|meat again",
    "vehicle": "bus|train|tram|tube|metro|subway|bike|e-bike|bicycle|scooter|car|ferry|motorbike|motorcycle|moped|foot|carpool|u-bahn|s-bahn",
    "device": r"thinkpad|macbook(?: (?:air|pro))?|mac mini|imac|dell xps|xps|surface(?: pro)?|chromebook|framework|zenbook|iphone|ipad|pixel|galaxy|oneplus|xperia"
    r"|fairphone|kindle|laptop|desktop",
    "handset": r"iphone|pixel(?! ?book)|galaxy(?! ?(?:tab|book))|oneplus|xperia|fairphone",
    "tablet": r"ipad|kindle|galaxy tab|surface go",
    "plain": r"(?P<of>[\w-]+( [\w-]+)?)",
    "project": r"((the|our|my) (back ?end|front ?end|server|api|database|data|code|codebase|core) (of|for|behind) )?((the|our|my|all of|everything of( the)?) )?(project )?((called|named) )?(?P<of>(?!(?:for|from|over|in|on|now|has|have|been|was|i|we|it|they|he|she|you|this|that|there|everything|who|which|what|store|db|data|database|backend|our|my|the|all|a|an|its|main"
    r"|old|new|project|service|app|company|laptop|machine)\b)[\w-]+(?:'s? [\w-]+| (?!is\b|are\b|was\b|we\b|now\b|over\b|from\b|been\b|have\b|runs?\b|uses?\b|sits?\b|stores?\b|lives?\b|has\b|depends?\b)[\w-]+){0,3}?)'?s?( (project|service|app|system|website|site|repo|codebase|database|db))?",
    "part": r"\b(our|the|my) (?P<of>back ?end|front ?end|api|server|mobile app|cli|scripts?)",
    "moved": r"(moved|migrated|ported|switched|converted|changed|transferred)( over)?( from [\w .+#]+?)? (to|onto|into)",
    "been": r"( has| have| was| is| are|'s)?( now| just| already| finally)*( been)?( now| just| already| finally| fully| completely)*",
    "replies": "answers?|repl(y|ies)|responses?|explanations?",
    "activity": "salsa|yoga|pilates|zumba|boxing|kickboxing|judo|karate|taekwondo|ballet|choir|dance|dancing|tango|swimming|spinning|spin|crossfit|fencing|pottery|ceramics|bouldering|climbing|band practice|book club|chess club|improv|bingo|aerobics|aqua ?fit",
    "dwelling": "house|flat|apartment|place|condo|studio|house ?share|flat ?share|bedsit|room|cottage|bungalow|townhouse|duplex|loft|maisonette|cabin|farmhouse|trailer|dorm( room)?|basement|terrace",
    "given": values.GIVEN_NAME,
    "few": r"(one|a single|two|three|four|five|a few|a couple of|\d+)( short)? (sentences?|lines?|words|paragraphs?)",
    "subject": "biology|physics|chemistry|mathematics|maths?|history|philosophy|psychology|sociology|economics|law|medicine|nursing|computer science|software engineering"
    "|engineering|[a-z]+ engineering|architecture|literature|linguistics|geography|geology|political science|politics|business( administration)?|finance|accounting|marketing"
    "|journalism|anthropology|archaeology|astronomy|statistics|data science|education|fine arts?|graphic design|biochemistry|environmental science|pharmacy|dentistry",
}

attribute: Final = partial(attribute_of, vocabulary=VOCABULARY)
