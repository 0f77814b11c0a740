"""Plans as generators, replayed against what has happened.

A plan is a generator: it yields the calls that it wants next and is sent their results; it returns
its answer. Nothing is remembered between model calls: each time the plan starts anew, is fed the
results that the transcript holds, and stops at the first calls that have none. Those are emitted.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .intents import Request
from .text import Lang
from .transcript import Done, Transcript

# Calls that may be made again when they were interrupted; the others may have done something.
_REPEATABLE = frozenset({"Glob", "Grep", "Read", "TaskGet", "TaskList", "AskUser"})
_CHANGING = frozenset({"Bash", "Write", "Edit"})


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    args: dict[str, Any]


@dataclass(slots=True)
class Answer:
    """``text`` is Markdown for the person; ``body`` what a following step would write to a file;
    ``files`` what a following step may mean by "it"."""

    text: str
    body: str = ""
    files: list[str] = field(default_factory=list[str])
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Want:
    """Calls to make together, and what to say before them."""

    calls: tuple[Call, ...]
    say: str = ""


Plan = Generator[Want, list[Done], Answer]


class Stopped(Exception):
    """A plan cannot go on; the answer says why."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.text)
        self.answer = answer


@dataclass(slots=True)
class World:
    """What a plan may know besides its request."""

    request: Request
    transcript: Transcript
    tools: frozenset[str]

    @property
    def lang(self) -> Lang:
        return self.request.lang


def call(name: str, say: str = "", **args: Any) -> Want:
    return Want((Call(name, args),), say)


class _Ledger:
    """The results of a turn, handed to the plan that asks for them. What was read may be asked for
    again, until something was changed."""

    def __init__(self, done: Sequence[Done]) -> None:
        self._fresh = [d for d in done if d.state != "missing"]
        self._read: list[Done] = []

    def result(self, call: Call) -> Done | None:
        """The result of ``call``: of the very same call; else, for calls that a person may have
        edited before allowing them, of the next one of that name."""
        known = next((d for d in self._read if d.name == call.name and _same(d, call)), None)
        if known is not None:
            return known
        fresh = [d for d in self._fresh if d.name == call.name]
        if call.name in _REPEATABLE:
            fresh = [d for d in fresh if d.state not in ("interrupted", "running")]
        found = next((d for d in fresh if _same(d, call)), None)
        if found is None and call.name in _CHANGING and fresh:
            found = fresh[0]
        if found is None:
            return None
        self._fresh.remove(found)
        if call.name in _CHANGING:
            self._read.clear()
        else:
            self._read.append(found)
        return found


def _same(done: Done, call: Call) -> bool:
    mine, theirs = (json.dumps(a, sort_keys=True, default=str) for a in (call.args, done.args))
    return mine == theirs


def replay(plan: Plan, done: Sequence[Done]) -> Want | Answer:
    """What comes next: calls without results yet, or the answer."""
    ledger = _Ledger(done)
    try:
        want = next(plan)
        while True:
            results = [ledger.result(c) for c in want.calls]
            missing: list[Call] = []
            for wanted, result in zip(want.calls, results, strict=True):
                if result is None and wanted not in missing:
                    missing.append(wanted)
            if missing:
                return Want(tuple(missing), want.say)
            want = plan.send([r for r in results if r is not None])
    except StopIteration as end:
        return end.value
    except Stopped as stop:
        return stop.answer
    finally:
        plan.close()
