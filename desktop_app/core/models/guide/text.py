"""Looking at a request as text: language, and the things it names (files, globs, quotes).

Every replacement keeps the length, so a position in the folded text is a position in the original
and what a person quoted is taken word for word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Lang = Literal["en", "zh"]
Kind = Literal["file", "glob", "quote", "folder", "ext"]

CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
# One private character stands for each mention, so that patterns can speak of "a file".
MARKS: dict[Kind, str] = {
    "file": "\ue000",
    "glob": "\ue001",
    "quote": "\ue002",
    "folder": "\ue003",
    "ext": "\ue004",
}
FILE, GLOB, QUOTE, FOLDER, EXT = MARKS.values()
_ANY_MARK = re.compile("[\ue000-\ue004]")

# Full-width ASCII and Chinese punctuation to ASCII, one character for one.
_FOLD: dict[int, int | str] = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_FOLD.update({0x3000: " ", 0x3002: ".", 0x3001: ",", 0x2019: "'", 0x00A0: " ", 0x2014: "-"})

_QUOTED = re.compile(
    r"“([^”]{1,2000})”|「([^」]{1,2000})」|『([^』]{1,2000})』|《([^》]{1,200})》"
    r"|‘([^’]{1,2000})’|\"([^\"]{1,2000})\"|`([^`]{1,2000})`"
    r"|(?<![\w'])'([^']{1,2000}?)'(?![A-Za-z0-9])"
)
_WORD = rf"\w\-{CJK}+@~%#()\[\]"
_EXTENSION = r"\.(?:[A-Za-z][A-Za-z0-9]{0,9}|7z)(?![A-Za-z0-9])"
# Bounded repetitions: what a person pastes must not cost quadratic time.
_DIRS = rf"(?:\.{{0,2}}/)?(?:[{_WORD}.]{{1,80}}/){{0,12}}"
_FILE = re.compile(rf"{_DIRS}[{_WORD}.]{{0,120}}[{_WORD}]{_EXTENSION}")
_GLOB = re.compile(r"[A-Za-z0-9_\-./]{0,120}[*][A-Za-z0-9_\-./*?]{0,120}")
_FOLDER = re.compile(rf"(?:\.{{0,2}}/)?(?:[{_WORD}.]{{1,80}}/){{1,12}}[{_WORD}]{{0,80}}")
_DOTTED = re.compile(rf"(?<![\w{CJK}])\.[A-Za-z][A-Za-z0-9]{{0,9}}(?![A-Za-z0-9.])")
_LONE_SLASH = re.compile(r"^\d+(/\d+)+$|^(?:and|he|yes|1|24)/(?:or|she|no|2|7)$", re.I)
_NOT_FILES = re.compile(r"^(?:e\.g|i\.e|a\.m|p\.m|etc\.\w*|\d+(?:\.\d+)*[a-z]?)$", re.I)

# Chinese has no spaces: what stands before a name is glued to it ("读会议记录.md").
_GLUED = re.compile(
    r"^(?:请|麻烦|帮我|帮忙|给我|能不能|能否|能|可以|我想|我要|想|要|先|再|然后|接着|最后|并且|并|"
    r"把|将|在|从|对|和|与|跟|同|及|或|给|读取|读一下|读一读|读|打开|看一下|看一看|看看|查看|看|显示|"
    r"比较一下|比较|对比一下|对比|比一比|检查|总结一下|总结|概括一下|概括|归纳|摘要|提炼|统计一下|统计|数一下|"
    r"数|搜索|搜一下|搜|查找|找到|找一下|找|创建|新建|建立|建个|建|写入|写到|写进|写一个|写一份|写|保存到|"
    r"保存为|保存|存到|存成|存为|追加到|追加|记到|重命名为|重命名|改名为|改名成|改名|更名为|改叫|改成|改为|"
    r"命名为|名为|名叫|叫做|叫|为|成|到|一个|一份|个|份|文件|文档|笔记|下|了|是|一下|里的|里|的|:|,)"
)


@dataclass(frozen=True, slots=True)
class Mention:
    """Something a request names. ``start``/``end`` are its span in the original text."""

    kind: Kind
    text: str
    start: int
    end: int
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Masked:
    """A request with every mention replaced by one mark. ``mentions`` in the order of the marks."""

    source: str
    text: str
    mentions: tuple[Mention, ...]
    lang: Lang

    def of(self, *kinds: Kind) -> list[Mention]:
        return [m for m in self.mentions if m.kind in kinds]

    def unmask(self, start: int, end: int) -> str:
        """The original wording of a span of ``text``, without quotation marks of mentions."""
        before = len(_ANY_MARK.findall(self.text[:start]))
        out: list[str] = []
        for char in self.text[start:end]:
            if _ANY_MARK.match(char):
                out.append(self.mentions[before].text)
                before += 1
            else:
                out.append(char)
        return "".join(out)

    def place(self, position: int) -> int:
        """Where in ``source`` the character at ``position`` of ``text`` stands."""
        before = self.mentions[: len(_ANY_MARK.findall(self.text[:position]))]
        return position + sum(m.end - m.start - 1 for m in before)


def fold(text: str) -> str:
    """Full-width characters to ASCII; the length stays."""
    return text.translate(_FOLD)


def has_cjk(text: str) -> bool:
    return re.search(f"[{CJK}]", text) is not None


def _language(text: str) -> Lang:
    """By what is left when names and quotes are out: two Chinese characters weigh a word."""
    plain = _ANY_MARK.sub(" ", text)
    chinese = len(re.findall(f"[{CJK}]", plain))
    latin = len(re.findall(r"[A-Za-z]{2,}", plain))
    return "zh" if chinese and chinese * 1.5 >= latin else "en"


def _looks_like_file(text: str) -> bool:
    name = text.rsplit("/", 1)[-1]
    return (
        re.search(_EXTENSION + r"$", name) is not None
        and len(name) <= 120
        and not re.search(r"[\n\"<>|]|[,;:.] ", name)
    )


def _unglue(text: str, start: int) -> tuple[str, int]:
    """Cuts what Chinese puts before a name; the rest must still have a stem."""
    while (found := _GLUED.match(text)) and "/" not in found.group():
        rest = text[found.end() :]
        if not rest or rest.startswith("."):
            break
        text, start = rest, start + found.end()
    return text, start


def _split_joined(mention: Mention) -> list[Mention]:
    """ "一月.csv和二月.csv" is matched as one run of letters: cut it after each extension."""
    ends = [m.end() for m in re.finditer(_EXTENSION, mention.text)]
    ends = [e for e in ends if e == len(mention.text) or has_cjk(mention.text[e])]
    out: list[Mention] = []
    begin = 0
    for end in ends or [len(mention.text)]:
        text, start = _unglue(mention.text[begin:end], mention.start + begin)
        # "b.txt里的a.txt": whatever is left of the first name's tail belongs to no name
        out.append(Mention("file", text, start, mention.start + end))
        begin = end
    return out


def _files(folded: str, base: int) -> list[Mention]:
    found: list[Mention] = []
    for m in _FILE.finditer(folded):
        if _NOT_FILES.match(m.group()):
            continue
        found.extend(_split_joined(Mention("file", m.group(), base + m.start(), base + m.end())))
    return found


def _overlaps(span: tuple[int, int], taken: list[Mention]) -> bool:
    return any(span[0] < m.end and m.start < span[1] for m in taken)


def _scan(source: str, folded: str) -> list[Mention]:
    taken: list[Mention] = []
    for m in _QUOTED.finditer(source):
        text = next(g for g in m.groups() if g is not None)
        kind: Kind = "quote"
        if _looks_like_file(text):
            kind = "file"
        elif _GLOB.fullmatch(text):
            kind = "glob"
        taken.append(Mention(kind, text, m.start(), m.end(), quoted=True))
    for m in _GLOB.finditer(folded):
        if not _overlaps(m.span(), taken) and m.group().strip("*"):
            taken.append(Mention("glob", m.group().rstrip("."), m.start(), m.end()))
    for mention in _files(folded, 0):
        if not _overlaps((mention.start, mention.end), taken):
            taken.append(mention)
    for m in _FOLDER.finditer(folded):
        text, start = _unglue(m.group(), m.start())
        if not _overlaps((start, m.end()), taken) and not _LONE_SLASH.match(text):
            taken.append(Mention("folder", text, start, m.end()))
    for m in _DOTTED.finditer(folded):
        if not _overlaps(m.span(), taken):
            taken.append(Mention("ext", m.group(), m.start(), m.end()))
    return sorted(taken, key=lambda m: m.start)


def mask(source: str) -> Masked:
    """Find what ``source`` names and put a mark in the place of each."""
    folded = fold(source)
    mentions = _scan(source, folded)
    parts: list[str] = []
    at = 0
    for m in mentions:
        parts += [folded[at : m.start], MARKS[m.kind]]
        at = m.end
    parts.append(folded[at:])
    text = "".join(parts)
    return Masked(source, text, tuple(mentions), _language(text))


_TOKEN = re.compile(rf"[A-Za-z]+|[0-9]+|[{CJK}]|\s+|[^\sA-Za-z0-9{CJK}]")


def count_tokens(text: str) -> int:
    """Tokens by the Guide's own measure, which for the Guide is *the* measure: a run of letters
    is one token per started 6 letters, digits one per 3, each Chinese character, sign or line
    break one; single spaces are free."""
    total = 0
    for m in _TOKEN.finditer(text):
        piece = m.group()
        if piece[0].isspace():
            total += piece.count("\n") + (len(piece) > 8)
        elif piece.isascii() and piece.isalpha():
            total += (len(piece) + 5) // 6
        elif piece.isascii() and piece.isdigit():
            total += (len(piece) + 2) // 3
        else:
            total += 1
    return total
