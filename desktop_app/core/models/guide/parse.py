"""Reading what tools answer: lists of paths, numbered lines, matches, counts. Forgiving, since a
result may be bounded, edited by hand or from another generation of the tools."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .transcript import Done

_NOTE = re.compile(
    r"^\s*[\[(<…]|^\s*(?:No (?:files?|match)|There are only|Found \d+|Showing|\(no )", re.I
)
_DIGEST = re.compile(r"^\d+: ")  # a line of a cut result's digest carries its line number
_HIDDEN = re.compile(r"(?:^|/)(?:\.slipway|\.git|\.venv|node_modules|__pycache__)(?:/|$)")


@dataclass(frozen=True, slots=True)
class Hit:
    path: str
    line: int
    text: str


def paths(done: Done) -> list[str]:
    """Files of a Glob (or Grep files_with_matches) result, one a line; folders (they end with a
    slash), our own and hidden ones are left out."""
    out: list[str] = []
    for line in done.text.splitlines():
        line = line.strip().removeprefix("./")
        if not line or _NOTE.match(line) or len(line) > 1024 or _HIDDEN.search(line):
            continue
        if _DIGEST.match(line) or line.endswith("/") or (line.endswith((":", ".")) and " " in line):
            continue  # a sentence
        out.append(line)
    return list(dict.fromkeys(out))


_NUMBERED = re.compile(r"^\s*(\d+)(?:\t|→|│| {2})(.*)$")


def numbered(done: Done) -> list[tuple[int, str]]:
    """(number, text) of a Read result in ``cat -n`` style."""
    out: list[tuple[int, str]] = []
    for line in done.text.split("\n"):
        if m := _NUMBERED.match(line):
            out.append((int(m.group(1)), m.group(2).rstrip("\r")))
    return out


def hits(done: Done, only: str | None = None) -> list[Hit]:
    """Matches of a Grep result with output_mode content: ``path:line:text``. When one file was
    searched the path may be missing; ``only`` names it."""
    out: list[Hit] = []
    for line in done.text.splitlines():
        if not line.strip() or line == "--" or line[:1] in "[<":
            continue
        line = _DIGEST.sub("", line)
        m = re.match(r"^(.+?):(\d+):(.*)$", line)
        if m and not _HIDDEN.search(m.group(1)):
            out.append(Hit(m.group(1).removeprefix("./"), int(m.group(2)), m.group(3).strip()))
        elif not m and only and (m := re.match(r"^(\d+):(.*)$", line)):
            out.append(Hit(only, int(m.group(1)), m.group(2).strip()))
    return out


def counts(done: Done, only: str | None = None) -> dict[str, int]:
    """Matching lines per file of a Grep result with output_mode count: ``path:number``."""
    out: dict[str, int] = {}
    for line in done.text.splitlines():
        if m := re.match(r"^(.+?):(\d+)$", _DIGEST.sub("", line.strip())):
            if not _HIDDEN.search(m.group(1)):
                out[m.group(1).removeprefix("./")] = int(m.group(2))
        elif only and (m := re.match(r"^(\d+)$", line.strip())):
            out[only] = int(m.group(1))
    return out


def first_line(text: str, limit: int = 200) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= limit else line[: limit - 1] + "…"
