"""What people say of themselves in Chinese: who they are and how they are reached; a table, read from top to bottom."""

from typing import Final

from chatmemory.longterm.extraction.attributes.chinese.vocabulary import attribute

PERSON: Final = (
    attribute(
        "spoken language",
        "语言能力",
        r"(?<![跟和对给用])<我><副>(会|能|可以|正?在|开始)?(说|讲|懂|学|会)(一点|一些|点|流利的?)?(?P<value><spoken>)",
        named=True,
    ),
    attribute(
        "work place",
        "工作地点",
        r"<我><副>在(?P<value><城>)(那边|这边)?<副>(工作|上班|干活|打工)",
    ),
    attribute(
        "email",
        "邮箱",
        r"(?P<of>公司|工作|企业|单位|私人|个人|学校)(上用)?的?邮箱.*?(?P<value><email>)",
        wished=True,
        owned=True,
    ),
    attribute("email", "邮箱", "(?P<value><email>)", wished=True, owned=True),
    attribute(
        "phone",
        "电话",
        r"(?P<of>备用|公司|座机|办公室?|固定|单位|家里?|紧急)[^，。]{0,6}(号|号码|电话|手机)[^\d]*(?P<value><phone>)",
        wished=True,
        owned=True,
    ),
    attribute("phone", "电话", "(?P<value><phone>)", wished=True, owned=True),
    attribute(
        "address",
        "地址",
        r"(地址|寄到|送到|收货|快递到|寄去|邮寄|住在|家在|住址)[^，。\d]{0,6}?[:：]?\s*(?P<value><street>)",
        r"(更新|换成|改成|改到|改寄)[^，。]{0,6}[:：]?\s*(?P<value><street>)",
        wished=True,
        owned=True,
    ),
    attribute(
        "name",
        "用户姓名",
        r"(?<!朋友)(?<!同事)<我>的?(名字|姓名|大名|全名)?(叫做|叫|名叫|姓)(?P<value>[^，。,；\s的是我你什]{1,12}?)<尾>",
        r"<我>?<副>(改|更|换)名(叫|为|成|字叫|字了?[，,]\s?(现在)?叫)?了?(?P<value>[^，。,；\s的是我你什]{1,12}?)<尾>",
        r"((?:(?<![^，。,；！!\s你请就可以后都接是改吧])(叫|喊|称呼)我)(?!去|来|回|明|今|别|不|帮|早|晚|起|做|吃|交|过)|大名是|名字(改成|换成|是)了?)\s*(?P<value>[^，。,；\s的是我你]{1,12}?)(?=就|吧|$|，|,|。|！| 就)",
        r"(?<!师)(?<!友)(叫|喊)我\s*(?P<value>[A-Za-z]+)",
        wished=True,
    ),
    attribute(
        "age",
        "用户年龄",
        r"(?P<of><孩子>|<亲人>)(今年|已经|都|刚|满|快|才|现在)*(?P<value><数>岁半?)",
        r"(?P<of><孩子>)<副>过[了完]?(?P<value><数>岁)(的)?生日",
        others=True,
    ),
    attribute(
        "age",
        "用户年龄",
        r"<我>(今年|已经|都|刚|满|快|才|现在|也|马上)*(?P<value>\d{1,2}|<数>岁半?)(?=岁|了|，|,|。|$)",
        r"<我>(今年|都|已经|刚刚?|刚满|马上|快|也|现在)+(?P<value>[二三四五六七八九]?十[一二三四五六七八九]?)(?=了|，|,|。|$)",
        r"(?<![^，。,；;！!\s])<我>(?P<value>[二三四五六七八九]?十[一二三四五六七八九]?)(?=了(，|。|$))",
        r"生日[^。，]{0,4}[，,]\s?<我>?(都|也|已经|今年|正式|现在)*(?P<value>(\d{1,2}|[二三四五六七八九]?十[一二三四五六七八九]?)岁?)了",
        r"\A[^，。]{0,12}?[，,]?(?P<value>(?<![\d月])\d{1,2}岁)了",
        r"生日[^。]{0,8}?(?P<value><数>岁)",
        r"过[了完]?(?P<value><数>岁)(的)?生日",
        r"<我>(刚|刚刚|已经|已|今年)*(年满|满|过)(?P<value><数>)(周岁|岁)?(?=了|，|。|$)",
        r"(长一岁|老一岁|转眼就?|一转眼)[^。\d]{0,3}(?P<value>\d{2})了",
    ),
    attribute(
        "birthday",
        "生日",
        r"(生日|出生|生于|生的)[^，。\d]{0,8}?(?P<value><day>)",
        r"(?P<value><day>)(的|是)?(我的?)?(生日|出生|生的)",
        r"(打漏|打错|写错|说错|手滑|记错).*?是(?P<value><day>)",
    ),
    attribute(
        "diet",
        "饮食习惯",
        r"<我>?<副>(?P<value>(吃|在)(<食>)[^，。]*)",
        r"(?P<value>(荤素都吃|什么都吃|开始吃[^，。]+|在(戒|控)糖[^，。]*|戒糖[^，。]*|生酮|(<食>)饮食))",
        r"(?P<value>在减肥)",
        r"(改成|换成|改吃|在做|试|开始|恢复|恢复了)(?P<value>[^，。]*?(<食>))",
    ),
    attribute("allergy", "过敏", r"对(?P<value>[^，。,\s]{1,8}?)(?<![不没])<副>(严重|有点)?过敏", named=True),
    attribute(
        "habit:smoking",
        "习惯",
        r"(?P<value>烟瘾[^，。]*|一天一包|每天抽[^，。]*|我(喜欢|爱|一直|平时)?抽烟[^，。]*)",
    ),
    attribute(
        "relationship",
        "感情状态",
        r"<我>?<副>(有|交了?|找到?了?|谈了?)(一?个|新)*([^，。,我他她]{0,6}的)?(?P<value>女朋友|男朋友|女友|男友|对象)",
        r"<我>?<副>(?P<value>单身(?!好多)|单着|一个人过|再婚|复婚|二婚|有对象|已婚|未婚|离异|离婚|离了|结婚|领证|订婚|恋爱|脱单|谈恋爱|合法夫妻)",
    ),
    attribute(
        "relationship",
        "感情状态",
        r"<我>(和|跟|与)(我|我的)?[^，。]{1,6}?<副>(?P<value>结婚|领证|订婚|离婚|分手|在一起|复合|同居)(?=了|，|。|$|快|都|已|有|<数>)",
        others=True,
    ),
    attribute(
        "relationship",
        "感情状态",
        r"<我>(的|和|跟|们)*(?P<value>男朋友|女朋友|男友|女友|对象|未婚夫|未婚妻|老婆|老公)",
        others=True,
        implied=True,
    ),
)
