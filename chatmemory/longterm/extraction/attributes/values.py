"""What values look like that are told by themselves: names of products, numbers of telephones, addresses, times.

Names of things are the same in both languages, so that one table serves both.  Each is the source of a regular expression
that ignores case; the tables of statements put them beside words such as "runs on" or 部署在.
"""

from typing import Final

DATABASE: Final = (
    r"(?:postgres(?:ql)?|mysql|mariadb|sqlite|redis|mongo(?:db)?|oracle|cassandra|clickhouse|duckdb|elasticsearch|opensearch|neo4j"
    r"|cockroach(?:db)?|dynamodb|firestore|firebird|h2|db2|sql server|mssql|tidb|oceanbase|polardb|gaussdb|influxdb|timescale(?:db)?"
    r"|supabase|planetscale|scylla(?:db)?|couchdb|couchbase|bigquery|snowflake|redshift|mnesia|rocksdb|valkey|memcached|达梦|人大金仓)"
    r"(?:[ ]?\d[\w.]*)?"
)
PROGRAMMING_LANGUAGE: Final = (
    r"(?:python|javascript|typescript|java|rust|golang|(?-i:Go)|kotlin|swift|ruby|php|perl|scala|haskell|elixir|erlang|clojure|lua|julia"
    r"|matlab|fortran|cobol|ocaml|zig|dart|c\+\+|c#|f#|objective-c|node(?:\.?js)?|deno|vue|react|angular|svelte|flutter|django|flask"
    r"|fastapi|rails|spring(?: boot)?|laravel|uni-app|(?-i:C)(?=语言|\b(?! ?[\w+#])))(?:[ ]?\d[\w.]*)?"
)
EDITOR: Final = (
    r"(?:vs ?code|visual studio(?: code)?|neovim|nvim|vim|emacs|nano|sublime(?: text)?|atom|cursor|windsurf|zed|helix|pycharm|intellij(?: idea)?|idea|codex|claude code"
    r"|webstorm|goland|clion|rider|eclipse|netbeans|xcode|android studio|jupyter(?:lab)?|notepad\+\+|textmate|bbedit)"
)
NOTES: Final = r"(?:evernote|onenote|obsidian|notion|logseq|roam|bear|apple notes|google keep|joplin|印象笔记|有道云笔记|语雀|飞书文档|思源笔记|石墨文档|幕布)"
BROWSER: Final = (
    r"(?:(?:google )?chrome|chromium|(?:mozilla )?firefox|safari|(?:microsoft )?edge|brave|opera|vivaldi|tor browser|arc browser"
    r"|谷歌浏览器|火狐(?:浏览器)?|夸克|360浏览器|QQ浏览器|UC浏览器)"
)
MUSIC: Final = r"(?:spotify|apple music|youtube music|tidal|deezer|amazon music|网易云(?:音乐)?|qq音乐|酷狗(?:音乐)?|酷我(?:音乐)?|汽水音乐)"
PACKAGES: Final = r"(?:npm|yarn|pnpm|bun|pip|poetry|pipenv|conda|uv|maven|gradle|bazel|cmake)"
SHELL: Final = r"(?:bash|zsh|fish|powershell|nushell|tcsh|ksh|xonsh|elvish)"
OPERATING_SYSTEM: Final = r"(?:linux|ubuntu|debian|fedora|arch(?: linux)?|nixos|linux mint|opensuse|manjaro|mac ?os|windows(?: \d+)?|freebsd|pop!?_?os|deepin|统信|麒麟)"
HOST: Final = (  # "ack" is no part of "looking back"
    r"(?:(?<![a-z])(?:aws|amazon|ec2|ecs|lambda|heroku|fly\.io|render|railway|vercel|netlify|cloudflare(?: pages)?|github pages|gitlab pages|azure|gcp"
    r"|google cloud|cloud run|digital ?ocean|hetzner|linode|ovh|kubernetes|k8s|openshift|nomad|docker swarm|tke|ack|eks|gke|aks|bare metal)(?![a-z])"
    r"|阿里云|腾讯云|华为云|百度智能云|百度云|火山引擎|京东云|七牛云|青云|又拍云|物理机|机房|容器云)"
)
CAR: Final = (
    r"(?:toyota|honda|nissan|mazda|subaru|mitsubishi|suzuki|lexus|ford|chevrolet|chevy|dodge|jeep|tesla|volkswagen|vw|audi|bmw|mercedes|porsche"
    r"|opel|vauxhall|skoda|škoda|seat|cupra|fiat|renault|dacia|peugeot|citro[eë]n|volvo|saab|polestar|hyundai|kia|genesis|mini|land rover|jaguar"
    r"|corolla|camry|yaris|prius|rav4|civic|accord|jazz|golf|polo|passat|tiguan|fiesta|focus|mustang|corsa|astra|clio|zoe|octavia|fabia|enyaq"
    r"|ioniq|leaf|model [3sxy]|id\.\d|mx-5|outback|forester|picanto|panda|twingo|duster|kangoo|beetle|byd|nio|xpeng|zeekr|rivian|lucid"
    r"|丰田|本田|日产|马自达|斯巴鲁|三菱|铃木|雷克萨斯|福特|雪佛兰|别克|凯迪拉克|吉普|特斯拉|大众|奥迪|宝马|奔驰|保时捷|欧宝|斯柯达|菲亚特"
    r"|雷诺|标致|雪铁龙|沃尔沃|现代|起亚|路虎|捷豹|比亚迪|蔚来|理想|小鹏|极氪|极狐|问界|吉利|长城|哈弗|奇瑞|长安|五菱(?:宏光)?|红旗|传祺|荣威|名爵"
    r"|捷达|卡罗拉|凯美瑞|飞度|思域|雅阁|轩逸|朗逸|速腾|帕萨特|高尔夫|途观|宏光|秦|宋|汉|唐|海豚|海鸥)"
    r"(?:[ ]?[A-Za-z]{0,6}[ ]?\d{1,4}\w*)?"
)
"""Makes and models; beside words of driving and buying alone, for some of them mean much else."""

TELEPHONE: Final = r"(?:\+?\(?\d[\d() -]{5,18}\d|尾号\s?\d{3,6})"
EMAIL: Final = r"[A-Za-z0-9_.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"  # \w would take the words before it
STREET: Final = (
    r"\d{1,5}[A-Za-z]?,? (?:(?-i:[A-Z])[\w'.-]+ ){1,4}(?:street|st|road|rd|avenue|ave|lane|ln|court|ct|drive|dr|place|pl|way|close|square|sq"
    r"|boulevard|blvd|terrace|row|crescent|gardens|hill|park|quay|wharf|mews|grove|walk)\b[\w ,'-]*"
)
CHINESE_STREET: Final = r"[^\s，。：:]{2,24}(?:路|街|道|巷|弄|大道|段|胡同|村|里|小区|花园|家园|公寓|大厦|苑)[^，。]{0,8}?\d+[^，。]{0,20}"
TIME_ZONE: Final = (
    r"(?:(?:eastern|central|mountain|pacific|atlantic|greenwich mean|(?-i:[A-Z])[\w-]+(?: (?-i:[A-Z])[\w-]+)?) (?:standard |daylight )?time\b|(?-i:UTC|GMT|CET|EST|PST|CST|JST|BST|EET|MST|IST)"
    r"(?: ?[+-]\d+)?|[^\s，。按用照成为是会课班床觉止付线试]{2,4}时[间区])"
)
MONTHS: Final = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
DAY_OF_YEAR: Final = rf"(?:{MONTHS} (?:the )?\d{{1,2}}(?:st|nd|rd|th)?\b|(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {MONTHS}\b|\d{{1,2}}月\d{{1,2}}[日号]?|农历[^，。]{{2,6}})"
SPOKEN_LANGUAGE: Final = (
    r"(?:english|chinese|mandarin|cantonese|german|french|spanish|italian|japanese|korean|portuguese|russian|dutch|polish|turkish|arabic|hindi"
    r"|bengali|greek|swedish|norwegian|danish|finnish|czech|hungarian|ukrainian|vietnamese|thai|hebrew|persian|latin|catalan|welsh|irish"
    r"|中文|英文|英语|汉语|普通话|粤语|白话|闽南语|上海话|四川话|日语|日文|韩语|韩文|法语|法文|德语|德文|西班牙语|俄语|葡萄牙语|意大利语|阿拉伯语|泰语|越南语"
    r"|简体字?|繁体字?|简体中文|繁体中文|文言文?)"
)
AMOUNT_UNITS: Final = (
    r"(?:metric|imperial|kilomet(?:er|re)s?|miles|pounds|kilos|kilograms|grams|ounces|celsius|fahrenheit|litres|liters|gallons|feet|inches"
    r"|摄氏度?|华氏度?|公里|英里|公斤|千克|磅|盎司|公制|英制|克|斤|厘米|英寸|英尺)"
)
GIVEN_NAME: Final = (
    r"(?:adam|alan|alex|alice|amanda|amy|andrea|andrew|andy|angela|anita|ann|anna|anne|anthony|arthur|barbara|ben|benjamin|beth|bob|brian|carla|carlos|carol|caroline|catherine"
    r"|charles|charlie|chloe|chris|christine|claire|clara|colin|dan|daniel|dave|david|diana|diego|dominic|donna|doug|ed|eddie|elena|eliza|elizabeth|ella|ellen|ellie|emily|emma"
    r"|eric|erik|ethan|eva|evelyn|felix|finn|fiona|frank|fred|gary|george|gina|grace|graham|greg|hannah|harry|hassan|heather|helen|henry|holly|hugo|ian|ines|ingrid|isaac|isabel"
    r"|ivan|jack|jacob|jake|james|jamie|jan|jane|janet|jason|jean|jeff|jen|jenny|jess|jessica|jim|jo|joan|joe|joel|johan|john|johnny|jon|jonas|jordi|jose|joseph|josh|juan|judy"
    r"|julia|julian|julie|karen|karl|kate|katie|keith|ken|kevin|kim|lara|larry|laura|lauren|leah|lena|leo|liam|lily|linda|lisa|louis|louise|lucas|lucy|luke|maria|marie|mark|marta"
    r"|martha|martin|mary|matt|matthew|max|meera|megan|mei|mel|mia|michael|michelle|mike|miriam|mohammed|molly|nadia|nancy|natalie|nathan|neil|nick|nicole|nina|nora|oliver|olivia"
    r"|omar|oscar|pablo|pat|patrick|paul|paula|pedro|pete|peter|phil|philip|priya|rachel|raj|ravi|rebecca|richard|rick|rob|robert|robin|roger|ron|rosa|rose|ruth|ryan|sally|sam"
    r"|samantha|samir|sandra|sara|sarah|scott|sean|simon|sofia|sophie|stefan|stephen|steve|sue|susan|tanya|tara|ted|teresa|theo|thomas|tim|tina|toby|tom|tomas|tony|vera|victor"
    r"|victoria|walter|wendy|will|william|yusuf|zoe)"
)
"""Common names of people, where a place could stand as well: who is home lives nowhere else for that."""

NUMBER_WORD: Final = (
    r"(?:\d{1,3}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?"
    r"|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen)"
)
