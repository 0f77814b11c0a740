"""Notes on a conversation, and its title: by extraction, from the messages themselves.

Seven sections: goal, constraints, done, files, findings, open, next. Every line is the person's own
wording, the Guide's own answer or what a call's arguments and state say; nothing is concluded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from desktop_app.core.messages import Msg

from .markdown import code, number
from .parse import counts, first_line, hits, numbered, paths
from .text import Lang, count_tokens, mask
from .transcript import Done, calls_of, is_request, kind_of, request_text

SECTIONS = ("goal", "constraints", "done", "files", "findings", "open", "next")
_HEADS: dict[Lang, tuple[str, ...]] = {
    "en": ("Goal", "Constraints", "Done", "Files", "Findings", "Open", "Next"),
    "zh": ("目标", "约束", "已完成", "文件", "发现", "未决", "下一步"),
}
# What gives way first when the notes do not fit; goal, constraints, open and next stay.
_GIVE_WAY = ("findings", "done", "files")
_CUES = re.compile(
    r"\b(?:must|never|always|do not|don't|only|from now on|rule|important|make sure|keep|without)\b"
    r"|不要|禁止|必须|不得|只能|务必|从现在起|以后都|记住|别",
    re.I,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|\n+")

_PHRASES: dict[str, tuple[str, str]] = {
    "glob": ("Looked for files {what}: {n} found", "查找文件 {what}：{n} 个"),
    "grep": ("Searched for {what}: {n} matching lines", "搜索 {what}：{n} 行匹配"),
    "read": ("Read {what} ({n} lines)", "读取 {what}（{n} 行）"),
    "wrote": ("Wrote {what}", "写入 {what}"),
    "ran": ("Ran {what}", "执行 {what}"),
    "asked": ("Asked the person: {what}", "询问：{what}"),
    "other": ("Called {what}", "调用 {what}"),
    "failed": ("{what} failed: {why}", "{what} 失败：{why}"),
    "denied": ("{what} was declined", "{what} 未获允许"),
    "stopped": ("{what} was interrupted", "{what} 被中断"),
    "unanswered": ("Not answered yet: {what}", "尚未回答：{what}"),
    "go_on": ("Go on with: {what}", "继续：{what}"),
    "wait": (
        "Nothing is under way; wait for the next request.",
        "没有进行中的事，等待下一个请求。",
    ),
    "f.read": ("read", "已读"),
    "f.written": ("written", "已写"),
}


def _say(lang: Lang, key: str, **params: object) -> str:
    return _PHRASES[key][lang == "zh"].format(**params)


def _short(text: str, limit: int = 240) -> str:
    text = re.sub(r"\s+", " ", text).strip()
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _about(done: Done) -> str:
    """The call in a few words: its tool and what it was about."""
    args = done.args
    for key in ("file_path", "pattern", "command", "subject"):
        if isinstance(value := args.get(key), str) and value:
            return f"{done.name} {code(_short(value, 120))}"
    return done.name


def _what(done: Done, key: str) -> str:
    return code(_short(str(done.args.get(key, "")), 120))


def _line(done: Done, lang: Lang) -> str | None:
    """One line of "done"; None for housekeeping."""
    if done.name.startswith("Task"):
        return None
    if done.name == "Glob":
        if not re.search(r"[*?\[{]", str(done.args.get("pattern", "")).removeprefix("**/")):
            return None  # looking up one file is no step of its own
        return _say(lang, "glob", what=_what(done, "pattern"), n=len(paths(done)))
    if done.name == "Grep":
        per_file = done.args.get("output_mode") == "count"
        found = sum(counts(done).values()) if per_file else len(hits(done) or paths(done))
        return _say(lang, "grep", what=_what(done, "pattern"), n=number(found))
    if done.name == "Read":
        return _say(lang, "read", what=_what(done, "file_path"), n=number(len(numbered(done))))
    if done.name in ("Write", "Edit"):
        return _say(lang, "wrote", what=_what(done, "file_path"))
    if done.name == "Bash":
        return _say(lang, "ran", what=_what(done, "command"))
    if done.name == "AskUser":
        return _say(lang, "asked", what=_short(first_line(done.text)))
    return _say(lang, "other", what=_about(done))


# Who the Guide is, is no finding.
_OF_ITSELF = re.compile(
    r"\*\*Guide · |^I am rules, not AI|^我是规则，不是 AI|^You are welcome|^不客气"
)


def _answers(messages: Sequence[Msg]) -> list[str]:
    """The Guide's (or a model's) final answers, one or two telling lines of each."""
    out: list[str] = []
    for msg in messages:
        if msg.role != "assistant" or msg.tool_calls():
            continue
        lines = [x.strip() for x in msg.text().splitlines()]
        lines = [x for x in lines if x and not re.match(r"^(?:```|\||#|[-*>] ?$|_)", x)]
        if lines and not _OF_ITSELF.search(lines[0]):
            out.append(_short(" ".join(x.removeprefix("- ") for x in lines[:2])))
    return out


def _before(messages: Sequence[Msg]) -> dict[str, list[str]]:
    """Lines of earlier notes of ours, by section, so that a second compaction keeps the first."""
    found: dict[str, list[str]] = {}
    names = {
        h.lower(): s for heads in _HEADS.values() for h, s in zip(heads, SECTIONS, strict=True)
    }
    for msg in messages:
        if kind_of(msg) != "summary":
            continue
        section: str | None = None
        for line in msg.text().splitlines():
            if m := re.match(r"^#{1,6}\s+(.+?)\s*$", line):
                section = names.get(m.group(1).lower())
            elif section and line.startswith("- "):
                found.setdefault(section, []).append(line[2:])
    return found


def _collect(messages: Sequence[Msg], lang: Lang) -> dict[str, list[str]]:
    notes = {s: list[str]() for s in SECTIONS}
    earlier = _before(messages)
    for section in ("goal", "constraints", "done", "files", "findings"):
        notes[section] += earlier.get(section, [])
    requests = [request_text(m) for m in messages if is_request(m)]
    notes["goal"] += [_short(r, 400) for r in requests if r]
    for text in requests:
        notes["constraints"] += [
            _short(s, 400) for s in _SENTENCE.split(text) if s.strip() and _CUES.search(s)
        ]
    for done in calls_of(messages):
        _note_call(done, notes, lang)
    notes["findings"] += _answers(messages)
    for msg in messages:
        if kind_of(msg) == "tasks":
            lines = msg.text().splitlines()
            notes["open"] += [x.strip()[2:] for x in lines if x.strip().startswith("- ")]
    last = messages[-1] if messages else None
    while last is not None and kind_of(last) in ("hint", "tasks"):
        messages = messages[:-1]
        last = messages[-1] if messages else None
    under_way = last is not None and (is_request(last) or last.role == "user")
    if under_way and requests:
        notes["open"].append(_say(lang, "unanswered", what=_short(requests[-1])))
        notes["next"].append(_say(lang, "go_on", what=_short(requests[-1])))
    else:
        notes["next"].append(_say(lang, "wait"))
    return {s: list(dict.fromkeys(lines)) for s, lines in notes.items()}


def _note_call(done: Done, notes: dict[str, list[str]], lang: Lang) -> None:
    if done.state == "success":
        if line := _line(done, lang):
            notes["done"].append(line)
        if isinstance(path := done.args.get("file_path"), str):
            key = "f.read" if done.name == "Read" else "f.written"
            notes["files"].append(f"{code(path)} ({_say(lang, key)})")
    elif done.state == "denied":
        notes["open"].append(_say(lang, "denied", what=_about(done)))
    elif done.state == "error":
        why = _short(first_line(done.text), 160)
        notes["open"].append(_say(lang, "failed", what=_about(done), why=why))
    else:
        notes["open"].append(_say(lang, "stopped", what=_about(done)))


def _written(notes: dict[str, list[str]], lang: Lang) -> str:
    parts: list[str] = []
    for section, head in zip(SECTIONS, _HEADS[lang], strict=True):
        lines = notes[section] or ["–"]
        parts.append(f"## {head}\n\n" + "\n".join(f"- {line}" for line in lines))
    return "\n\n".join(parts) + "\n"


def summarise(messages: Sequence[Msg], allowance: int) -> str:
    """The notes, in Markdown, within ``allowance`` tokens of the Guide's own measure. When they do
    not fit the oldest findings go first, then the oldest calls, then files."""
    requests = [request_text(m) for m in messages if is_request(m)]
    lang = mask(" ".join(requests[:3])).lang if requests else "en"
    notes = _collect(messages, lang)
    room = int(allowance * 0.9)
    text = _written(notes, lang)
    for section in (*_GIVE_WAY, "constraints", "goal", "open"):
        while count_tokens(text) > room and len(notes[section]) > 1:
            keep = len(notes[section]) * 3 // 4
            # of goals the first one is the task itself: it stays, the ones after it give way
            first = notes[section][:1] if section == "goal" else []
            notes[section] = [*first, *notes[section][len(notes[section]) - keep + len(first) :]]
            text = _written(notes, lang)
    return text


_POLITE = re.compile(
    r"^(?:(?:please|can you|could you|would you|will you|i(?:'d| would) like (?:you )?to|"
    r"i want (?:you )?to|let's|hey|hi|hello)[,\s]+|请问?|麻烦你?|帮我|帮忙|能不能|能否|可以|你能)+",
    re.I,
)


def title(messages: Sequence[Msg], limit: int = 40) -> str:
    """At most ``limit`` characters from the first request, cut between words."""
    text = next((request_text(m) for m in messages if is_request(m) and m.text().strip()), "")
    text = re.sub(r"\s+", " ", re.sub(r"[`*#>]+", "", text)).strip()
    text = (_POLITE.sub("", text) or text).strip(" ?!.,;:。？！，；：")
    text = re.sub(r"(?:,? please|吗|呢|吧)$", "", text, flags=re.I).strip()
    text = text[:1].upper() + text[1:]
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit // 2 else cut).rstrip(" ,;:，；：") + "…"
