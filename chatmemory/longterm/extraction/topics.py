"""The topics of values, which give a memory its key, and the English and Chinese words that show them.

Names of products are the same in both languages, so one table is enough.  A value without any of these words has no
topic: of 14 such values in the labelled texts, 11 should have none, and choosing the nearest topic with the bundled
embedder was not right for more of them at any threshold.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Final, final

from attrs import frozen

from chatmemory.longterm.extraction.proposals import Language


@final
@frozen
class Topic:
    """A topic of values, and the words that show it.

    Attributes:
        en: the name of the topic in English.
        zh: the name of the topic in Chinese.
        latin: a regular expression of whole words in Latin letters.
        chinese: a regular expression of parts of a Chinese text; ``""``: no part shows the topic.
    """

    en: str
    zh: str
    latin: str
    chinese: str = ""

    def name(self, language: Language) -> str:
        """Return the name of the topic in keys of *language*."""
        return self.zh if language == "zh" else self.en


PARTICULAR: Final = (
    Topic(
        "answer language",
        "回答语言",
        r"(?:reply|replies|answers?|respond|responses?|talk|speak|write|written)(?: to me)? in"
        r" (?:english|chinese|mandarin|german|french|spanish|italian|japanese|korean|portuguese|russian|dutch)",
        r"用(?:简体|繁体)?(?:中文|英文|英语|汉语|日语|日文|韩语|法语|德语|西班牙语|俄语|粤语|普通话)[^，。]{0,4}(?:回|答|说|写|交流|沟通)",
    ),
    Topic(
        "answer style",
        "回答风格",
        r"(?:short|shorter|brief|concise|detailed|long|longer|direct|simple|formal|informal|friendly|blunt) "
        r"(?:\w+ )?(?:answers?|repl(?:y|ies)|responses?|explanations?|bullet points)|bullet points|emojis?|small ?talk"
        r"|(?:answers?|repl(?:y|ies)|responses?|explanations?) (?:short|brief|concise|simple|to the point)"
        r"|step by step|jargon|straight to the point|briefly|concisely",
        r"简短|简洁|简明|详细|啰嗦|废话|表情符号|分点|列表|一步一步|先给结论|直接给|正式的语气|口语化",
    ),
    Topic(
        "programming language",
        "编程语言",
        r"python|java(?:script)?|typescript|rust|golang|(?-i:Go)(?! (?:for|to|on))|kotlin|swift|ruby|php|perl|scala|haskell|elixir|erlang|clojure"
        r"|lua|julia|matlab|fortran|cobol|lisp|ocaml|zig|dart|c\+\+|c#|f#|objective-c|programming languages?",
        r"(?<![A-Za-z])(?-i:Go|C|R)(?:语言|(?= *$|[，。、]| *[和与]))|编程语言",
    ),
    Topic(
        "development tool",
        "开发工具",
        r"vs ?code|visual studio(?: code)?|vim|neovim|emacs|nano|sublime|atom|cursor|zed|helix|pycharm|intellij|webstorm|goland|clion|eclipse"
        r"|xcode|android studio|jupyter|datagrip|dbeaver|postman|git(?:hub|lab)?|copilot|tmux|zsh|fish shell|pytest|ruff|mypy|eslint"
        r"|prettier|docker|make|webpack|vite|npm|pnpm|yarn|poetry|ide|editors?|terminals?|linters?|debuggers?",
        r"编辑器|开发环境|开发工具|终端|调试器|命令行工具",
    ),
    Topic(
        "framework",
        "技术框架",
        r"django|flask|fastapi|rails|spring(?: boot)?|react|vue|angular|svelte|next\.?js|node\.?js|express|flutter|qt|pytorch|tensorflow"
        r"|pandas|polars|numpy|langchain|kubernetes|terraform|ansible|frameworks?|librar(?:y|ies)|microservices?",
        r"框架|微服务|技术栈",
    ),
    Topic(
        "database",
        "数据库",
        r"postgres(?:ql)?|mysql|mariadb|sqlite|redis|mongodb|mongo|oracle|cassandra|clickhouse|duckdb|elasticsearch|neo4j|sql|databases?",
        r"数据库|缓存",
    ),
    Topic(
        "operating system",
        "操作系统",
        r"linux|ubuntu|debian|fedora|arch(?: linux)?|nixos|mac ?os|os x|windows|freebsd|android|ios|operating systems?",
        r"操作系统|鸿蒙",
    ),
    Topic(
        "interface",
        "界面",
        r"(?:dark|light|night) (?:mode|theme)|themes?|fonts?|layouts?|(?:user )?interfaces?|ui|shortcuts?|notifications?",
        r"(?:深|浅|暗|亮)色(?:模式|主题|界面)|夜间模式|界面|主题|字体|布局|快捷键|通知",
    ),
    Topic(
        "code style",
        "代码风格",
        r"tabs|spaces|indentation|type hints?|semicolons?|camelcase|snake_case|docstrings?|(?:code )?comments|naming",
        r"缩进|注释|类型注解|类型标注|命名|分号|代码风格",
    ),
    Topic(
        "drink",
        "饮品",
        r"coffee|decaf|tea|espresso|latte|beer|wine|whisk(?:e)?y|juice|water|cola|soda|milk|cocktails?|alcohol|drinks?",
        r"咖啡|茶|酒(?!店)|果汁|可乐|牛奶|豆浆|水(?:$|，)|杯水|饮料|喝",
    ),
    Topic(
        "food",
        "饮食",
        r"food|eat(?:ing)?|cuisine|vegetarian|vegan|pescatarian|halal|kosher|gluten|dairy|meat|pork|beef|chicken|fish|seafood|sushi"
        r"|pizza|pasta|noodles|rice|ramen|tofu|cheese|chocolate|bread|desserts?|sweets|spicy|cilantro|coriander|garlic|onions?"
        r"|mushrooms?|breakfast|lunch|dinner|snacks?|cooking|baking|salads?|soups?|fruits?|vegetables?|ice cream",
        r"吃|菜|香菜|辣|火锅|烧烤|面条|米饭|饺子|素食|清真|海鲜|牛肉|猪肉|羊肉|鸡肉|甜食|甜点|甜的|巧克力|水果|早餐|午饭|晚饭|做饭|口味|零食|美食|鱼|料理",
    ),
    Topic(
        "music",
        "音乐",
        r"music|songs?|bands?|singers?|albums?|concerts?|jazz|rock|hip ?hop|rap|techno|opera|classical|guitar|piano|violin|drums",
        r"音乐|歌|乐队|摇滚|爵士|古典乐|民谣|钢琴|吉他|演唱会|专辑|管弦乐|交响乐|听歌",
    ),
    Topic(
        "film",
        "影视",
        r"movies?|films?|cinema|tv|series|anime|documentar(?:y|ies)|sitcoms?|netflix|horror|thrillers?",
        r"电影|影片|(?:动作|爱情|科幻|恐怖|文艺|悬疑|战争)片|喜剧|电视剧|追剧|动漫|动画|纪录片|综艺|导演",
    ),
    Topic(
        "reading",
        "阅读",
        r"books?|novels?|read(?:ing)?|authors?|poetry|fiction|comics|manga|biograph(?:y|ies)|magazines?",
        r"书|小说|阅读|作家|诗歌|漫画|杂志|看书|读",
    ),
    Topic(
        "art",
        "艺术",
        r"art|painting|drawing|sketching|pottery|photography|crafts?|sculptures?|museums?|knitting|calligraphy|creative writing",
        r"绘画|画画|书法|摄影|拍照|拍摄|手工|陶艺|雕塑|博物馆|艺术|写作",
    ),
    Topic(
        "game",
        "游戏",
        r"(?:video |board |card )?games?|gaming|chess|minecraft|nintendo|playstation|xbox|steam",
        r"游戏|象棋|围棋|桌游|麻将|手游",
    ),
    Topic(
        "sport",
        "运动",
        r"sports?|run(?:ning)?(?= *$|[,.]| (?:in|at|on|every|before|after|and|marathons?))|jog(?:ging)?|hik(?:e|es|ing)|climb(?:ing)?|bouldering|swim(?:ming)?"
        r"|cycl(?:e|ing)|biking|yoga|gym|football|soccer|basketball|tennis|badminton|golf|skiing|surfing|fitness|work ?outs?|marathons?",
        r"运动|跑步|晨跑|夜跑|健身|游泳|爬山|登山|徒步|骑行|骑车|瑜伽|篮球|足球|羽毛球|乒乓球|网球|滑雪|马拉松|锻炼|散步",
    ),
    Topic(
        "travel",
        "旅行",
        r"travel(?:l?ing)?|trips?|vacations?|holidays?|hotels?|hostels?|flights?|trains?|airlines?|aisle seats?|window seats?|beaches|camping"
        r"|weekend in \w+",
        r"旅行|旅游|出差|民宿|酒店|跟团|自由行|飞机|高铁|靠窗|露营|航班",
    ),
    Topic(
        "nature",
        "自然",
        r"nature|outdoors|gardening|mountains|forests?|sunsets?|stargazing",
        r"大自然|自然风光|户外|园艺|养花|海边|森林",
    ),
    Topic(
        "animal",
        "动物",
        r"cats?|dogs?|pets?|birds?|animals?|horses?|rabbits?|turtles?",
        r"猫|狗|宠物|小动物|兔子|仓鼠",
    ),
    Topic(
        "weather",
        "天气",
        r"weather|rain|snow|summer|winter|autumn|spring",
        r"天气|下雨|下雪|夏天|冬天|春天|秋天",
    ),
    Topic(
        "meeting",
        "会议",
        r"meetings?|stand-?ups?|one-on-ones?|retros?|retrospectives?|conference calls?",
        r"开会|会议|组会|例会|周会|早会|站会",
    ),
    Topic(
        "communication",
        "沟通",
        r"e-?mails?|async(?:hronous)?|written updates|phone calls?|calls|slack|chat|messages|video calls?|texting",
        r"邮件|电话|微信|短信|沟通|消息|视频通话|钉钉|飞书",
    ),
)
"""The particular topics; the topic of a value is the one whose word comes first in it."""

GENERAL: Final = (
    Topic(
        "colour",
        "颜色",
        r"colou?rs?|red|blue|green|yellow|purple|pink|teal|orange|black|white",
        r"颜色|[红蓝绿黄紫粉黑白灰橙]色",
    ),
    Topic(
        "code",
        "编程",
        r"cod(?:e|ing)|commits?|tests?|deploy(?:ments?)?|pull requests?|refactor(?:ing)?|programming|debugging|unit tests?",
        r"代码|编程|测试|提交|部署|重构|写程序|上线|调试",
    ),
    Topic(
        "routine",
        "作息",
        r"get up|wake up|go to bed|sleep(?:ing)?|nap|early riser|night owl",
        r"起床|睡|熬夜|早起|午休|作息",
    ),
    Topic(
        "work",
        "工作",
        r"work(?:ing)?|office|remote(?:ly)?|jobs?|reports?|overtime|quit",
        r"工作|加班|上班|办公|报表|周报|日报|辞职|跳槽|远程",
    ),
    Topic(
        "study",
        "学习",
        r"stud(?:y|ying)|learn(?:ing)?|courses?|notes|homework|exams?",
        r"学习|复习|背单词|课程|笔记|作业|考试",
    ),
    Topic("shopping", "购物", r"shop(?:ping)?|buy(?:ing)?|brands?|groceries", r"购物|网购|买|牌子|品牌"),
    Topic(
        "transport",
        "出行",
        r"bus|subway|metro|bike to|commut(?:e|ing)|drive|driving|taxi",
        r"地铁|公交|打车|开车|通勤",
    ),
)
"""The general topics, which count when there is no particular topic: green tea is a drink, code with type hints is code style."""


TOOLS: Final = frozenset(
    {"programming language", "development tool", "framework", "database", "operating system", "interface"}
)
"""The English names of the topics for which "I use it" states a preference."""


def _alternatives(topics: Sequence[Topic]) -> re.Pattern[str]:
    """Compile one pattern with a group for each topic, numbered as in *topics*."""
    return re.compile(
        "|".join(
            rf"(?P<t{number}>(?<![A-Za-z0-9])(?:{topic.latin})(?![A-Za-z0-9])"
            + (f"|{topic.chinese})" if topic.chinese else ")")
            for number, topic in enumerate(topics)
        ),
        re.IGNORECASE,
    )


@cache
def _tables() -> Sequence[tuple[Sequence[Topic], re.Pattern[str]]]:
    return [(topics, _alternatives(topics)) for topics in (PARTICULAR, GENERAL)]


def topic_of(value: str, clause: str) -> Topic | None:
    """Return the topic of a value.

    Args:
        value: the value.
        clause: the clause around it, which is searched when the value shows no topic.

    Returns:
        the topic; None when neither shows one.
    """
    for topics, pattern in _tables():
        for text in (value, clause):
            if found := pattern.search(text):
                return topics[int(str(found.lastgroup)[1:])]
    return None
