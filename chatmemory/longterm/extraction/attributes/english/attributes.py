"""``ENGLISH_ATTRIBUTES``: how people say in English what they are, have and use now, and what is over."""

from typing import Final

from chatmemory.longterm.extraction.attributes.english.daily_life import DAILY_LIFE
from chatmemory.longterm.extraction.attributes.english.own_noun import OWN_NOUN
from chatmemory.longterm.extraction.attributes.english.person import PERSON
from chatmemory.longterm.extraction.attributes.english.vocabulary import VOCABULARY
from chatmemory.longterm.extraction.attributes.english.working_with import WORKING_WITH
from chatmemory.longterm.extraction.attributes.grammar import AttributeGrammar
from chatmemory.longterm.extraction.grammar import expression

ENGLISH_ATTRIBUTES: Final = AttributeGrammar(
    stated=(*OWN_NOUN, *PERSON, *DAILY_LIFE, *WORKING_WITH),
    other=expression(
        r"\b((my|our|the|his|her|their) [\w-]+|(?-i:[A-Z])\w+)'s (new |current |work |home |mobile |cell )*(phone|number|e-?mail|address|birthday|favou?rite|boss|manager|job|car|employer|doctor|dentist|age|gym|mobile|cell|house|apartment|hobby|diet)\b|\b(he|she|they|his|her|their|him|them|he's|she's|they're)\b|\b(?-i:[A-Z])\w+'s ([\w-]+ )?(<other>)\b|(?<!\bliving with )(?<!\bstaying with )(?<!\blive with )(?<!\bstay with )\b(my|our|his|her|their) ([\w'-]+ )?(<other>)('s)?\b(?!,?( \w+)? and i\b)|\b(the|an?) (friend|neighbou?r|colleague|landlord|customer|client|guy|kids|girl|woman)\b|\b(the|an?|that|this|some|another) (?:(?!of\b|in\b|at\b|to\b|for\b|from\b|with\b)[\w-]+ ){0,2}?(guy|bloke|lad|man|lady|girl|woman|kid|intern|temp|trainee|newbie|new hire|newcomer|teenager|couple)\b|\b(everyone|everybody|someone|somebody|half of (them|the \w+)) (else )?(quit|left|resigned|stopped|sold|gave|moved|cancel(l)?ed)\b|\b(dad|mum|mom|grandma|grandpa)\b",
        VOCABULARY,
    ),
    own=expression(r"\b(i|we|i'm|im|i've|i'd|we're|we've|my|our|me|us)\b", VOCABULARY),
    leaves_out=False,
    added=expression(
        r"\b(also|as well|in addition|additionally|besides|an? (second|third|extra|additional|spare|backup)|one more)\b|\btoo(?= *($|[,.;!]))|\banother (?!job|company|city|country|flat|apartment|place|town)",
        VOCABULARY,
    ),
    owner=expression(
        r"\b(my|mine|me|our|us|i|i'm|i've|we|we're|cv|invoice|parcels?|ship|deliver|delivery|home|use|show|switch|set|please|schedule|all|everything|anywhere|everywhere|always|from now on|write to)\b|\bnew (number|phone|sim( card)?|address|(e-?)?mail|inbox)\b|(\A|[,;] )(the )?(cell|phone|mobile|number|(phone|cell|mobile) number|e-?mail)( is|'s)( now)?|\A(the|this) ((phone|mobile|cell) )?number( has| was)?( been)? (changed|updated)\b",
        VOCABULARY,
    ),
    shown=expression(
        r"\b(the|this|that|an?) [\w-]+ (shows?|has|had|says?|said|looks?|reads?|uses?|displays?|comes|supports?|lists?|is at|is on)\b|\bmeet\b|\A(?-i:[A-Z])\w+ (prefers|likes|uses|wants|speaks|has|works|lives|thinks|says|runs|drives)\b",
        VOCABULARY,
    ),
    tail=expression(
        r" (yesterday|today|now|these days|from now on|last \w+|this \w+|since\b.*|as of\b.*|on \w+day\b.*|in case\b.*|btw|by the way|please|and (my|the|i|we|it|leave|let)\b.*)$|, (use|put|suggest|please|fix|so|and|but)\b.*$",
        VOCABULARY,
    ),
    further=expression(r"((his|her|their|its) name|(he|she)('s| is) (called|named))\b", VOCABULARY),
    cut=expression(
        r"[;:]\s|\s[:;]-?[()DP](?=\s|$)|,\s(?:and |but |so )?|\s[-–—]+\s|\s(?:and|but|so|because|since(?! \w+ \d)|which|who)\s|\.{2,}\s*",
        VOCABULARY,
    ),
    ended=expression(
        r"\b(sold|traded|scrapped|quit|left|resigned|cancel(l)?ed|unsubscribed|dropped|ditched|gave up|given up|stopped|closed|shut (it |them )?down|shut|ripped|removed"
        r"|moved out|broke up|split up|divorced|divorce (came|went|is (final|through|done|official))|separated|died|passed away|put down|retired|stepped down|signed off|discharged|handed|gave back|given back|returned"
        r"|dropped out|goodbye|went to|got bought|bought out|too pricey|too expensive|replaced|got rid of|knocked off|was a phase|dumped|rip|came off|coming off|emptied|(never|didn't) (stuck|stick|caught on|worked out)|merged|out of|expired|run out|ran out"
        r"|(gave|given|giving|threw|thrown|put|let|sent) (\w+ ){0,3}(away|back|up|down|go)|and i( have|'ve| are|'re)? (split|parted|separated)|hung up my|had to (give|sell|let|put|quit|leave|drop|cancel|rehome|scrap|stop|close)|walked out on (me|us)|(said|waved|kissed) (good)?-?bye|outgrew|outgrown|lapsed|is over|are over|(?<=\w's) (over|finished|history)|over with|no more|no longer|any ?more|any longer|is gone|are gone|fired|laid off|last day|between jobs|deleted|retire|can stop|overruled|swapped|switched|off|reassigned|finished|ended|redundant|lost my job|let me go|let (me )?go|lapse|stolen|wrote off|written off|totall?ed|rehomed|done with(?!.*\bfor (today|now|the day|tonight|this \w+)\b)|it's over (between (me|us)|with)|not into|unemployed|call(ed|ing) (it |things |the \w+ |our \w+ )?off|(wedding|engagement|marriage)('s| is) off|(packed|jacked) (it |\w+ \w+ )?in|packed in|binned|uninstalled|deactivated|folded|went (under|bust)|wound up|cured|in remission|cleared up|to myself|parted ways|(is|'s|are|has|have) (gone|moved) (back|away|home)|moved away|and i are (done|over|finished|history)|we lost (?-i:[A-Z])\w+(?= *($|[,.!]| (last|this|yesterday|today|on)\b)))\b|\b(gave|given) (my|our|the) \w+ to\b(?!.* for (a|an|the|two|few)\b)|\bnot (at|with|on|doing|together|working|playing|using) .*\b(any ?more|any longer)\b",
        VOCABULARY,
    ),
    ends={
        "relationship": expression(
            r"\b(broke up|(left|walked out on|dumped) me|split up|divorced?|we separated|ended things|dumped|single again|called (it|things|the wedding|our wedding|the engagement|our engagement) off|called off (the|our) (wedding|engagement)|(wedding|engagement|marriage)('s| is) off|and i are (done|over|finished|history)|and i( have|'ve| are|'re)? (split|parted|separated)|parted ways|no longer (together|married|engaged|dating)|(not|aren't) (together|married|engaged|dating) any ?more|got a divorce|it's over (between (me|us)|with))\b",
            VOCABULARY,
        ),
        "work": expression(
            r"\b(quit|left|resigned from|lost) (my|the) job\b|\A(officially |finally |just |so )*(retired|resigned|quit)(?= *($|!| (last|on|yesterday|today|this|in|at)\b))|\b(between jobs|laid off|got fired|made (me )?redundant|let me go|i resigned|(i|i've|i have|i'm|i am) retired|handed in my notice|unemployed|i (quit|retired)|out of (work|a job)|stopped working|no longer work(ing)?|don't work( there)? any ?more)\b",
            VOCABULARY,
        ),
        "boss": expression(r"\b(no longer have|don't have) an? (boss|manager)\b", VOCABULARY),
        "pet": expression(r"\b(my|our|the)( old| little)? (<pet>)\b(?!')", VOCABULARY),
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
        "roommate": expression(
            r"\b(flatmate|roommate|housemate)('s| has| is|'ve)?( \w+)? (moved|gone|left)\b|\b(flat|house|place|apartment|room)( all)? to myself\b",
            VOCABULARY,
        ),
    },
)
