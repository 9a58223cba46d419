"""``CHINESE_ATTRIBUTES``: how people say in Chinese what they are, have and use now, and what is over."""

from typing import Final

from chatmemory.longterm.extraction.attributes.chinese.daily_life import DAILY_LIFE
from chatmemory.longterm.extraction.attributes.chinese.own_noun import OWN_NOUN
from chatmemory.longterm.extraction.attributes.chinese.person import PERSON
from chatmemory.longterm.extraction.attributes.chinese.vocabulary import VOCABULARY
from chatmemory.longterm.extraction.attributes.chinese.working_with import WORKING_WITH
from chatmemory.longterm.extraction.attributes.grammar import AttributeGrammar
from chatmemory.longterm.extraction.grammar import expression

CHINESE_ATTRIBUTES: Final = AttributeGrammar(
    stated=(*OWN_NOUN, *PERSON, *DAILY_LIFE, *WORKING_WITH),
    other=expression(
        r"[他她]|\A[^，。我咱]{0,6}(小姑娘|小伙子?|姑娘|男生|女生|大叔|大姐|大哥|大妈|大爷|新人|新来的)(?!.{0,3}<我>)|\A[^，。\s我咱们]{1,4}的(<别人>)(?!.{0,3}<我>)|\A(?!周[末一二三四五六日]|高中|高三|于是|白天|马上|方便|方向|任职|万一|常常|程序|金融|石家庄|许多|许久|何时|夏天|江苏|武汉|唐山|田|文|康|龙|易|贺)((小|老|阿)[一-鿿]|[王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕蒋蔡贾丁魏薛叶余潘杜戴夏钟汪任姜范方石姚谭廖邹熊金陆郝崔毛邱秦江史顾侯邵孟万段雷钱汤尹黎乔赖龚][一-鿿]{1,2}?|安娜|汤姆|杰克|玛丽|约翰|大卫|露西|艾米|迈克|彼得|莉莉|爱丽丝|[A-Z][a-z]+)(?=<副>(住|搬|在|是|去|跳|入|换|买|开|喜欢|最|有|养|升|结婚|今年))|(?<!叫)(小|老|阿)[王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕明华强伟芳丽军杰红](?!序|书|米|时|达|层)|我(的|们)?([大小初高中]学|前|以前|老|好|女|男|亲|远房|[表堂]|高中|隔壁|公司|部门|组里|家)?的?(<别人>)(?!.{0,3}<我>)|\A(<别人>)(?!端|.{0,3}<我>)|(<宠物>)(?!.{0,3}(叫|名))|(<亲人>|亲戚|客户(?!端)|同学|朋友|同事)(?!.{0,4}<我>)",
        VOCABULARY,
    ),
    added=expression(
        "也(?!开始|换|改|搬|转|跳)|另外|此外|还(有|会|在|用|喜欢|爱|说|讲|开|养|想|对|学)|第二[辆台个部只套份]|同时|又(买|养|有|办|开(?!始)|订|加|多)|兼",
        VOCABULARY,
    ),
    leaves_out=True,
    own=expression("(我|咱|俺|本人)(?!(的|们|家)?(<别人>))", VOCABULARY),
    tail=expression("(了|啦|吧|哈|呢|呀|喔|哦|第.*|[两三一二四五\\d]+(个|個).*)$", VOCABULARY),
    further=expression("(名字|他叫|她叫|叫)", VOCABULARY),
    owner=expression(
        "我|咱|俺|平时|写代码|编辑器|家里|一直|停用|原来的号|以后|大家|默认|工资|房贷|提醒|界面|主题|换|改|搬|提车|喜提|刚提|提了|新车(?!展)|(买|订|提)了?一?[辆台部]|开的是|新买|入了|新手机|换号|号码换|新号|新手机号|新电话|新地址|现在用|新的|改成|改为|改寄|更新|收货|收件|联系|留|寄|发票|快递|简历|邮箱|换掉|单子",
        VOCABULARY,
    ),
    shown=expression("显示(的|着|是)|看[中上]了?|相中|写着|标着|截图|客服|公司的座机(?!号)", VOCABULARY),
    cut=expression(r"[，,；;：:。]\s*|……|(但是|不过(?![敏时期来去了])|而且|所以|然后)", VOCABULARY),
    ended=expression(
        "卖|退|停|辞|[吃喝玩看听穿](腻|厌|够)了|戒烟|离职|分手|离婚|搬走|搬出|不再|不[^，。]{1,6}了|戒(?![指律尺备])|注销|销户|下线|下掉|关门|关了|走了|去世|没了|掉了|收回|回收|转给|转卖|交出|到期|拜拜|再见"
        "|取消|调去|调走|跳槽|荣休|退休|满了|告一段落|到此为止|改名|换成|没在|给我?[爸妈哥弟姐妹]|送人|没有?[^，。]{1,6}了|倒闭|裁员|解散|欠费|毕业|拆了|作废|不干了|过期|过户|飞走|卸任|跑了|走丢|去世|没续|改叫|搬去|结束|[和跟与][^，。]{1,6}((分|掰)了(?=$|，|。)|分开)|我[^，。他她]{0,4}(失恋|被甩)|失业|待业|被[^，。]{0,4}(裁|辞退|开除|炒)|走人|转让|(?<![累笑饿困忙气烦热冷吓急渴痛疼爱想])死了|过世|离世|[汪喵]星|离开我们|报废|[被给]偷|放弃|没(有)?兴趣|过敏[^，。]{0,4}好了|卸载|[弃退]坑|(吹|黄|散|掰)了|断了联系|解约|解除|痊愈|歇业|关停|散伙|[和跟与]我?[^，。]{0,6}散了",
        VOCABULARY,
    ),
    ends={
        "boss": expression("没有?(老板|领导|上司)了", VOCABULARY),
        "relationship": expression(
            "分手|离婚|分开了?|掰了?|(婚约|婚事|婚礼|婚)(取消|解除|吹|黄|退)|退婚|(取消|解除)[^，。]{0,3}(婚约|婚礼|婚事|订婚)|[和跟与][^，。]{1,6}分了(?=$|，|。)|我[^，。他她]{0,4}(失恋|被甩)|不在一起",
            VOCABULARY,
        ),
        "work": expression(
            "裸辞|辞职|离职|被[^，。]{0,4}(裁|辞退|开除|炒)|不干了|下岗|失业|待业|我[^，。他她的]{0,4}退休|从公司走人",
            VOCABULARY,
        ),
        "side job": expression("辞职|离职|(兼职|兼差|副业)[^，。]*(辞|不做|不干|停)", VOCABULARY),
        "car": expression("车(子)?(已经|都)?(卖|报废|过户|送|[被给][^，。]{0,3}偷)|没有?车了", VOCABULARY),
        "gym": expression("瑜伽|健身房|健身卡|健身", VOCABULARY),
        "diet": expression("戒糖|生酮|吃素|减肥", VOCABULARY),
        "phone:备用": expression("备用号", VOCABULARY),
        "email:公司": expression("(公司|企业|工作)邮箱", VOCABULARY),
        "school": expression("补习班|辅导班|学校|课", VOCABULARY),
        "medication": expression("药", VOCABULARY),
        "roommate": expression("(室友|舍友|表妹|合租).*搬", VOCABULARY),
        "role": expression("任期|主任|会长|业委会|职务", VOCABULARY),
        "habit:smoking": expression("烟|不抽了|不再抽", VOCABULARY),
        "doctor": expression("咨询|疗程|复诊", VOCABULARY),
        "membership": expression("会员|卡|订阅|套餐", VOCABULARY),
        "pet": expression(
            r"\A(?!.*(<别人>|隔壁|[他她别]|[^\s，。我咱己们]们?家(里|养)?的?(那)?[只条]?(<宠物>|猫|狗)|[^\s，。我咱们家己]的(<宠物>|猫|狗)))[^，。]*(猫|狗|仓鼠|兔子)",
            VOCABULARY,
        ),
    },
)
