"""Cutting slots out of a request's own words. See ``intents.Request`` for what they mean."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from .text import CJK, FILE, FOLDER, QUOTE, Masked, has_cjk

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
    r"(?<![\w.])\.?(csv|tsv|md|txt|pdf|json|ya?ml|py|js|ts|html?|css|xml|log|docx?|xlsx?|"
    r"pptx?|png|"
    r"jpe?g|gif|svg|zip|sql|sh|toml|ini|rst)(?= ?(?:files?|documents?|文件|文档|表|图|格式|"
    r"数据)|s\b)",
    re.I,
)
_REFERS = re.compile(
    r"\b(?:it|that|them|those|the results?|the findings|the summary|the numbers|the differences|"
    r"what you (?:find|found))\b|它|其中|结果|总结写|摘要保存|把总结|把摘要|把数字|差异保存|"
    r"把差异|存成|存到|保存到"
)
_NO_FOLDER = frozenset(
    {"this", "the", "my", "our", "a", "an", "its", "own", "same", "current", "separate", "new",
     "sub", "each", "every", "per", "into", "that", "whole", "entire", "one", "different", "all"}
)  # fmt: skip


def _exts(masked: Masked) -> list[str]:
    found: list[str] = [m.text[1:].lower() for m in masked.of("ext")]
    for m in _EXT_WORD.finditer(masked.text):
        found.append(m.group(1).lower().removesuffix("s") if m.group(1) else "")
    for pattern, exts in _KINDS:
        if re.search(pattern, masked.text, re.I):
            found.extend(exts)
    return list(dict.fromkeys(e for e in found if e))


def _folder(masked: Masked) -> str | None:
    if folders := masked.of("folder"):
        return folders[0].text.rstrip("/") or "/"
    patterns = (
        r"\b(?:folder|directory|dir) (?:named |"
        r"called )?([A-Za-z][\w\-]*)\b(?! ?(?:structure|tree))",
        r"\b([A-Za-z][\w\-]*) (?:folder|directory|dir)\b",
        rf"\b(?:in|inside|under|from|within) (?:the )?([A-Za-z][\w\-]*)(?= ?[?.!]*$|,|"
        rf" (?:by|for|to|into|and)\b|[{CJK}])",
        r"([A-Za-z][\w\-]*) ?(?:目录|文件夹)",
        r"(?:在|把|将|出|下) ?([A-Za-z][\w\-]*) ?(?:里面|里|下面|下|中)",
        rf"(?:在|把|将) ?([{CJK}]{{1,12}}?)(?:文件夹|目录)(?:里|下|中)",
    )
    for pattern in patterns:
        for m in re.finditer(pattern, masked.text):
            word = m.group(1)
            if word.lower() not in _NO_FOLDER and word.lower() not in _ORDINARY:
                return word
    return None


_ORDINARY = frozenset(
    {"here", "there", "total", "name", "names", "files", "file", "folder", "notes", "note", "docs_",
     "logs", "detail", "order", "short", "it", "them", "general", "contents", "everything", "lines",
     "structure", "workspace", "csv", "now", "on", "is", "of", "by", "the", "what", "which", "full",
     "english", "chinese", "list", "show", "ls", "tidy", "this", "organise", "organize", "words",
     "structured", "markdown", "place", "mind", "and", "to", "with", "clean", "sort"}
)  # fmt: skip


def _range(text: str) -> dict[str, int]:
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
    if m := re.search(r"\bline (\d+)\b|第 ?(\d+) ?行", text):
        return {"offset": int(m.group(1) or m.group(2)), "limit": 1}
    return {}


def _clean(text: str) -> str:
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


def _first(masked: Masked, patterns: tuple[str, ...]) -> str | None:
    for pattern in patterns:
        if (m := re.search(pattern, masked.text, re.I | re.S)) and m.group(1):
            value = _clean(masked.unmask(*m.span(1)))
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


_COUNT_QUERY = (
    r"\bhow (?:often|many times) (?:is|are|does|do|did|has|have) (?:the (?:word|name|"
    r"phrase) )?(.+?)"
    r" (?:appear|occur|come|comes|mentioned|named|used|show)\w*\b",
    r"[\ue000\ue003A-Za-z] ?里面?(.+?)(?:这个词)?(?:一共)?(?:出现|被提到|的次数)",
    r"^(?:请|麻烦)?(?:数一数|数一下|统计一下|统计)?(?:在[^在]+?里面?)?(.+?)(?:这个词)?(?:一共)?(?:被提到|"
    r"出现|被提及|提到)",
)


def _query(masked: Masked) -> str | None:
    if quotes := masked.of("quote"):
        return quotes[0].text
    return _first(masked, _QUERY)


def _scope(masked: Masked) -> dict[str, Any]:
    """Where to look: a file, a glob, extensions, a folder."""
    out: dict[str, Any] = {}
    if files := masked.of("file"):
        out["file"] = files[0].text
    if globs := masked.of("glob"):
        out["glob"] = globs[0].text
    if exts := _exts(masked):
        out["exts"] = exts
    if folder := _folder(masked):
        out["path"] = folder
    return out


def _list(masked: Masked) -> dict[str, Any]:
    scope = _scope(masked)
    scope.pop("file", None)
    if re.search(
        r"\b(?:folders|directories|sub-?folders)\b|列文件夹|哪些(?:文件夹|目录)", masked.text
    ):
        scope["what"] = "folders"
    return scope


def _find(masked: Masked) -> dict[str, Any]:
    scope = _scope(masked)
    out: dict[str, Any] = {k: v for k, v in scope.items() if k in ("path", "exts")}
    if name := [*masked.of("file"), *masked.of("glob"), *masked.of("quote")]:
        out["name"] = name[0].text
    else:
        found = _first(
            masked,
            (
                r"\b(?:named|called) (.+?)(?: in .*)?$",
                r"\bwith (.+?) in (?:its|the|their) names?",
                r"\b(?:notes?|files?|documents?|anything) (?:on|about) (.+?)(?:[,?.]|$)",
                r"\bwhere (?:did|do|have) (?:i|we) (?:put|keep|save|leave) (.+?)$",
                r"\b(?:find|locate|where(?:'s|s| is| are)|look(?:ing)? for) (.+?)(?: in .*)?$",
                r"文件名(?:里|中)?(?:有|含|带|是|为)?(.+?)(?:的文件)?$",
                r"(?:名字|名称)(?:里|中)?(?:含|带|有|是|为|叫)(.+?)的",
                r"(?:名为|叫做|叫)(.+?)(?:的|$|吗)",
                r"关于(.+?)的",
                r"把(.+?)(?:放|存|搁)",
                r"(?:找到|找一下|找一找|找下|找出|查找|寻找|定位|找)(.+?)(?:在|$)",
                r"^(?:请问)?(.+?)(?:放|存)?在(?:哪|什么)",
            ),
        )
        if found and not (out.get("exts") and _only_kind(found)):
            out["name"] = found
    return out


def _only_kind(text: str) -> bool:
    return (
        re.fullmatch(r"(?:所有|全部)?(?:images?|pictures?|photos?|图片|照片|\w{2,5})", text)
        is not None
    )


def _search(masked: Masked) -> dict[str, Any]:
    out = _scope(masked)
    if query := _query(masked):
        out["query"] = query
    if out.get("path") == out.get("query"):
        out.pop("path", None)
    return out


def _target(masked: Masked) -> str | None:
    """A file by description, when no file name stands there: "the contract", "合同"."""
    return _first(
        masked,
        (
            r"\b(?:read|open|show|display|view|print|cat|summari[sz]e|condense|shorten|sum up) "
            r"(?:me )?(?:the |my |our )?(.+?)(?: (?:in|to|into) .*)?$",
            r"\b(?:look at|summary of|gist of|points (?:of|in|from)|takeaways from|overview of)"
            r" (?:the |all the |all )?(.+?)$",
            r"(?:读取|读一下|读一读|打开|查看|看一下|看看|念一下|概括一下|概括下|概括|"
            r"总结一下|总结下|总结|归纳一下|归纳|"
            r"提炼|浓缩|读|看)(.+?)(?:的(?:要点|重点|内容|大意))?$",
            r"^(.+?)(?:的(?:要点|重点|大意|摘要|核心内容|主要内容))",
        ),
    )


def _read(masked: Masked) -> dict[str, Any]:
    out: dict[str, Any] = _range(masked.text)
    if named := [*masked.of("file"), *masked.of("quote")]:
        out["file"] = named[0].text
    elif target := _target(masked):
        out["file"] = target
    return out


def _count(masked: Masked) -> dict[str, Any]:
    out = _scope(masked)
    text = masked.text
    if re.search(
        r"\b(?:how often|times|occurrences?|instances?|mentions)\b|出现|次数|几次|几回|"
        r"多少[次回]|提到",
        text,
    ):
        out["what"] = "occurrences"
        quoted = masked.of("quote")
        if query := quoted[0].text if quoted else _first(masked, _COUNT_QUERY) or _query(masked):
            out["query"] = query
    elif re.search(
        r"\b(?:words?|characters?|chars)\b|字数|词数|多少字|几个字|多少个?字|多少个?词", text
    ):
        out["what"] = "words"
    elif re.search(r"\b(?:lines?|rows?|records|entries|long)\b|行数|多少行|几行|多长|条", text):
        out["what"] = "lines"
    else:
        out["what"] = "files"
    return out


def _compare(masked: Masked) -> dict[str, Any]:
    names = [m.text for m in masked.mentions if m.kind in ("file", "quote")]
    if len(names) >= 2:
        return {"files": names[:2]}
    m = re.search(
        r"\b(?:compare|between|contrast) (?:the )?(.+?) (?:and|with|to|against) (?:the )?(.+?)$"
        r"|(?:比较|对比)(?:一下)?(.+?)(?:和|与|跟)(.+?)(?:的(?:区别|差异|不同).*)?$",
        masked.text,
    )
    out: dict[str, Any] = {"files": names}
    if m:
        found = [i for i in range(1, 5) if m.group(i)]
        out["files"] = [_clean(masked.unmask(*m.span(i))) for i in found]
    elif what := _first(
        masked,
        (r"\b(?:two|both) (.+?)$", r"(?:两份|两个|这两个|两篇)(.+?)(?:的|$)"),
    ):
        out["name"] = what
    return out


def _summarise(masked: Masked) -> dict[str, Any]:
    out = _scope(masked)
    if "file" not in out and (quotes := masked.of("quote")):
        out["file"] = quotes[0].text
    every = re.search(r"\ball\b|\bevery\b|所有|全部", masked.text)
    if every and "file" not in out:
        out["all"] = True
    if "file" not in out and (target := _target(masked)):
        out["file"] = target
    return out


def _after_content_cue(masked: Masked) -> str | None:
    m = re.search(
        r"(?:\b(?:that says|saying|containing|with the (?:text|content|words?)|which says|"
        r"reading)\b|"
        r"\bwith(?= [^\ue000]*$)|"
        r"内容(?:是|为)?|写上|写着|里面写)\s*[::]?\s*(.+)$|:\s*(.+)$|\b(?:down|note) that (.+)$",
        masked.text,
        re.S | re.I,
    )
    if not m:
        return None
    group = next((i for i in (1, 2, 3) if m.group(i)), 0)
    if not group:
        return None
    start = m.start(group)
    # the original wording, to the end of the message, line breaks and all
    number = sum("\ue000" <= c <= "\ue004" for c in masked.text[:start])
    shift = sum(m.end - m.start - 1 for m in masked.mentions[:number])
    return masked.source[start + shift :].strip().rstrip("。") or None


def _write(masked: Masked) -> dict[str, Any]:
    out: dict[str, Any] = {}
    files = masked.of("file")
    if files:
        out["file"] = files[-1].text if len(files) > 1 else files[0].text
        out["others"] = [m.text for m in files if m.text != out["file"]]
    if quotes := masked.of("quote"):
        out["content"] = quotes[0].text
        if len(quotes) > 1 and not files:
            out["name"] = quotes[1].text
    elif content := _after_content_cue(masked):
        out["content"] = content
    if re.search(
        r"\b(?:append|add|jot)\b|追加|加一行|加入|添加|加上|加到|记一下|记到", masked.text, re.I
    ):
        out["append"] = True
    topic = _first(
        masked,
        (
            r"\b(?:report|note|document|summary|page|memo) (?:about|on|of) (.+?)"
            r"(?: (?:to|into|in|as|and) .*)?$",
            r"\blisting (?:the points? )?(.+)$",
            r"关于(.+?)的",
            r"列出(.+?)$",
        ),
    )
    if topic and FILE not in topic and "content" not in out:
        out["topic"] = topic
    if masked.of("quote") == [] and "content" not in out:
        text = masked.text
        if re.search(r"\b(?:summary|summarise|summarize)\b|总结|摘要", text):
            out["kind"] = "summary"
        elif re.search(
            r"\blist(?:ing)?\b.*\b(?:all |the )*(?:files|documents)|列出(?:所有|全部)?文件", text
        ):
            out["kind"] = "listing"
    return out


def _rename(masked: Masked) -> dict[str, Any]:
    names = [m.text for m in masked.of("file", "quote")]
    if len(names) >= 2:
        return {"source": names[0], "dest": names[1]}
    exts = _exts(masked)
    both = re.findall(r"\.?\b([A-Za-z0-9]{1,5})\b", masked.text)
    if len(masked.of("ext")) >= 2:
        one, two = (m.text[1:] for m in masked.of("ext")[:2])
        return {"from_ext": one, "to_ext": two}
    if exts and (known := [w for w in both if w.lower() not in ("all", "to")]) and len(known) >= 2:
        return {"from_ext": exts[0], "to_ext": known[-1]}
    out: dict[str, Any] = {}
    if names and re.search(
        r"\b(?:rename|call|name) (?:it|that|this)\b|把它|将它", masked.text, re.I
    ):
        return {"dest": names[0], "refers": "last"}
    if names:
        m = re.search(
            r"\b(?:to|as|called|named) ([\w\-]+)\s*$|(?:为|成|叫)([^\s]+?)(?:吧)?$", masked.text
        )
        out["source"] = names[0]
        if m:
            value = next(i for i in (1, 2) if m.group(i))
            dest = masked.unmask(*m.span(value))
            if dest != names[0]:
                out["dest"] = dest
    return out


def _organise(masked: Masked) -> dict[str, Any]:
    out: dict[str, Any] = {}
    text = masked.text
    by_date = re.search(r"\b(?:dates?|months?|years?|monthly|day)\b|日期|月份|时间|年份|月", text)
    out["by"] = "date" if by_date else "type"
    if exts := _exts(masked):
        out["exts"] = exts
    dest = re.search(
        r"\b(?:called|named) ([\w\-]+)|\b(?:folder|directory) ([\w\-]+)\s*$"
        r"|(?:移到|放到|挪到|搬到|放进) ?([A-Za-z][\w\-]*|"
        r"[\u4e00-\u9fff]{1,12}?) ?(?:文件夹|目录)",
        text,
    )
    if exts and dest and re.search(r"\bmove\b|\bput\b|移|放|挪|搬", text):
        value = next(g for g in dest.groups() if g)
        if value not in ("单独的", "一个", "独立的", "own"):
            out["dest"] = value
            return out
    if (folder := _folder(masked)) and folder != out.get("dest"):
        out["path"] = folder
    return out


_TABLE: dict[str, Callable[[Masked], dict[str, Any]]] = {
    "list": _list,
    "find": _find,
    "search": _search,
    "read": _read,
    "count": _count,
    "compare": _compare,
    "summarise": _summarise,
    "write": _write,
    "rename": _rename,
    "organise": _organise,
}


def slots_of(
    intent: str, masked: Masked, corrected: Masked, replaced: dict[str, str]
) -> dict[str, Any]:
    """The slots of ``intent``. Cut from the corrected text (so that keywords are found), with the
    person's own spelling and capitals restored in every value."""
    maker = _TABLE.get(intent)
    if maker is None:
        return {}
    spelled = masked if not replaced else Masked(
        masked.source, corrected.text, masked.mentions, masked.lang
    )  # fmt: skip
    slots = maker(spelled)
    for key, value in slots.items():
        if isinstance(value, str) and replaced:
            for now, was in replaced.items():
                value = re.sub(rf"\b{re.escape(now)}\b", was, value)
            slots[key] = value
    if _REFERS.search(corrected.text):
        slots["refers"] = True
    return slots


__all__ = ["FOLDER", "IMAGES", "QUOTE", "slots_of"]
