"""What people say of theirs in Chinese by the noun itself: the table ``OWN_NOUN``, read from top to bottom."""

from typing import Final

from chatmemory.longterm.extraction.attributes.chinese.vocabulary import attribute
from chatmemory.longterm.extraction.attributes.grammar import AttributeRule


def _mine(
    family: str, noun: str, value: str, *, key: str, verbs: str = "是|叫", of: str = "", others: bool = True
) -> AttributeRule:
    """Return the rule of what is *mine*: 我的X是V, X换成V了, 换了X，现在是V."""
    held = f"(?P<value>{value})"
    own = r"\A(?!.*((<亲人>)|他们|她们|朋友|同学|客户|同事|邻居|对方|人家)).*?"
    changed = "<换>"
    return attribute(
        family,
        key,
        rf"<我>(的|家的?|现在的|目前的|这边的?)?(新的?)?({noun})<副>({verbs}|{changed})了?\s?{held}<尾>",
        rf"{own}换了?(个|一个|一位|位|份|家|台|辆|间|新的?)*({noun})了?[，,]?\s?(现在|目前|如今|新的|他|她|<我>)*({verbs}|用的?是?|去|{changed})\s?{held}<尾>",
        rf"{own}({noun})(刚|已经|最近)?(换人|换|变|改|更换)了[，,]\s?(现在|目前|如今|新的|他|她|<我>)*({verbs}|用的?是?|去|{changed})\s?{held}<尾>",
        rf"{own}(?<![^，。,；;！!\s把将我们的])(新)?({noun})(已经|刚|最近|从[^，。]*?)*{changed}\s?{held}<尾>",
        rf"{own}(?<![^，。,；;！!\s])({noun})(现在|目前|如今)({verbs})\s?{held}<尾>",
        rf"{own}(?<![^，。,；;！!\s])(现在|目前|如今)的?({noun})({verbs})\s?{held}<尾>",
        rf"<我>(的|家的?)?({noun})(?P<was>(不再是|不是|不叫)[^，。]{{1,12}}?了)[，,]\s?(现在|目前|如今|而|改)*({verbs})\s?{held}<尾>",
        rf"{own}(?<![^，。,；;！!\s])(<我>的)?新的?({noun})(?<!是)({verbs}|[:：])\s?{held}<尾>",
        rf"(?P<value>{value})<副>(是|成了|变成了|当上了|成为了?|接替[^，。]{{1,4}}?(当|做|成为)了?)<我>(们)?的?(新的?)?({noun})<尾>",
        of=of,
        others=others,
    )


OWN_NOUN: Final = (
    _mine(
        "boss",
        "(直属|直接)?(老板|领导|上司|上级|主管|经理|组长|leader)",
        "<人>",
        key="领导",
        verbs="是|叫|姓",
    ),
    _mine("doctor", "(家庭|主治)?(医生|大夫|牙医|主治)", "<人>", key="医生"),
    _mine(
        "work",
        "公司|单位|东家|工作|雇主",
        "(?!<城>(?:了|，|。|$))<值>",
        key="工作单位",
        verbs="是|叫|在",
        others=False,
    ),
    _mine(
        "work place",
        "办公室|公司|单位|工位|工作地点|上班的?地方",
        "(<城>|[^，。,\\s]{0,6}(楼|层|座|园|区|大厦|中心|广场|市|路))",
        key="工作地点",
        verbs="在|是",
        others=False,
    ),
    _mine("gym", "健身房", "<值>", key="健身房", verbs="是|在", others=False),
    _mine("role", "职位|职务|岗位|头衔|职业|title", "<值>", key="用户职业", others=False),
    _mine("editor", "编辑器|ide", "<editor>", key="编辑器", verbs="是|用的?是?", others=False),
    _mine(
        "work place",
        "工作地点|上班的?地[方点]|办公地点|办公室",
        "<值>",
        key="工作地点",
        verbs="在|是",
        others=False,
    ),
    _mine(
        "residence", "居住地|住处|所在城市|居住城市|现居地", "<地>", key="居住地", verbs="在|是", others=False
    ),
    _mine("theme", "(编辑器|界面|终端|IDE)?的?主题", "(?!<别人>)<值>", key="界面主题", others=False),
    _mine("car", "座驾|车子?", "<值>(?<!的)", key="汽车", verbs="是", others=False),
    _mine("age", "年龄|岁数", r"[\d一二三四五六七八九十]+岁?", key="用户年龄"),
    _mine(
        "address",
        "(家庭|收货|通讯|邮寄|居住|家里?)?(地址|住址)",
        r"[^，。,\s]{3,40}?",
        key="地址",
        others=False,
    ),
    _mine(
        "address",
        "(?P<of>公司|单位|办公室|学校|老家|父母家?|爸妈)的?(地址|住址)",
        r"[^，。,\s]{3,40}?",
        key="地址",
        others=False,
    ),
    _mine("operating system", "(操作|电脑)?系统", "<os>", key="操作系统", verbs="是|用的?是?", others=False),
    _mine("school", "学校|大学", "<值>", key="学校", verbs="是|在", others=False),
    _mine("bank", "(?P<of>工资)卡", "<银行>", key="银行", others=False),
    _mine("birthday", "生日", "<day>", key="生日", others=False),
    _mine("detail", "(?P<of>((<孩子>)的?)?(<师友>))", "<人>", key="资料", verbs="是|叫|姓"),
    _mine("detail", "(?P<of><细节>)", "<值>", key="资料"),
)
"""What is told by its own noun."""
