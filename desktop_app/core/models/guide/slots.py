"""Cutting slots out of a request's own words. See ``intents.Request`` for what they mean."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .slot_values import (
    COUNT_QUERY,
    clean,
    exts_in,
    first_of,
    folder_in,
    lines_in,
    query_in,
    scope_in,
)
from .text import FILE, Masked

_REFERS = re.compile(
    r"\b(?:it|that|them|those|the results?|the findings|the summary|the numbers|the differences|"
    r"what you (?:find|found))\b|它|其中|结果|总结写|摘要保存|把总结|把摘要|把数字|差异保存|"
    r"把差异|存成|存到|保存到"
)

_ALL_RESULTS = re.compile(r"\b(?:the|all|these) (?:results|findings)\b|结果", re.I)


def _list(masked: Masked) -> dict[str, Any]:
    scope = scope_in(masked)
    scope.pop("file", None)
    if re.search(
        r"\b(?:folders|directories|sub-?folders)\b|列文件夹|哪些(?:文件夹|目录)", masked.text
    ):
        scope["what"] = "folders"
    return scope


def _find(masked: Masked) -> dict[str, Any]:
    scope = scope_in(masked)
    out: dict[str, Any] = {k: v for k, v in scope.items() if k in ("path", "exts")}
    if name := [*masked.of("file"), *masked.of("glob"), *masked.of("quote")]:
        out["name"] = name[0].text
    else:
        found = first_of(
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
    out = scope_in(masked)
    if query := query_in(masked):
        out["query"] = query
    if out.get("path") == out.get("query"):
        out.pop("path", None)
    return out


def _target(masked: Masked) -> str | None:
    """A file by description, when no file name stands there: "the contract", "合同"."""
    return first_of(
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
    out: dict[str, Any] = lines_in(masked.text)
    if named := [*masked.of("file"), *masked.of("quote")]:
        out["file"] = named[0].text
    elif target := _target(masked):
        out["file"] = target
    return out


def _count(masked: Masked) -> dict[str, Any]:
    out = scope_in(masked)
    text = masked.text
    if re.search(
        r"\b(?:how often|times|occurrences?|instances?|mentions)\b|出现|次数|几次|几回|"
        r"多少[次回]|提到",
        text,
    ):
        out["what"] = "occurrences"
        quoted = masked.of("quote")
        if query := quoted[0].text if quoted else first_of(masked, COUNT_QUERY) or query_in(masked):
            out["query"] = query
    elif re.search(
        r"\b(?:words?|characters?|chars)\b|字数|词数|多少字|几个字|多少个?字|多少个?词", text
    ):
        out["what"] = "words"
    elif re.search(r"\b(?:lines?|rows?|records|entries|long)\b|行数|多少行|几行|多长|条", text):
        out["what"] = "lines"
    else:
        out["what"] = "files"
    inside = out["what"] in ("lines", "words") and not {"file", "exts", "glob"} & set(out)
    if inside and (target := first_of(masked, _COUNTED)):
        out["file"] = target
    return out


_COUNTED = (
    r"\bhow many (?:rows|lines|words|characters)\w*(?: of \w+)? (?:are (?:there )?in|does|"
    r"do|has|in)"
    r" (?:the )?(?!each|every|all|them|these|it\b)(.+?)(?: have| contain)?$",
    r"^(?:请|麻烦|统计|数一下|数数)?([^它各每所]+?)(?:里|中)?(?:共|一共|总共)?有?(?:多少|"
    r"几)个?(?:行|字|词)",
)


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
        out["files"] = [clean(masked.unmask(*m.span(i))) for i in found]
    elif what := first_of(
        masked,
        (r"\b(?:two|both) (.+?)$", r"(?:两份|两个|这两个|两篇)(.+?)(?:的|$)"),
    ):
        out["name"] = what
    return out


def _summarise(masked: Masked) -> dict[str, Any]:
    out = scope_in(masked)
    names = [m.text for m in masked.of("file")]
    if len(names) > 1:
        out["files"] = names
    if "file" not in out and (quotes := masked.of("quote")):
        out["file"] = quotes[0].text
    if "file" not in out and re.search(r"\ball\b|\bevery\b|所有|全部", masked.text):
        out["all"] = True
        if re.search(r"\bnotes?\b|笔记", masked.text):
            out["notes"] = True
    elif "file" not in out and (target := _target(masked)):
        out["file"] = target
        parts = [clean(p) for p in re.split(r" and (?:the )?|, ?|[和与跟]", target)]
        if len(parts) > 1 and all(parts):
            out["files"] = parts
    return out


_CONTENT = re.compile(
    r"(?:\b(?:that says|saying|containing|with the (?:text|content|words?)|which says|reading)\b|"
    r"\bwith(?= [^\ue000]*$)|"
    r"内容(?:是|为|如下|(?=\s*:))|写上|写着|里面写)\s*:?\s*(.+)$|:\s*(.+)$|\b(?:down|"
    r"note) that (.+)$",
    re.S | re.I,
)


def _after_content_cue(masked: Masked) -> tuple[int, str] | None:
    """(where, what): the original wording after "with the text", "内容是" or a colon, to the end
    of the message, line breaks and all."""
    m = _CONTENT.search(masked.text)
    group = next((i for i in (1, 2, 3) if m and m.group(i)), 0)
    if m is None or not group:
        return None
    start = masked.place(m.start(group))
    return start, masked.source[start:].strip()


def _content(masked: Masked) -> str | None:
    """What a file shall hold, word for word: what follows the cue, or what is quoted."""
    quotes = masked.of("quote")
    cue = _after_content_cue(masked)
    if quotes and (cue is None or quotes[0].start <= cue[0]):
        return quotes[0].text
    if cue is None:
        return None
    whole = re.fullmatch(r"[\"“「『](.+)[\"”」』][.。]?", cue[1], re.S)
    return whole.group(1) if whole else cue[1].rstrip("。") or None


def _write(masked: Masked) -> dict[str, Any]:
    out: dict[str, Any] = {}
    files = masked.of("file")
    if files:
        out["file"] = files[-1].text if len(files) > 1 else files[0].text
        out["others"] = [m.text for m in files if m.text != out["file"]]
    if content := _content(masked):
        out["content"] = content
    if re.search(
        r"\b(?:append|add|jot)\b|追加|加一行|加入|添加|加上|加到|记一下|记到", masked.text, re.I
    ):
        out["append"] = True
    topic = first_of(
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


_INTO = re.compile(
    r"\bmove\b.* (?:to|into) (?:the |a )?(?:folder )?([\w\-]+|\ue003)(?: folder| directory)?\s*$"
    r"|(?:移|挪|搬|放)(?:动)?(?:到|进) ?([\w\-]+?|\ue003) ?(?:文件夹|目录)?(?:里|中)?$",
    re.I,
)


def _rename(masked: Masked) -> dict[str, Any]:
    names = [m.text for m in masked.of("file", "quote")]
    if len(names) >= 2:
        return {"source": names[0], "dest": names[1]}
    into = _INTO.search(masked.text)
    if names and into:
        folder = masked.unmask(*into.span(1 if into.group(1) else 2)).strip("/")
        name = names[0].rsplit("/", 1)[-1]
        return {"source": names[0], "dest": f"{folder}/{name}", "into": folder}
    exts = exts_in(masked)
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


_NEW_FOLDER = (
    r"\b(?:create|make|add|new)\b[^\ue000]*? (?:folder|directory) (?:called|named) (.+)$",
    r"(?:新建|创建|建立|建)[^\ue000]{0,8}?(?:文件夹|目录)(?:,?叫做?|,?名为) ?(.+)$",
)


_DEST = re.compile(
    r"(?:into|to|in) (?:a |the )?(?:folder|directory) (?:called |named )?([\w\-]+)"
    r"|(?:into|to) (?:the |a )?([\w\-]+) (?:folder|directory)"
    r"|(?:移到|放到|挪到|搬到|放进) ?([A-Za-z][\w\-]*|[\u4e00-\u9fff]{1,12}?) ?(?:文件夹|目录)",
    re.I,
)


def _organise(masked: Masked) -> dict[str, Any]:
    out: dict[str, Any] = {}
    text = masked.text
    if made := first_of(masked, _NEW_FOLDER):
        return {"folder": made}
    by_date = re.search(r"\b(?:dates?|months?|years?|monthly|day)\b|日期|月份|时间|年份|月", text)
    out["by"] = "date" if by_date else "type"
    dest = _DEST.search(text)
    if dest and re.search(r"\bmove\b|\bput\b|移|放|挪|搬", text):
        place = next(g for g in dest.groups() if g)
        what = replace(masked, text=text[: dest.start()])
        if place not in ("单独的", "一个", "独立的", "own"):
            if exts := exts_in(what):
                return {"by": "type", "exts": exts, "dest": place}
            if name := first_of(what, (r"\b(?:move|put) (.+?)(?: to| into)?$", r"(?:把|将)(.+?)$")):
                return {"by": "type", "name": name, "dest": place}
    if exts := exts_in(masked):
        out["exts"] = exts
    if (folder := folder_in(masked)) and folder != out.get("dest"):
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
    if _ALL_RESULTS.search(corrected.text):
        slots["refers"] = "all"
    elif _REFERS.search(corrected.text):
        slots["refers"] = "last"
    return slots
