"""What the Guide's rules know of words: patterns with weights, per intent and language.

Patterns see lower-case masked text (``text.mask``): F a file, G a glob, Q a quotation, D a folder
path, X an extension such as ``.md``. Weights add up; the highest sum wins.
"""

from __future__ import annotations

import re

from .text import EXT, FILE, FOLDER, GLOB, QUOTE, Lang

INTENTS = (
    "list",
    "find",
    "search",
    "read",
    "count",
    "compare",
    "summarise",
    "write",
    "rename",
    "organise",
    "plan",
    "explain",
)

_PLACES = {"F": FILE, "G": GLOB, "Q": QUOTE, "D": FOLDER, "X": EXT}
_THING = (
    r"(?:files?|documents?|docs?|folders?|director(?:y|ies)|spreadsheets?|presentations?|slides?|"
    r"images?|pictures?|photos?|pdfs?|notes?|reports?|csvs?|tables?|scripts?|everything|stuff|"
    r"items?|things)"
)
_HERE = r"(?:here|in (?:this|the|my|our) (?:folder|directory|workspace|project))"
_ZTHING = r"(?:文件|文档|资料|内容|东西|图片|照片|表格|脚本|目录|文件夹|笔记|报告|数据)"

_EN: dict[str, list[tuple[int, str]]] = {
    "list": [
        (3, r"\b(?:list|ls|dir)\b"),
        (3, rf"\blist(?:ing)?\b.*\b{_THING}\b|^ls\b|\bdirectory listing\b"),
        (4, r"\b(?:show|see|display|give|view)\b.*\b(?:all|every|everything)\b(?!.*[FQ])"),
        (
            4,
            rf"\b(?:what|which)\b(?: \w+)? {_THING}\b"
            r"(?! (?:mention|contain|talk|say|named|called))",
        ),
        (4, rf"\bwhat\b(?:'s| is| do we have| have we(?: got)?| do i have).*\b{_HERE}"),
        (4, r"\bcontents? of (?:D|the|this|my)(?! \w*F)"),
        (4, r"\b(?:folder|directory) (?:structure|tree)\b|\bfile (?:list|tree)\b"),
        (6, rf"\boverview of (?:all |the |our |my |every )*{_THING}"),
        (4, r"\b(?:show|display|view)\b[^FQ]*G"),
        (3, rf"\b(?:show|tell)\b.*\b{_THING}\b(?!.*[FQ])"),
        (8, r"\b(?:open|show|view|look (?:in|into|inside))\b[^FQ]*\b(?:folder|directory)\b"),
        (8, r"\bwhat(?:'s| is) this (?:folder|directory|workspace|project)\b"),
    ],
    "find": [
        (3, r"\b(?:find|locate|where(?:'s|s| is| are| did| was| can)|looking for|look for)\b"),
        (3, rf"\b(?:find|locate|look(?:ing)? for|where)\b[^Q]*\b{_THING}\b"),
        (3, r"\b(?:find|locate|look(?:ing)? for|where(?:'s|s| is)?)\b[^Q]*[FG]"),
        (4, r"\b(?:named|called)\b(?=.*)(?<!be called)(?<!be named)"),
        (7, r"\bin (?:its|the|their|his|a) (?:file ?)?names?\b|\bfile ?names?\b"),
        (4, rf"\b(?:is|are) there\b.*\b(?:a|any|some) \w*\s?{_THING}"),
        (4, rf"\bdo (?:we|i|you) have\b.*\b(?:a|any|an|some|my) {_THING}"),
        (
            4,
            r"\b(?:can't|cannot|can not|couldn't) find\b|\bwhich file is (?:that|it|called|"
            r"named)",
        ),
        (2, rf"\bany {_THING}\b"),
    ],
    "search": [
        (7, r"\bgrep\b"),
        (4, r"\bsearch(?:ing)?\b"),
        (5, r"\bmention(?:s|ed|ing)?\b"),
        (5, r"\bcontain(?:s|ing)?\b(?!.*\bfolder\b)"),
        (5, r"\b(?:talks?|says?|writes?|speaks?) (?:\w+ )?about\b|\brefers? to\b"),
        (4, r"\b(?:find|look(?:ing)? (?:for|through)|where)\b.*Q"),
        (4, r"\b(?:find|look for|where)\b.*\b(?:word|phrase|text|term|string)s?\b"),
        (6, r"\b(?:anything|something|info(?:rmation)?|details?) (?:about|on|regarding)\b"),
        (4, r"\b(?:phrase|term|string)\b|\bthe words? Q"),
        (5, r"\blines? (?:with|containing|that (?:contain|have|match)|matching)\b"),
        (
            6,
            r"\bwhere (?:does|do|did) (?:it|they|the|we)\b.*\bsay\b|"
            r"\bwhere is \w[\w ]* mentioned",
        ),
    ],
    "read": [
        (5, r"\b(?:read|cat|open|print|display|view|show|see|type)\b[^Q]*F"),
        (4, r"\b(?:read|open)\b"),
        (4, rf"\b(?:show|display|view|print) (?:me )?(?:the|my) (?!{_THING}\b)\w+$"),
        (4, r"\b(?:show|display|view|print) (?:me )?(?:the|my) (?:image|picture|photo)$"),
        (5, r"\blook at\b|\ba look at\b"),
        (6, r"\bwhat (?:does|do)\b.*F.*\b(?:say|contain|hold)\b"),
        (6, r"\bwhat(?:'s| is) (?:in|inside|written in)\b.*F"),
        (6, r"\bcontents? of\b.*F"),
        (4, r"\b(?:first|last|top) \d+ (?:lines?|rows?)\b"),
        (4, r"\blines? \d+\b"),
        (5, r"\b(?:tail|head|end|beginning|start) of\b"),
    ],
    "count": [
        (9, r"\bhow (?:many|much|often)\b"),
        (7, r"\b(?:number|total|amount) of\b"),
        (7, r"\bcount(?:s|ing)?\b|\bhow long is\b"),
        (4, r"\bwc\b"),
    ],
    "compare": [
        (9, r"\b(?:compare|comparing|comparison|diff|contrast)\b"),
        (8, r"\bdifferences?\b|\bdiffers?\b|\bdifferent\b"),
        (8, r"\bchanged? between\b|\bside by side\b"),
        (8, r"\b(?:same|identical|equal)\b"),
        (8, r"F (?:vs|versus)\b"),
    ],
    "summarise": [
        (9, r"\b(?:summar(?:y|ies|i[sz]e|i[sz]ing)|tl;? ?dr|gist|takeaways?|condense|nutshell)\b"),
        (8, r"\b(?:key|main|important|central) (?:points?|ideas?|facts?|messages?|takeaways?)\b"),
        (8, r"\bsum\b.*\bup\b|\bboil\b.*\bdown\b|\bshorten\b"),
        (8, r"\bwhat(?:'s| is)\b.*[FQ].*\babout\b"),
        (7, r"\b(?:overview|outline) (?:of|for) [^F]*F|\bbrief\b.*\bof\b"),
    ],
    "write": [
        (
            8,
            r"\b(?:create|make|write|draft|prepare|compose|generate|start|add)\b(?: \w+){0,4} "
            r"(?:file|note|document|report|page|memo|letter|entry)\b",
        ),
        (8, r"\b(?:create|make|write|draft|generate|touch)\b[^Q]{0,40}F"),
        (6, r"\b(?:write|create)\b"),
        (8, r"\bnew (?:file|note|document)\b"),
        (7, r"\b(?:save|store)\b"),
        (5, r"\b(?:save|store)\b.*\b(?:to|as|in|into|under)\b[^F]{0,20}F"),
        (8, r"\b(?:jot|note|write|put) (?:\w+ )?down\b|\bjot\b|\bmake a note\b|\btake a note\b"),
        (8, r"\b(?:append|add|put|insert|write)\b.*\b(?:to|into|in|onto)\b[^F]*F"),
        (5, r"\bi need a (?:new )?(?:document|file|note|report)\b"),
        (3, r"\b(?:saying|containing|that says|with the (?:text|content))\b"),
    ],
    "rename": [
        (15, r"\brenam(?:e|es|ed|ing)\b"),
        (15, r"\bmv F F|\bchange (?:the )?(?:file ?)?names?\b|\bchange the extension\b"),
        (12, r"F (?:should|could|can|must|shall|would|to) (?:\w+ )?be (?:called|named)\b"),
        (12, r"\b(?:should|could|can|must|shall) F (?:\w+ )?be (?:called|named)\b"),
        (12, r"\b(?:call|name) (?:the file )?F (?:as |to )?F"),
        (14, r"\bgive F (?:a|the) (?:new )?name\b"),
        (14, r"\bmove (?:the file )?F (?:to|into)\b"),
        (12, r"X\b.*\b(?:become|into|to) X|X (?:files? )?(?:should |to )?become X"),
    ],
    "organise": [
        (12, r"\b(?:organi[sz](?:e|es|ing)|tidy|declutter|categori[sz]e)\b"),
        (
            9,
            r"\b(?:sort|group|arrange|split|file|put)\b.*\b(?:by|into|in|per)\b.*\b"
            r"(?:type|kind|extension|date|month|year|category|(?:sub)?folders?|director(?:y|"
            r"ies))\b",
        ),
        (9, r"\b(?:clean|tidy) ?up\b|\bgroup\b|\barrange\b"),
        (10, r"\bmove\b.*\b(?:into|to|in)\b.*\b(?:folders?|director(?:y|ies))\b"),
        (5, r"\bmess(?:y)?\b"),
        (14, r"\b(?:create|make|add|new)\b(?: \w+){0,3} (?:folder|directory) (?:called|named)\b"),
        (5, r"\b(?:folder|directory) (?:per|for each|for every)\b"),
    ],
    "explain": [
        (12, r"^(?:please )?help(?: me)?(?: please)?\W*$|^\?+$"),
        (14, r"\bwhat (?:\w+ )?(?:can|could|do|does) (?:you|u|it|this)\b.*\bdo\b|\bable to do\b"),
        (14, r"\bwho (?:are|r) (?:you|u)\b|\bwhat are you\b|\byour name\b|\byou called\b"),
        (
            14,
            r"\bare (?:you|u)\b.*\b(?:ai|a\.i|bot|robot|human|real|intelligent|model|llm)\b",
        ),
        (12, r"\bhow (?:do|does|can|should|to)\b.*\b(?:use|work|works)\b"),
        (10, r"\bexamples?\b|\bwhat commands?\b|\bcommands do\b"),
        (14, r"\bwhat (?:sort|kind|kinds|type|types|sorts) of (?:requests?|things?|questions?)\b"),
        (10, r"\b(?:you|u) (?:understand|support|know)\b"),
        (
            12,
            r"^(?:hello|hi|hey|good (?:morning|evening|afternoon)|thanks|thank you)\b[^FQ]{0,16}$",
        ),
    ],
}

_ZH: dict[str, list[tuple[int, str]]] = {
    "list": [
        (5, r"列出|列一下|列下|列一列|列表|清单|\bls\b"),
        (3, rf"列[^FQ]*{_ZTHING}"),
        (5, rf"(?:显示|看看|展示)[^FQ]*(?:所有|全部|一切|G|{_ZTHING}(?<!的内容))(?!.*[FQ])"),
        (9, r"(?:打开|看看|查看|显示|看)[^FQ]*(?:文件夹|目录)(?:里|的|$)"),
        (8, r"这个?(?:文件夹|目录|工作区|项目)是(?:干|做|关于)"),
        (
            5,
            rf"(?:有|是)(?:哪些|什么|些什么|啥){_ZTHING}?(?!.*(?:功能|区别|不同|差|"
            rf"要点))(?<!F里有什么)",
        ),
        (4, rf"(?:包含|包括|存着|放着)(?:了)?(?:哪些|什么|啥){_ZTHING}?"),
        (4, r"(?:这里|这里面|这儿|文件夹里|目录下|目录里)[^FQ]*(?:什么|啥|哪些)"),
        (5, r"(?:目录|文件夹)(?:结构|树)"),
        (5, r"D ?(?:里|下|中|里面)?的?(?:内容|东西)"),
        (4, rf"(?:哪些|什么){_ZTHING}(?!.*(?:提到|包含|含有|写|谈|说))"),
    ],
    "find": [
        (3, r"找到|找一下|找一找|找下|找出|找|查找|定位|寻找"),
        (5, r"(?:在|放|去)(?:了)?(?:哪|哪儿|哪里|什么地方)"),
        (6, r"文件名|名字里|名称|名为|名字(?:是|叫)|叫(?:做)?[^FQ]{0,8}的文件|文件叫"),
        (5, r"(?:有没有|有无|是否有|是不是有)[^提说写谈]*(?:文件|文档|笔记|表|叫)"),
        (4, rf"(?:找|查找|定位)[^Q]*(?:{_ZTHING}|F|G)"),
        (6, r"(?:哪个|哪份|哪一个)(?:文件|文档)"),
        (3, r"(?:图片|照片)[^数]*吗"),
    ],
    "search": [
        (8, r"\bgrep\b|全文|检索"),
        (6, r"搜索|搜一下|搜一搜|搜下|搜"),
        (7, r"提到|提及|谈到|谈及|说到|出现在"),
        (6, r"(?:哪些|哪个|哪份|有没有|所有)[^名]*(?:包含|含有|含)(?!哪|什么|啥)"),
        (6, r"(?:包含|含有|含)[^名]*(?:的行|行)"),
        (5, r"(?:找|查找|搜)[^名]*Q"),
        (5, r"(?:这个词|这几个字|两个字|几个字|字样|关键词)"),
        (7, r"哪里(?:写|有写|说|提)|哪儿(?:写|说|提)"),
        (6, r"关于.+?(?:怎么|如何)(?:说|写|讲|规定)"),
        (6, r"(?:有没有|有无|是否|是不是)(?:写|提|说|规定|讲|包含|含有)"),
        (5, r"(?:的行|那些行)"),
    ],
    "read": [
        (5, r"(?:读|打开|看|显示|查看|念|瞧|展示|\bcat\b|\bopen\b|\bread\b)[^Q]*F"),
        (5, r"F[^Q]*(?:念|给我看|看看|打开|读)"),
        (4, r"读取|读一下|读一读|打开|查看|读"),
        (7, r"F ?(?:里|里面|中|里头)?(?:写的|写了|说了|都写|都说|有)(?:是)?(?:什么|啥)"),
        (5, r"F ?的内容"),
        (6, r"(?:看看|看一下|查看|显示|打开)(?!.*(?:文件夹|目录|工作区|这里))[^FQ]+的内容"),
        (5, r"前 ?\d+ ?行|第 ?\d+ ?(?:到|至|-|~) ?(?:第 ?)?\d+ ?行|第 ?\d+ ?行|最后 ?\d+ ?行"),
    ],
    "count": [
        (11, r"多少|几个|几张|几份|几行|几次|几回|多少次|几种"),
        (9, r"统计|数一下|数一数|数数|数下|计数|计算|算一下"),
        (8, r"行数|字数|次数|个数|数量|词数|总数"),
        (4, r"^数"),
    ],
    "compare": [
        (11, r"比较|对比|比一比|比对|对照|\bdiff\b|\bcompare\b"),
        (10, r"区别|差异|不同|差别|不一样"),
        (9, r"一样|相同|一致"),
        (9, r"F ?(?:和|跟|与|到) ?F[^F]*(?:改|变)(?:了|动|化)"),
    ],
    "summarise": [
        (11, r"总结|概括|摘要|概述|归纳|提炼|浓缩|概要|综述"),
        (10, r"大意|要点|重点|中心思想|核心内容|主旨|主要内容|关键点"),
        (9, r"F[^F]*(?:讲了|讲的|说了|说的|关于)(?:些|是)?(?:什么|啥)"),
    ],
    "write": [
        (10, r"创建|新建|建立|建个|建一个|新增|起草|撰写|生成"),
        (9, r"写入|写到|写进|写一份|写一个|写个|写一篇|写份|写下"),
        (9, r"保存|存成|存为|存到|存进|另存|储存"),
        (10, r"追加|加一行|加入|添加|加上|加到"),
        (10, r"记下|记一下|记个|记录下|做个笔记|记到|记笔记|记住"),
        (6, r"(?:写|存|记|保存)(?:到|入|进|成|为|在)[^F]{0,4}F"),
        (6, r"我需要一份|我要一份|需要一个"),
        (3, r"内容(?:是|为|:)"),
        (2, r"写"),
    ],
    "rename": [
        (18, r"重命名|改名|更名|改叫|\brename\b|\bmv F F"),
        (16, r"名字[^F]*(?:改|换)|(?:改|换)(?:个|成|一个)?名字?|改个名"),
        (14, r"F[^F]*(?:以后|今后|从现在起)?[^F]*就?叫(?:做)? ?F"),
        (16, r"F ?(?:移|挪|搬|放)(?:动)?(?:到|进)"),
        (14, r"X[^X]*(?:改|变|换)(?:成|为) ?X|(?:后缀|扩展名)[^。]*(?:改|换)"),
    ],
    "organise": [
        (14, r"(?:新建|创建|建立|建)(?:一个|个)?[^F]{0,6}(?:文件夹|目录)(?:叫|名为|,)"),
        (13, r"整理|收拾|归类|归档|分类|分组|归到|归置|分门别类"),
        (10, r"按(?:照)?(?:类型|日期|月份|时间|后缀|扩展名|种类|年份)"),
        (12, r"(?:移|放|挪|分|搬)[^F]*(?:文件夹|目录)"),
        (9, r"清理|太乱|分分类|每个月"),
    ],
    "explain": [
        (14, r"^(?:请)?(?:帮助|帮帮我|帮我|救命)\W*$"),
        (14, r"你(?:能|会|可以)(?:做|干|帮)(?:些|我做)?(?:什么|啥|哪些)"),
        (14, r"你(?:是|叫)(?:谁|什么|啥)|你的名字"),
        (15, r"你?是(?:真的|不是|一个|个)?[^F]*(?:ai|人工智能|机器人|真人|智能|大模型)"),
        (13, r"怎么(?:用|使用)|如何使用|使用方法|用法"),
        (13, r"(?:有|会)(?:什么|哪些)(?:功能|命令|本事|能力)|(?:听懂|理解|支持)"),
        (12, r"例子|示例|举例"),
        (12, r"^(?:你好|您好|嗨|哈喽|hello|hi|早上好|晚上好|谢谢)[^FQ]{0,6}$"),
    ],
}


def _compile(table: dict[str, list[tuple[int, str]]]) -> list[tuple[str, int, re.Pattern[str]]]:
    def places(pattern: str) -> str:
        return re.sub(
            r"(?<![A-Za-z\\])[FGQDX](?![A-Za-z])|(?<=\[)[FGQDX]+(?=\])|"
            r"(?<=\[\^)[FGQDX]+(?=\])",
            lambda m: "".join(_PLACES[c] for c in m.group()),
            pattern,
        )

    return [
        (intent, weight, re.compile(places(pattern)))
        for intent, rules in table.items()
        for weight, pattern in rules
    ]


_cache: dict[Lang, list[tuple[str, int, re.Pattern[str]]]] = {}


def rules(lang: Lang) -> list[tuple[str, int, re.Pattern[str]]]:
    """(intent, weight, pattern) of a language; compiled when first asked."""
    if lang not in _cache:
        _cache[lang] = _compile(_EN if lang == "en" else _ZH)
    return _cache[lang]


VOCABULARY = frozenset(
    re.findall(
        r"\S+",
        """
    list show display view print open read find locate search looking grep mention mentions contain
    contains containing count number words lines files file folder folders directory documents
    compare difference differences differs identical between summarise summarize summary overview
    condense create make write draft save store append note rename change organise organize tidy
    sort group arrange clean move type date extension month help what which where many often times
    everything contents document notes report images
    """,
    )
)
