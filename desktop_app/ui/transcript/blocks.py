"""Markdown cut into top-level blocks, incrementally. The items of a list are blocks of their own.

A growing text is parsed from the end of the last block but one, and only by complete lines is a
block taken for finished: the first lines of a text never change what a later line makes of them
once another block has begun. Inside an open fence nothing is parsed at all. HTML is text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token

Kind = Literal["prose", "code", "plain"]

LIMIT = 400_000
"""Characters of a text beyond which it is shown as it is, without a parse."""
LONGEST = 20_000
"""Characters of a paragraph beyond which it is shown in pieces, without a parse of its inside."""
_CHUNK = 4_000
_CHUNK_LINES = 50


def parser() -> MarkdownIt:
    """CommonMark with tables and strikethrough, without HTML."""
    md = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    return md.disable(["html_block", "html_inline"])


_BLOCKS = parser()
_BLOCKS.core.ruler.enableOnly(["normalize", "block"])


@dataclass(frozen=True, slots=True)
class Block:
    """``text[start:end]`` of the normalised text. ``fence`` is a fence's opening mark, ``closed``
    whether its closing line has come; ``marker`` is a list item's ("-", ".", ")" …) and ``number``
    its place in an ordered list."""

    kind: Kind
    start: int
    end: int
    info: str = ""
    fence: str = ""
    closed: bool = True
    marker: str = ""
    number: int = 0


_WORDS = re.compile(
    r" {0,3}(?:(?:[-*+]|\d{1,9}[.)]) {1,3})?[^\W\d_][^\W\d_]| {0,3}\|[^\n]*[^\W\d_]"
)
"""A line that is made of words, or of a table's cells: more of it changes nothing around it."""
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


def normalise(text: str) -> str:
    """Line ends and NUL as the parser sees them, so that offsets agree."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.replace("\0", "\ufffd") if "\0" in text else text


def closes(line: str, fence: str) -> bool:
    """Whether ``line`` ends a fence that was opened with ``fence``."""
    found = _FENCE.match(line)
    return (
        found is not None
        and found[1][0] == fence[0]
        and len(found[1]) >= len(fence)
        and not line[found.end() :].strip(" \t")
    )


def split(text: str, base: int = 0, env: dict[str, Any] | None = None) -> list[Block]:
    """The top-level blocks of ``text``; ``base`` is added to their offsets. ``env`` collects
    reference definitions."""
    starts = [0]
    at = text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    starts.append(len(text))
    out: list[Block] = []
    for token in _BLOCKS.parse(text, env if env is not None else {}):
        item = token.type == "list_item_open" and token.level == 1
        if (token.level and not item) or token.nesting < 0 or not token.map:
            continue
        if token.type in ("bullet_list_open", "ordered_list_open"):
            continue
        first, last = token.map
        start, end = starts[first], starts[min(last, len(starts) - 1)]
        while end > start and text[end - 1] in "\n \t":
            end -= 1
        if token.type == "fence":
            whole = text[start : starts[min(last, len(starts) - 1)]]
            out.append(_fence(whole, token, base + start, base + end, base + len(text)))
        elif item:
            number = int(token.info) if token.info else 0
            block = Block("prose", base + start, base + end, marker=token.markup, number=number)
            out.append(_numbered(block, out[-1] if out else None))
        elif token.type == "paragraph_open" and end - start > LONGEST:
            out += plain(text[start:end], base + start)
        else:
            kind: Kind = "code" if token.type == "code_block" else "prose"
            out.append(Block(kind, base + start, base + end))
    return out


def _numbered(block: Block, before: Block | None) -> Block:
    """An item of an ordered list counts on from the one before, whatever its source says."""
    if before is not None and before.marker == block.marker and block.marker in ".)":
        return replace(block, number=before.number + 1)
    return block


def _fence(whole: str, token: Token, start: int, end: int, last: int) -> Block:
    lines = whole.rstrip("\n \t").split("\n")
    closed = len(lines) > 1 and closes(lines[-1], token.markup)
    # An open fence reaches to the end of the text, blank lines and all.
    return Block("code", start, end if closed else last, token.info.strip(), token.markup, closed)


def plain(text: str, base: int = 0) -> list[Block]:
    """Pieces of a few lines each, for text that is not parsed."""
    out: list[Block] = []
    at, size = 0, len(text)
    while at < size:
        end = at
        for _ in range(_CHUNK_LINES):
            line = text.find("\n", end)
            line = size if line < 0 else line + 1
            if line - at > _CHUNK:
                end = end if end > at else at + _CHUNK
                break
            end = line
            if end == size:
                break
        out.append(Block("plain", base + at, base + end))
        at = end
    return out


def code_of(text: str, block: Block) -> str:
    """The code of a block of kind "code", without fences and indent."""
    raw = text[block.start : block.end]
    if not block.fence:
        return "\n".join(_unindent(line, 4) for line in raw.split("\n"))
    lines = raw.split("\n")
    indent = len(lines[0]) - len(lines[0].lstrip(" "))
    body = lines[1:-1] if block.closed else lines[1:]
    if indent:
        body = [_unindent(line, indent) for line in body]
    return "\n".join(body)


def _unindent(line: str, width: int) -> str:
    n = 0
    while n < width and n < len(line) and line[n] == " ":
        n += 1
    if n < width and n < len(line) and line[n] == "\t":
        return line[n + 1 :]
    return line[n:]


@dataclass(slots=True)
class BlockStream:
    """The blocks of a growing text."""

    text: str = ""
    blocks: list[Block] = field(default_factory=list[Block])
    references: dict[str, Any] = field(default_factory=dict[str, Any])
    """Reference definitions seen so far, for ``[text][label]`` anywhere."""
    _fixed: int = 0  # blocks that cannot change any more
    _tail: int = 0  # where the parse starts
    _complete: int = 0  # end of the last complete line that was parsed
    _return: bool = False  # the last piece ended in "\r", which may be half of a line end

    @classmethod
    def of(cls, text: str) -> BlockStream:
        stream = cls()
        stream.append(text)
        return stream

    def append(self, piece: str) -> int:
        """Add text; returns the index of the first block that is new or changed."""
        if self._return and piece[:1] == "\n":
            piece, self._return = piece[1:], False
        if piece:
            self._return = piece.endswith("\r")
        piece = normalise(piece)
        before = len(self.text)
        self.text += piece
        if not piece:
            return len(self.blocks)
        if len(self.text) > LIMIT:
            return self._append_plain(before)
        if self.blocks and self._still_open(before):
            last = self.blocks[-1]
            self.blocks[-1] = Block(
                "code", last.start, len(self.text), last.info, last.fence, False
            )
            return len(self.blocks) - 1
        if self.blocks and self._within_line(before):
            end = len(self.text.rstrip(" \t"))
            self.blocks[-1] = replace(self.blocks[-1], end=end)
            return len(self.blocks) - 1
        return self._parse()

    def _within_line(self, before: int) -> bool:
        """True when the new text goes on in a line of words, which changes no structure."""
        last = self.blocks[-1]
        line = self.text.rfind("\n", 0, before) + 1
        return (
            last.kind == "prose"
            and last.end > line
            and len(self.text) - last.start <= LONGEST
            and _WORDS.match(self.text, line, before) is not None
            and "\n" not in self.text[before:]
        )

    def _still_open(self, before: int) -> bool:
        """True while the last block is a fence that the new text does not close."""
        last = self.blocks[-1]
        if not last.fence or last.closed or "\n" not in self.text[last.start : before]:
            return False
        line = self.text.rfind("\n", last.start, before) + 1
        return not any(closes(part, last.fence) for part in self.text[line:].split("\n"))

    def _parse(self) -> int:
        first, old = self._fixed, self.blocks[self._fixed :]
        complete = self.text.rfind("\n") + 1
        if complete > self._complete:
            self._complete = complete
            env: dict[str, Any] = {}
            done = split(self.text[self._tail : complete], self._tail, env)
            for label, target in env.get("references", {}).items():
                self.references.setdefault(label, target)
            keep = len(done) - 1
            while (
                keep > 0 and done[keep].kind == "plain" and done[keep - 1].end == done[keep].start
            ):
                keep -= 1  # pieces of one paragraph
            if keep > 0:
                self._put(done[:keep])
                self._fixed += keep
                self._tail = done[keep - 1].end
        self._put(split(self.text[self._tail :], self._tail))
        same = 0
        for new, was in zip(self.blocks[first:], old, strict=False):
            if new != was:
                break
            same += 1
        return first + same

    def _put(self, fresh: list[Block]) -> None:
        """Replace what is not fixed."""
        del self.blocks[self._fixed :]
        for block in fresh:
            before = self.blocks[-1] if self.blocks else None
            self.blocks.append(_numbered(block, before) if block.marker else block)

    def _append_plain(self, before: int) -> int:
        if before <= LIMIT:
            self.blocks = plain(self.text)
            return 0
        last = self.blocks.pop()
        self.blocks += plain(self.text[last.start :], last.start)
        first = len(self.blocks) - 1
        while first > 0 and self.blocks[first].start > last.start:
            first -= 1
        return first


_USER_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^`\n]*)$", re.MULTILINE)


def verbatim(text: str) -> list[Block]:
    """A person's own words: fences are code, all the rest stays as it was typed."""
    out: list[Block] = []
    at = 0
    while at < len(text):
        found = _USER_FENCE.search(text, at)
        if found is None:
            break
        close = next(
            (
                line
                for line in re.finditer(r"^.*$", text[found.end() + 1 :], re.MULTILINE)
                if closes(line[0], found[1])
            ),
            None,
        )
        if close is None:
            break
        _verbatim_piece(text, at, found.start(), out)
        end = found.end() + 1 + close.end()
        out.append(Block("code", found.start(), end, found[2].strip(), found[1]))
        at = end
    _verbatim_piece(text, at, len(text), out)
    return out


def _verbatim_piece(text: str, start: int, end: int, out: list[Block]) -> None:
    while start < end and text[start] == "\n":
        start += 1
    while end > start and text[end - 1] in "\n \t":
        end -= 1
    if end <= start:
        return
    if end - start > _CHUNK:
        out += plain(text[start:end], start)
    else:
        out.append(Block("prose", start, end))
