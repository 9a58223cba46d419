"""``FOLD``: the characters that rules read as others, one for one, so that every place in a text stays where it is."""

from typing import Final

_SIMPLIFIED: Final = (
    "欢爱习惯讨厌职业学岁现猫个们养吗么对过会讲说话写码间种这开发员师医记还见来从应该给让选择决计划时后电邮号周总听读书买点紧项"
    "为简洁详细务编译设产运营销经护画评顾问监实创队团组议办报课笔试语汉韩罗乐摇滚钢剧动纪录综艺阅诗杂戏围马锻炼骑车篮网飞机铁"
    "宠颜红蓝绿黄气热饮饺鸡鱼猪软数据库终调压轻严头只条妈爷亲儿满联标愿梦准备于没谁几里请帮谢觉认专毕东国历转购关难变与万样"
    "无广龄单离怀场辅缩进释类证测图视频远迟丰达层际"
)
_TRADITIONAL: Final = (
    "歡愛習慣討厭職業學歲現貓個們養嗎麼對過會講說話寫碼間種這開發員師醫記還見來從應該給讓選擇決計劃時後電郵號週總聽讀書買點緊項"
    "為簡潔詳細務編譯設產運營銷經護畫評顧問監實創隊團組議辦報課筆試語漢韓羅樂搖滾鋼劇動紀錄綜藝閱詩雜戲圍馬鍛煉騎車籃網飛機鐵"
    "寵顏紅藍綠黃氣熱飲餃雞魚豬軟數據庫終調壓輕嚴頭隻條媽爺親兒滿聯標願夢準備於沒誰幾裡請幫謝覺認專畢東國歷轉購關難變與萬樣"
    "無廣齡單離懷場輔縮進釋類證測圖視頻遠遲豐達層際"
)

FOLD: Final = str.maketrans("’‘" + _TRADITIONAL, "''" + _SIMPLIFIED)
"""Traditional characters of the rules' vocabulary as simplified ones, curly apostrophes as straight ones."""
