"""Text of programs made fit to be shown: escape sequences, overwritten lines, unseen characters."""

from __future__ import annotations

import re

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?"
    r"|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]+[0-~]|[0-~])"
)
"""ECMA-48: control sequences, strings (titles, links), charsets, single functions."""
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
)


def terminal(text: str) -> str:
    """What a terminal would show of a program's output: no colours, a line that was written over
    in its last form (progress bars)."""
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        text = "\n".join(_last_form(line) for line in text.split("\n"))
    return _CONTROL.sub("\ufffd", text)


def _last_form(line: str) -> str:
    """The pieces between returns, each written over the one before."""
    if "\r" not in line:
        return line
    shown = ""
    for piece in line.split("\r"):
        shown = piece + shown[len(piece) :]
    return shown


def visible(text: str) -> str:
    """A command with the characters that would hide in it written out: directions, zero width."""
    return _UNSEEN.sub(lambda found: f"\u27e8{ord(found[0]):04X}\u27e9", text)
