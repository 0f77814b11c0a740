"""Values that requests name, whatever is asked: kinds of file, folders, line numbers, phrases."""

from __future__ import annotations

import re
from typing import Any

from .text import CJK, Masked, has_cjk

IMAGES = ["png", "jpg", "jpeg", "gif", "webp", "svg", "bmp"]
_KINDS: list[tuple[str, list[str]]] = [
    (r"\b(?:images?|pictures?|photos?)\b|图片|照片|图像", IMAGES),
    (r"\bmarkdown\b", ["md"]),
    (r"\b(?:spreadsheets?|excel)\b|电子表格", ["xlsx", "xls", "csv", "ods"]),
    (r"\bpython (?:files?|scripts?)\b|python ?(?:文件|脚本)", ["py"]),
    (r"\btext files?\b|文本文件", ["txt"]),
    (r"\b(?:videos?)\b|视频", ["mp4", "mov", "mkv", "webm", "avi"]),
]
_EXT_WORD = re.compile(
    r"(?<![\w.])\.?(csv|tsv|md|txt|pdf|json|ya?ml|py|js|ts|html?|css|xml|log|docx|doc(?!s)|xlsx?|"
    r"pptx?|png|"
    r"jpe?g|gif|svg|zip|sql|sh|toml|ini|rst)(?= ?(?:files?|documents?|文件|文档|表|图|格式|"
    r"数据)|s\b)",
    re.I,
)
_NO_FOLDER = frozenset(
    re.findall(
        r"\S+",
        """
        a all an current different each entire every into its my new one our own per
        same separate sub that the this whole
        """,
    )
)


def exts_in(masked: Masked) -> list[str]:
    found: list[str] = [m.text[1:].lower() for m in masked.of("ext")]
    for m in _EXT_WORD.finditer(masked.text):
        found.append(m.group(1).lower().removesuffix("s") if m.group(1) else "")
    for pattern, exts in _KINDS:
        if re.search(pattern, masked.text, re.I):
            found.extend(exts)
    return list(dict.fromkeys(e for e in found if e))


def folder_in(masked: Masked) -> str | None:
    if folders := masked.of("folder"):
        return folders[0].text.rstrip("/") or "/"
    patterns = (
        r"\b(?:folder|directory|dir) (?:named |"
        r"called )?([A-Za-z][\w\-]*)\b(?! ?(?:structure|tree))",
        r"\b([A-Za-z][\w\-]*) (?:folder|directory|dir)\b",
        rf"\b(?:in|inside|under|from|within) (?:the )?([A-Za-z][\w\-]*)(?= ?[?.!]*$|,|"
        rf" (?:by|for|to|into|and)\b|[{CJK}])",
        r"\b(?:organi[sz]e|tidy(?: up)?|sort|clean up|arrange|group|list|declutter)"
        r" (?:the |my )?([A-Za-z][\w\-]*)(?= (?:by|into)\b| ?[?.!]*$)",
        r"\bshow (?:me )?(?:the |my )?([A-Za-z][\w\-]*)(?= ?[?.!]*$)",
        r"(?:把|将) ?([A-Za-z][\w\-]*) ?(?:整理|收拾|归类|归档|分类|清理)",
        r"(?:整理|收拾|清理)(?:一下|下)? ?([A-Za-z][\w\-]*)(?= ?$|[,.])",
        r"([A-Za-z][\w\-]*) ?(?:目录|文件夹)",
        r"(?:在|把|将|出|下) ?([A-Za-z][\w\-]*) ?(?:里面|里|下面|下|中)",
        r"^([A-Za-z][\w\-]*) ?(?:里面|里|下面|下|中)",
        rf"(?:在|把|将) ?([{CJK}]{{1,12}}?)(?:文件夹|目录)(?:里|下|中)",
    )
    for pattern in patterns:
        for m in re.finditer(pattern, masked.text):
            word = m.group(1)
            if word.lower() not in _NO_FOLDER and word.lower() not in _ORDINARY:
                return word
    return None


_ORDINARY = frozenset(
    re.findall(
        r"\S+",
        """
        about
        all and by chinese clean contents csv detail directories documents down english
        everything file files folder folders full general here images is it items lines
        list ls markdown mind name names note now of on order organise
        organize out pdfs photos pictures place reports scripts short show sort
        structure structured stuff the them there things this tidy to total up what
        which with words workspace
        """,
    )
)


def lines_in(text: str) -> dict[str, int]:
    """Line numbers: "lines 5-12", "the first 20 lines", "第 20 到 40 行", "前 10 行"."""
    m = re.search(
        r"(?:lines?|rows?) (\d+) ?(?:-|to|through|until|and) ?(\d+)"
        r"|第? ?(\d+) ?(?:行)? ?(?:到|至|-|~) ?第? ?(\d+) ?行",
        text,
    )
    if m:
        first, last = (int(g) for g in m.groups() if g)
        first, last = max(1, min(first, last)), max(first, last)
        return {"offset": first, "limit": last - first + 1}
    if m := re.search(r"(?:first|top) (\d+)|前 ?(\d+) ?行", text):
        return {"limit": int(m.group(1) or m.group(2))}
    if m := re.search(r"(?:last|final|bottom) (\d+) (?:lines?|rows?)|最后 ?(\d+) ?行", text):
        return {"last": int(m.group(1) or m.group(2))}
    if re.search(r"\b(?:tail|end) of\b|末尾|结尾", text):
        return {"last": 10}
    if re.search(r"\b(?:head|beginning|start) of\b|开头", text):
        return {"limit": 10}
    if m := re.search(r"\bline (\d+)\b|第 ?(\d+) ?行", text):
        return {"offset": int(m.group(1) or m.group(2)), "limit": 1}
    return {}


def clean(text: str) -> str:
    """A phrase without what politeness and grammar put around it."""
    text = text.strip(" \t\n?!.,;:'\"“”。？！，；：、")
    before = None
    while before != text:
        before = text
        text = re.sub(
            r"^(?:the|a|an|my|our|your|any|all|some|me|for|of|about|on|word|words|phrase|"
            r"term|text|"
            r"file|files|document|documents|named|called|mentions? of|occurrences? of|"
            r"please|us)\s+",
            "",
            text,
            flags=re.I,
        )
        text = re.sub(
            r"\s+(?:please|pls|thanks|for me|anywhere|now|file|files|document|documents|folder|"
            r"spreadsheet|something|somewhere|in (?:here|it|there)|here|again)$",
            "",
            text,
            flags=re.I,
        )
        if has_cjk(text):
            text = re.sub(
                r"^(?:一下|一份|一个|关于|我的|那个|这个|有|的|下|个|份|了|叫做|叫|名为)", "", text
            )
            text = re.sub(
                r"(?:的?文件|的?文档|的?内容|的?笔记|这个词|这几个字|两个字|几个字|字样|吗|"
                r"呢|吧|了|啊|的|"
                r"是怎么说|在|里|表)$",
                "",
                text,
            )
        text = text.strip(" \t\n?!.,;:'\"“”。？！，；：、")
    return text


def first_of(masked: Masked, patterns: tuple[str, ...]) -> str | None:
    for pattern in patterns:
        if (m := re.search(pattern, masked.text, re.I | re.S)) and m.group(1):
            value = clean(masked.unmask(*m.span(1)))
            if value:
                return value
    return None


_QUERY = (
    r"\b(?:search(?:ing)?|grep|look)\b[^\ue000]*?\bfor (?:the (?:word|phrase|text|term) )?(.+?)"
    r"(?: (?:in|inside|within|across|through) (?:all|the|my|our|any|every|\w*\s?files?|"
    r"[\ue000-\ue003]).*)?$",
    r"\bgrep (?:for )?(.+?)(?: (?:in|inside|within) .*)?$",
    r"\b(?:mentions?|mentioned|mentioning|contains?|containing|talks? about|says? about|"
    r"refers? to)"
    r" (?:of |the |a |an |any )*(.+?)(?: (?:in|inside|within|with) .*)?$",
    r"\b(?:with|that (?:have|match))\b (?:the )?(.+?)(?: (?:in|inside|within) .*)?$",
    r"\bwhere (?:is|are|was) (.+?) (?:mentioned|named|used|written)",
    r"\bsay (.+?)$",
    r"\b(?:anything|something|info(?:rmation)?|details?) (?:about|on|regarding) (.+?)"
    r"(?: (?:in|inside|within) .*)?$",
    r"(?:有没有|有无|是否|是不是)(?:写了?|提到?|说|规定|讲|包含|含有)(.+?)$",
    r"\bfind (?:all |every )?(?:mentions? of |occurrences? of )?(.+?)(?: (?:in|inside|"
    r"within) .*)?$",
    r"\bhow (?:often|many times) (?:is|are|does|do|did) (?:the word |the phrase )?(.+?)"
    r"(?: (?:appear|occur|come|mentioned|used|show)s?\b.*| (?:in|inside) .*)$",
    r"\b(?:occurrences?|instances?|mentions) of (.+?)(?: (?:in|inside|within) .*)?$",
    r"(?:提到了?|提及|谈到|谈及|说到|包含了?|含有|写了|写着)(.+?)(?:的(?:行|文件|内容|文档|"
    r"地方).*|这个词.*)?$",
    r"关于(.+?)(?:的|是|怎么|如何)",
    r"(?:搜索|搜一下|搜一搜|搜下|检索|查找|查一下|grep ?一?下?|找一下|找|"
    r"搜)(.+?)(?:这个词.*|的(?:行|内容).*)?$",
    r"(?:数一数|数一下|统计一下|统计|^)(.+?)(?:在[^在]*里)?(?:被|出现|提到)",
    r"里(.+?)(?:出现|的次数)",
)


COUNT_QUERY = (
    r"\bhow (?:often|many times) (?:is|are|does|do|did|has|have) (?:the (?:word|name|"
    r"phrase) )?(.+?)"
    r" (?:appear|occur|come|comes|mentioned|named|used|show)\w*\b",
    r"[\ue000\ue003A-Za-z] ?里面?(.+?)(?:这个词)?(?:一共)?(?:出现|被提到|的次数)",
    r"^(?:请|麻烦)?(?:数一数|数一下|统计一下|统计)?(?:在[^在]+?里面?)?(.+?)(?:这个词)?(?:一共)?(?:被提到|"
    r"出现|被提及|提到)",
)


def query_in(masked: Masked) -> str | None:
    if quotes := masked.of("quote"):
        return quotes[0].text
    return first_of(masked, _QUERY)


def scope_in(masked: Masked) -> dict[str, Any]:
    """Where to look: a file, a glob, extensions, a folder."""
    out: dict[str, Any] = {}
    if files := masked.of("file"):
        out["file"] = files[0].text
    if globs := masked.of("glob"):
        out["glob"] = globs[0].text
    if exts := exts_in(masked):
        out["exts"] = exts
    if folder := folder_in(masked):
        out["path"] = folder
    return out
