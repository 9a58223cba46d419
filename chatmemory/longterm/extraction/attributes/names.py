"""``is_single_valued``, ``one_spelling``, ``asked_by``: names of attributes; ``is_named``, ``is_one``: what two texts name.

The name of an attribute may contain its subject: ``age:son``, ``favourite:book``, ``database:relay``.  ``statements.py``
finds statements about attributes.

``is_named`` and ``is_one`` compare texts by their words alone, never by what they mean: ``order system`` and ``orders``,
订单系统 and 订单.
"""

import re
from typing import Final

from chatmemory.longterm.extraction.statements import FOLD
from chatmemory.longterm.memories import Memory
from chatmemory.text.stop_words import HAN

LEAST_LETTERS: Final = 5  # of a word in small letters; shorter ones are too common
LEAST_LATIN: Final = 3  # of one among Chinese characters, where few words are too common
LEAST_PLURAL: Final = 4  # letters

_PLACES: Final = re.compile(
    r"\b(production|prod|staging|test(s|ing)?|unit tests?|dev(elopment)?)\b|生产|线上|测试|压测|开发|预发"
)
"""What is kept apart though all else is the same: nobody tests in production."""

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
SEVERAL_VALUED: Final = frozenset(
    {
        "allergy",
        "child",
        "condition",
        "experience",
        "hobby",
        "like",
        "dislike",
        "pet",
        "skill",
        "spoken language",
        "visited",
    }
)
"""A statement about one of these is added to those before it."""

_SPELLINGS: Final = {
    "color": "colour",
    "family doctor": "doctor",
    "flavor": "flavour",
    "theater": "theatre",
    "movie": "film",
    "tv show": "show",
    "gp": "doctor",
    "physician": "doctor",
    "wake up": "get up",
    "waking up": "get up",
    "getting up": "get up",
    "go to sleep": "go to bed",
    "起床时间": "起床",
    "起": "起床",
    "睡觉时间": "睡觉",
    "睡": "睡觉",
}


_NOW: Final = re.compile("现在|目前|如今")
_OF_WHAT: Final = re.compile(r"\A(?P<of>[\w -]+?) (?:for|of) (?:the|our|my) (?P<what>[\w -]+)\Z")
_ASKED_BY: Final = {
    "address": "address live ship deliver 地址是什么 收货地址 住址 寄到哪里 快递寄哪",
    "age": "age old 年龄 多大了 我几岁 今年多大 几岁了",
    "answer length": "answer answers answering reply long short detailed style 怎么回答 回答风格 回答要多长 详细还是简短",
    "answer format": "format formatted answer answers bullet points layout 怎么排版 回答的格式 用列表吗",
    "anniversary": "anniversary wedding 纪念日是哪天",
    "bank": "bank salary wages paid account 哪家银行 工资卡是哪家 工资打到哪",
    "birthday": "birthday born date birth 哪天生日 生日是什么时候 出生日期",
    "boss": "boss manager report supervisor lead 我的老板是谁 领导是谁 直属领导 上司 向谁汇报 老板叫什么",
    "browser": "browser internet web 什么浏览器 用哪个浏览器",
    "music app": "music app streaming listen 用什么听歌 音乐软件",
    "package manager": "package manager build tool 什么包管理器",
    "car": "car drive vehicle own 什么车 我开什么车 哪一款车 车是哪款 汽车 有车吗",
    "commute": "commute get work travel office 怎么上班 怎么去上班 通勤靠什么 上下班",
    "database": "database store data 什么数据库 用的什么数据库 数据存在哪",
    "deployment": "deploy hosted hosting production run server 部署在哪儿 部署在哪里 跑在哪里 哪家云 服务器在哪",
    "device": "phone laptop computer device machine 什么手机 用的什么手机 什么电脑 用什么设备",
    "diet": "diet eat eating food avoid follow 饮食习惯 吃饭有什么讲究 忌口吗 控制饮食 吃什么",
    "doctor": "doctor gp dentist see 哪位医生 看哪个医生 谁在给我看 主治医生是谁 大夫是哪位 谁给我做",
    "editor": "editor ide write code 用什么编辑器 写代码用什么",
    "email": "email mail address 邮箱是什么 哪个邮箱 电子邮箱 邮件",
    "favourite": "favourite favorite like love most 最喜欢什么 最喜欢的 最爱 最喜欢哪个 最喜欢听谁",
    "grade": "grade year class school 几年级 上几年级 读几年级 大几 研几 读研几",
    "gym": "gym train membership work out 哪家健身房 在哪健身 锻炼",
    "habit": "habit smoke 抽烟吗 习惯",
    "hometown": "hometown born grew up 老家是哪里 哪里人 家乡",
    "language": "language written code 用什么语言写的 什么语言 编程语言 什么框架",
    "medication": "medication medicine pills take 在吃什么药 吃药 用药",
    "membership": "membership subscription subscribed pay plan 订阅了什么 会员 卡 订阅哪个平台",
    "mode": "mode tone style answer talk 什么模式 用什么模式回答 回答的时候 什么语气",
    "name": "name called call 叫什么名字 我叫什么 怎么称呼我 姓名",
    "notes": "notes app 笔记放在哪个软件 笔记软件",
    "operating system": "operating system os laptop computer 什么操作系统 用什么系统",
    "pet": "pet name called dog cat 宠物叫什么 名字是什么 养宠物吗 猫叫什么 狗叫什么",
    "phone": "phone number mobile cell call 手机号是多少 电话是多少 号码是多少 联系电话 哪个号码",
    "relationship": "relationship status married single girlfriend boyfriend partner 感情状态 结婚了吗 有对象吗 单身吗 有女朋友吗 有男朋友吗",
    "reply language": "language answer answers reply 用什么语言回答 回答应该用什么语言",
    "residence": "live living city home town residence 住在哪里 住在哪个城市 住哪个城市 我家在哪儿 现在住哪",
    "role": "role job title position work do living occupation profession 我是做什么的 什么职位 我的职位是什么 做什么岗位 什么工作 职业",
    "roommate": "roommate flatmate live with 室友是谁 跟谁合租 跟谁一起住",
    "school": "school university college study attend 在哪所学校 哪所大学 哪所小学 在哪读书 在哪里上学",
    "shell": "shell terminal 用什么终端",
    "shift": "shift hours work 上什么班 几点上班",
    "side job": "side job 兼职 副业",
    "team": "team squad group called 在哪个组 在什么组 项目组叫什么 团队叫什么",
    "theme": "theme dark light mode 什么主题 界面用什么主题 深色还是浅色",
    "time zone": "time zone timezone 哪个时区 会议时间 什么时区",
    "units": "units unit 用什么单位 单位是什么",
    "usual order": "usual order drink coffee 点什么 平时点什么 要什么",
    "like": "like likes love enjoy hobby hobbies play drink 喜欢什么 爱好是什么 兴趣 喝什么 吃什么 玩什么 打什么",
    "spoken language": "speak speaks language languages 会说什么语言 会哪些语言 会讲什么语言",
    "work place": "work city place office located 在哪个城市工作 在哪里上班 在哪工作 办公室在哪 公司在哪",
    "work": "work employer company job workplace 在哪家公司 在哪里上班 在哪儿工作 哪个公司 公司是哪家 在哪工作",
}


def is_single_valued(attribute: str) -> bool:
    """Return whether a newer statement about *attribute* ends the older ones.

    >>> is_single_valued("residence"), is_single_valued("pet"), is_single_valued("pet:otto")
    (True, False, True)
    """
    return attribute not in SEVERAL_VALUED


def one_spelling(of: str) -> str:
    """Return what is named by *of* in the spelling of the names of attributes: the British one, of one thing, and of words for the same the first.

    >>> one_spelling("color"), one_spelling("movies"), one_spelling("tennis")
    ('colour', 'film', 'tennis')
    >>> one_spelling("deadline for the grant")
    'grant deadline'
    """
    of = _NOW.sub("", of)
    of = _OF_WHAT.sub(r"\g<what> \g<of>", of)
    one = (
        of
        if of.endswith(("ss", "us", "is", "series", "news")) or len(of) < LEAST_PLURAL
        else of.removesuffix("s")
    )
    return _SPELLINGS.get(one, one)


def asked_by(attribute: str) -> str:
    """Return the words by which people ask for *attribute*, in English and Chinese; none for an unknown attribute.

    A statement seldom has them: people do not say "I live in the city of Leeds".
    """
    family, _, of = attribute.partition(":")
    return f"{_ASKED_BY[family]} {of}" if family in _ASKED_BY else ""


def is_one(one: str, other: str) -> bool:
    """Return whether two phrases name the same thing: ``order system`` and ``orders``, 订单系统 and 订单."""
    if {found[0] for found in _PLACES.finditer(one)} != {found[0] for found in _PLACES.finditer(other)}:
        return False
    first, second = telling_words(one), telling_words(other)
    return any(a.startswith(b) or b.startswith(a) for a in first for b in second)


def telling_words(phrase: str) -> list[str]:
    """Return the words of *phrase* in small letters, without those that name nothing: ``the``, ``company``."""
    return [word for word in _WORDS.findall(phrase.casefold()) if word not in _COMMON]


def is_named(memory: Memory, text: str, *, least: int = LEAST_LETTERS) -> bool:
    """Return whether *text* names the value of *memory*: one of its proper names, or two characters of it.

    Args:
        memory: what is known.
        text: what is said.
        least: the letters that a word in small letters must have.
    """
    value = memory.value if isinstance(memory.value, str) else ""
    value = value.translate(FOLD)
    said = text.casefold()
    words = set(_WORDS.findall(said))
    if re.search(f"[{HAN}]", value):
        least = min(least, LEAST_LATIN)
    for word in _WORDS.findall(value):
        if re.match(f"[{HAN}]", word):
            pairs = {word[at : at + 2] for at in range(len(word) - 1)} - _COMMON_PAIRS
            if any(pair in said for pair in pairs):
                return True
        elif (
            (word.casefold() in words or word.removesuffix("ing") in words or word.removesuffix("s") in words)
            and word.casefold() not in _COMMON
            and (len(word) >= least or word != word.lower())
        ):
            return True
    return False
