"""What of a growing paragraph can be shown yet.

A half-written link, a lone marker or the first lines of a table would flash as raw text and then
turn into something else. They are held back; open emphasis and code are closed for the moment.
"""

from __future__ import annotations

import re

_MARKER = re.compile(
    r"(?:^|\n)[ \t>]*(?:[-=]+|[*+]{1,3}|\d{1,9}[.)]?|#{1,6}|`{1,3}|~{1,3}|>|_{1,3}|\|[^\n]*)[ \t]*$"
)
_NUMBER = re.compile(r"(?:^|\n)[ \t>]*\d{1,9}[ \t]*$")
_LINK = re.compile(r"!?\[[^\[\]\n]{0,120}\Z|!?\[[^\[\]\n]{0,300}\](?:\([^()\s]{0,600}\Z|\Z)")
_CODE = re.compile(r"`+")
_TAIL = re.compile(r"(?:[*_~`\\]+|!)\Z")
_EMPHASIS = re.compile(r"(?<![*\w])\*\*(?=\S)|(?<=\S)\*\*|(?<![~\w])~~(?=\S)|(?<=\S)~~")


def presentable(source: str) -> str:
    """``source`` of the last block of a growing text, ready to be shown."""
    found = _MARKER.search(source)
    if found is not None and not _in_table(source, found.start()) and not _NUMBER.search(source):
        source = source[: found.start()]
        found = _MARKER.search(source)
        if found is not None and "|" in found[0] and not _in_table(source, found.start()):
            source = source[: found.start()]  # the head of a table whose second line is coming
    line = source.rfind("\n\n") + 1
    tail = source[line:]
    tail = _hold_link(tail)
    tail = _TAIL.sub("", tail)
    return source[:line] + tail + _closing(tail)


def _in_table(source: str, at: int) -> bool:
    """Whether a table's second line stands before ``at``: its rows may grow in sight."""
    return re.search(r"(?:^|\n)[ \t>]*\|?[ \t]*:?-+:?[ \t]*\|", source[:at]) is not None


def _hold_link(tail: str) -> str:
    found = _LINK.search(tail)
    if found is None or tail[: found.start()].count("`") % 2:
        return tail
    return tail[: found.start()]


def _closing(tail: str) -> str:
    """What closes the code or the bold text that is open at the end."""
    ticks = [len(found[0]) for found in _CODE.finditer(tail)]
    open_ticks = 0
    for n in ticks:
        if not open_ticks:
            open_ticks = n
        elif n == open_ticks:
            open_ticks = 0
    if open_ticks:
        return "`" * open_ticks
    outside = re.sub(r"(`+).*?\1", "", tail, flags=re.DOTALL)
    out = ""
    if len(re.findall(r"\*\*", outside)) % 2 and re.search(r"\*\*(?=\S)", outside):
        out += "**"
    if len(re.findall(r"~~", outside)) % 2:
        out += "~~"
    return out
