"""The inside of a paragraph: plain text and the runs that are styled in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markdown_it.token import Token

BOLD, ITALIC, STRIKE, CODE, LINK, CHIP = 1, 2, 4, 8, 16, 32
LINE = "\u2028"
"""A line end inside a paragraph."""

_SCHEMES = ("http://", "https://", "mailto:")
_URL = re.compile(r"https?://[^\s<>\"'`，。；：！？、）】》」』]+")
_WIDE = re.compile(
    r"[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef]"
)
_SPECIAL = re.compile(r"[\[\]*_`~]")
_LIMIT_SPECIAL = 2_000
_LIMIT = 20_000


@dataclass(frozen=True, slots=True)
class Run:
    start: int
    length: int
    flags: int
    href: str = ""


@dataclass(frozen=True, slots=True)
class Styled:
    text: str
    runs: tuple[Run, ...] = ()


def allowed(href: str) -> bool:
    """Whether a link may be followed at all: web and mail, never a file or a script."""
    return href.lower().startswith(_SCHEMES)


def has_wide(text: str) -> bool:
    """Chinese, Japanese, Korean: these lines need more air."""
    return _WIDE.search(text) is not None


def too_heavy(text: str) -> bool:
    """Text whose inline parse would take longer than a frame."""
    return len(text) > _LIMIT or len(_SPECIAL.findall(text)) > _LIMIT_SPECIAL


class _Builder:
    def __init__(self, image_label: str) -> None:
        self.parts: list[str] = []
        self.size = 0
        self.runs: list[Run] = []
        self.image_label = image_label

    def add(self, text: str, flags: int, href: str) -> None:
        if not text:
            return
        if flags or href:
            last = self.runs[-1] if self.runs else None
            if (
                last
                and last.start + last.length == self.size
                and last.flags == flags
                and (last.href == href and not flags & CODE)
            ):
                self.runs[-1] = Run(last.start, last.length + len(text), flags, href)
            else:
                self.runs.append(Run(self.size, len(text), flags, href))
        self.parts.append(text)
        self.size += len(text)

    def text(self, text: str, flags: int, href: str) -> None:
        """Plain text, bare addresses made links."""
        if href or "://" not in text:
            self.add(text, flags, href)
            return
        at = 0
        for found in _URL.finditer(text):
            url = found[0].rstrip(".,;:!?")
            if url.endswith(")") and url.count("(") < url.count(")"):
                url = url[:-1]
            self.add(text[at : found.start()], flags, "")
            self.add(url, flags | LINK, url)
            at = found.start() + len(url)
        self.add(text[at:], flags, "")

    def last(self) -> str:
        return self.parts[-1][-1:] if self.parts else ""

    def done(self) -> Styled:
        return Styled("".join(self.parts), tuple(self.runs))


_FLAGS = {"strong": BOLD, "em": ITALIC, "s": STRIKE}


def from_tokens(tokens: Sequence[Token], image_label: str = "{alt}") -> Styled:
    """From the children of an inline token."""
    out = _Builder(image_label)
    flags, href = 0, ""
    for i, token in enumerate(tokens):
        kind = token.type
        if kind == "text":
            out.text(token.content, flags, href)
        elif kind == "code_inline":
            out.add(token.content, flags | CODE, href)
        elif kind == "softbreak":
            after = tokens[i + 1].content[:1] if i + 1 < len(tokens) else ""
            wide = has_wide(out.last()) and has_wide(after)
            out.add("" if wide else " ", flags, href)
        elif kind == "hardbreak":
            out.add(LINE, flags, href)
        elif kind == "link_open":
            target = str(token.attrGet("href") or "")
            href, flags = (target, flags | LINK) if allowed(target) else ("", flags)
        elif kind == "link_close":
            href, flags = "", flags & ~LINK
        elif kind == "image":
            source = str(token.attrGet("src") or "")
            label = token.content or source.rsplit("/", 1)[-1]
            link = source if allowed(source) else ""
            out.add(image_label.format(alt=label), flags | CHIP | (LINK if link else 0), link)
        elif kind.endswith("_open"):
            flags |= _FLAGS.get(kind[:-5], 0)
        elif kind.endswith("_close"):
            flags &= ~_FLAGS.get(kind[:-6], 0)
        else:
            out.add(token.content, flags, href)
    return out.done()


_TICKS = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)


def from_verbatim(text: str) -> Styled:
    """A person's words as typed: code in backticks and addresses are styled, nothing else."""
    out = _Builder("")
    text = text.expandtabs(4)
    if too_heavy(text):
        out.add(text.replace("\n", LINE), 0, "")
        return out.done()
    at = 0
    for found in _TICKS.finditer(text):
        if "\n" in found[2]:
            continue
        out.text(text[at : found.start()].replace("\n", LINE), 0, "")
        out.add(found[2], CODE, "")
        at = found.end()
    out.text(text[at:].replace("\n", LINE), 0, "")
    return out.done()


def to_markdown(styled: Styled, start: int, end: int) -> str:
    """A part of a paragraph, written as Markdown again."""
    out: list[str] = []
    at = start
    for run in styled.runs:
        a, b = max(start, run.start), min(end, run.start + run.length)
        if a >= b:
            continue
        out.append(styled.text[at:a])
        out.append(_wrap(styled.text[a:b], run))
        at = b
    out.append(styled.text[at:end])
    return "".join(out).replace(LINE, "\n")


def _wrap(text: str, run: Run) -> str:
    if run.flags & CODE:
        text = f"`{text}`"
    for flag, mark in ((STRIKE, "~~"), (ITALIC, "*"), (BOLD, "**")):
        if run.flags & flag:
            text = f"{mark}{text}{mark}"
    if run.href and run.href != text:
        text = f"[{text}]({run.href})"
    return text


def references(env: dict[str, Any]) -> dict[str, Any]:
    """The environment of a parse that knows ``env``'s reference definitions."""
    return {"references": dict(env)}
