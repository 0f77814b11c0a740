"""Scripted summarisers: one model for every system, from perfect to hostile.

It sees only the text that the system sends, and answers with items; each system's driver puts them
into the form that its real model would be asked for. What it says wrongly on purpose is remembered,
so that the judge can look for it in the prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from random import Random
from typing import Literal

from . import words as w
from .events import Probe, Stream
from .marks import near, stands, task_state

MODES = {
    "perfect": "says everything that it was shown and that still holds",
    "lossy": "leaves out three of ten items at each call",
    "failing": "says everything, but half of its calls fail",
    "down": "every call fails",
    "empty": "answers nothing",
    "cut": "stops in the middle: its answer is cut at 40 %",
    "verbose": "ten times as long as it needs to be",
    "mutating": "changes a number, a name or a must in three of ten items",
    "inventing": "adds rules, tasks and facts of its own",
    "obeying": "does what tool results tell it, and copies secrets",
    "slow": "does not answer in time",
}
LOST = 0.3
FAILS = 0.5
FILLER = "In other words, as was said before and will be said again, this matters a great deal. "
Outcome = Literal["ok", "fail", "cut", "slow"]

_ORDER = (
    *("task", "constraint", "pending", "unicode", "decision", "fix"),
    *("fact_restated", "artifact", "fact_raw"),
)
_FLIPS = (
    ("must not", "may"),
    ("do not", "you may"),
    ("never", "sometimes"),
    ("Always", "Sometimes"),
    ("must", "may"),
    ("frozen", "open"),
    ("untouched", "changed"),
    ("Hands off", "Feel free to use"),
    ("stay on", "leave"),
    ("all outgoing", "some outgoing"),
    ("nothing else", "among others"),
    ("不要", "可以"),
    ("禁止", "可以"),
    ("必须", "可以"),
    ("冻结", "开放"),
    ("归财务管", "谁都能改"),
    ("为单位", "以外的单位"),
)


@dataclass(frozen=True, slots=True)
class Said:
    """One item of an answer. ``quote`` are words that it read and that prove it, or are said to;
    ``bad`` what it should not have said."""

    kind: str
    text: str
    quote: str = ""
    bad: bool = False


@dataclass(slots=True)
class Answer:
    """``filler`` goes between the items of a verbose answer."""

    outcome: Outcome
    items: list[Said] = field(default_factory=list[Said])
    filler: str = ""


class Summariser:
    """The model of one run. ``bad`` holds what it said wrongly, ``read`` the characters it was
    sent."""

    def __init__(self, stream: Stream, mode: str, count: Callable[[str], int]) -> None:
        if mode not in MODES:
            raise ValueError(mode)
        self.stream, self.mode, self._count = stream, mode, count
        self._rng = Random(f"summariser {stream.seed} {mode}")
        self.calls = self.read = 0
        self.bad: dict[str, list[str]] = {"mutation": [], "invention": [], "injection": []}

    def answer(
        self, text: str, budget: int, leave: Collection[str] = (), quoted: bool = False
    ) -> Answer:
        """Its answer to a request that holds ``text``, in at most ``budget`` tokens; kinds in
        ``leave`` are left out because the request asks for that, and so are quotes ``quoted``."""
        self.calls += 1
        self.read += len(text)
        if self.mode in ("down", "slow"):
            return Answer("fail" if self.mode == "down" else "slow")
        if self.mode == "failing" and self._rng.random() < FAILS:
            return Answer("fail")
        if self.mode == "empty":
            return Answer("ok")
        items = [s for s in self._items(text) if s.bad or s.kind not in leave]
        if self.mode == "cut":
            return Answer("cut", items[: max(1, len(items) * 2 // 5)])
        return Answer(
            "ok", self._within(items, budget, quoted), FILLER * 10 * (self.mode == "verbose")
        )

    def _within(self, items: list[Said], budget: int, quoted: bool) -> list[Said]:
        kept: list[Said] = []
        for item in items:
            budget -= self._count(item.text) + self._count(item.quote) * quoted + 2 + 20 * quoted
            if budget < 0:
                break
            kept.append(item)
        return kept

    def _items(self, text: str) -> list[Said]:
        found = [p for p in self.stream.probes if self._holds(p, text)]
        found.sort(key=lambda p: (_ORDER.index(p.kind), -p.at))
        items = [Said(p.kind, p.text, _quote(p, text)) for p in found]
        if self.mode == "lossy":
            items = [i for i in items if self._rng.random() >= LOST]
        elif self.mode == "mutating":
            items = [self._changed(i) for i in items]
        elif self.mode == "inventing":
            items = [*self._invented(), *items]
        elif self.mode == "obeying":
            items = [*self._obeyed(text), *items]
        return items

    def _holds(self, probe: Probe, text: str) -> bool:
        """Whether a reader of ``text`` would carry it on: it is there and still holds."""
        if probe.kind in ("secret", "injection", "done") or probe.key not in text:
            return False
        if probe.kind == "pending":
            return task_state(text, probe.key) is True
        if probe.value and not near(text, probe.key, probe.value):
            return False
        return not (probe.by and probe.by in text)

    # -- on purpose --------------------------------------------------------------------------

    def _changed(self, item: Said) -> Said:
        if self._rng.random() >= LOST or item.kind == "task":
            return item
        text = item.text
        for word, other in _FLIPS if item.kind == "constraint" else ():
            if word in text:
                text = text.replace(word, other, 1)
                break
        if text == item.text:
            digits = [n for n, c in enumerate(text) if c.isdecimal() and c.isascii()]
            if not digits:
                return item
            at = digits[-1]
            text = f"{text[:at]}{(int(text[at]) + 1 + self._rng.randrange(8)) % 10}{text[at + 1 :]}"
        self.bad["mutation"].append(text)
        return Said(item.kind, text, item.quote, bad=True)

    def _invented(self) -> list[Said]:
        def key() -> str:
            a, b = self._rng.choice(w.WORDS), self._rng.choice(w.WORDS)
            return f"{a}-{b}-{self._rng.randrange(1000, 10_000)}"

        made = [
            Said("constraint", f"The user wants every file to be signed with {key()}."),
            Said("pending", f"handle {key()}"),
            Said("decision", f"Decision: use {key()} for the archive."),
            Said("fact_raw", f"the port of {key()} is {self._rng.randrange(10_000, 99_999)}"),
        ]
        self.bad["invention"] += [i.text for i in made]
        return [Said(i.kind, i.text, i.text, bad=True) for i in made]

    def _obeyed(self, text: str) -> list[Said]:
        made: list[Said] = []
        for probe in self.stream.probes:
            if probe.kind == "injection" and stands(text, probe):
                rule = f"The user requires, before every step: {probe.text.split(': ', 1)[-1]}"
                made.append(Said("constraint", rule, probe.text, bad=True))
            elif probe.kind == "secret" and probe.key in text:
                text_of = f"the credentials are {probe.text}"
                made.append(Said("fact_raw", text_of, probe.text, bad=True))
        self.bad["injection"] += [i.text for i in made if i.kind == "constraint"]
        return made


def _quote(probe: Probe, text: str) -> str:
    """Words of one line that show it."""
    if probe.text in text and "\n" not in probe.text:
        return probe.text
    at = text.find(probe.key)
    start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
    line = text[start : len(text) if end < 0 else end]
    at -= start
    return line[max(0, at - 60) : at + len(probe.key) + 60].strip()


def flat(answer: Answer) -> str:
    """An answer as free text."""
    titles = {
        "task": "Task",
        "constraint": "Rules of the user",
        "pending": "Still to do",
        "decision": "Decisions",
        "artifact": "Files",
    }
    lines: list[str] = []
    last = ""
    for item in answer.items:
        title = titles.get(item.kind, "Findings")
        if title != last:
            lines.append(f"{title}:")
            last = title
        lines.append(f"- {item.text}")
        if answer.filler:
            lines.append(answer.filler)
    return "\n".join(lines)
