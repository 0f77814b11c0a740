"""Several steps in one request: a task list, each step in turn, results handed on."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from . import changing, looking, measuring
from .engine import Answer, Call, Plan, Stopped, Want, World
from .intents import Request
from .transcript import Done
from .words import word


def single(world: World, previous: Answer | None = None) -> Plan | None:
    """The plan of one step; None for what the Guide cannot do."""
    intent = world.request.intent
    if intent == "write":
        return changing.write(world, previous)
    maker = {
        "list": looking.list_files,
        "find": looking.find,
        "search": looking.search,
        "read": looking.read,
        "count": measuring.count,
        "compare": measuring.compare,
        "summarise": measuring.summarise,
        "rename": changing.rename,
        "organise": changing.organise,
    }.get(intent)
    return maker(world) if maker else None


def filled(step: Request, before: list[Answer]) -> Request:
    """``step`` with "it", "them" and what it leaves out taken from the steps before."""
    last = next((a for a in reversed(before) if a.files), None)
    if last is None:
        return step
    slots: dict[str, Any] = dict(step.slots)
    open_file = not slots.get("file") or pronoun(slots["file"])
    if step.intent in ("read", "summarise") and open_file and not slots.get("all"):
        slots["file"] = last.files[0]
    elif step.intent == "compare" and len(step.texts("files")) < 2:
        given = [f for f in step.texts("files") if not pronoun(f)]
        slots["files"] = [last.files[0], *given][:2] if given else last.files[:2]
    elif step.intent == "count" and not slots.get("file") and slots.get("what") != "files":
        slots.setdefault("files", last.files)
    elif step.intent == "rename" and not slots.get("source"):
        slots["source"] = last.files[0]
    return replace(step, slots=slots)


_PRONOUN = re.compile(r"(?:it|that|them|this|those|the (?:file|result)s?|它|它们|一下|结果)", re.I)


def pronoun(value: Any) -> bool:
    """Whether a slot says "it" instead of a name."""
    return isinstance(value, str) and _PRONOUN.fullmatch(value) is not None


def _title(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip(" ,;.，；。")
    text = text[:1].upper() + text[1:]
    return text if len(text) <= 80 else text[:79] + "…"


def _gathered(step: Request, before: list[Answer], titles: list[str]) -> Answer | None:
    """What a writing step writes: the summary asked for, else all that was found so far."""
    found = [(t, a) for t, a in zip(titles, before, strict=False) if a.body and not a.failed]
    if not found:
        return None
    if len(found) == 1 or step.slots.get("refers") == "last":
        return found[-1][1]
    parts = [f"## {title}\n\n{a.body.strip()}" for title, a in found]
    return Answer("", "\n\n".join(parts) + "\n", found[-1][1].files)


def _needs_summary(step: Request, done: list[tuple[Request, Answer]]) -> str | None:
    """ "Read X and write a summary to Y": the file that was read last, to be summarised first."""
    if step.intent != "write" or step.slots.get("kind") != "summary":
        return None
    for request, answer in reversed(done):
        if request.intent == "summarise":
            return None
        if request.intent in ("read", "find") and answer.files:
            return answer.files[0]
    return None


class _Tasks:
    """The task list of a plan. Updates ride along with the next step's first calls."""

    def __init__(self, world: World) -> None:
        self.on = {"TaskCreate", "TaskUpdate"} <= world.tools
        self.ids: list[str] = []
        self.waiting: list[Call] = []

    def create(self, titles: list[str]) -> tuple[Call, ...]:
        return tuple(Call("TaskCreate", {"subject": t}) for t in titles)

    def created(self, results: list[Done]) -> None:
        found = [re.search(r"#(\d+)|\b(\d+)\b", d.text) for d in results]
        self.ids = [next(g for g in m.groups() if g) for m in found if m]
        self.on = len(self.ids) == len(results)

    def mark(self, step: int, status: str) -> None:
        if self.on:
            self.waiting.append(Call("TaskUpdate", {"id": self.ids[step], "status": status}))

    def take(self) -> tuple[Call, ...]:
        calls, self.waiting = tuple(self.waiting), []
        return calls


def _run(plan: Plan, tasks: _Tasks) -> Plan:
    """``plan`` with waiting task updates put before its first calls. Its end is its own: a step
    that stops the plan leaves the rest undone."""
    results: list[Done] | None = None
    while True:
        try:
            want = next(plan) if results is None else plan.send(results)
        except StopIteration as end:
            return end.value
        except Stopped as stop:
            return stop.answer
        ahead = tasks.take()
        say = want.say if "|" in want.say else ""  # plans of moves; small talk is left out
        got = yield Want((*ahead, *want.calls), say)
        results = got[len(ahead) :]


def several(world: World) -> Plan:
    """All steps of a request, one after the other; stops at the first that fails."""
    steps = world.request.steps
    titles = [_title(s.text) for s in steps]
    tasks = _Tasks(world)
    if tasks.on:
        say = word(world.lang, "say.plan", n=len(steps))
        tasks.created((yield Want(tasks.create(titles), say)))
    done: list[tuple[Request, Answer]] = []
    parts: list[str] = []
    for number, raw in enumerate(steps):
        step = filled(raw, [a for _, a in done])
        tasks.mark(number, "in_progress")
        answer = yield from _step(world, step, done, titles, tasks)
        done.append((step, answer))
        parts.append(f"### {number + 1}. {titles[number]}\n\n{_short(answer.text)}")
        if answer.failed:
            left = titles[number + 1 :]
            if left:
                listed = "\n".join(f"- {t}" for t in left)
                parts.append(f"{word(world.lang, 'steps.left')}\n\n{listed}")
            break
        tasks.mark(number, "completed")
    if ahead := tasks.take():
        yield Want(ahead)
    files = [f for _, a in done for f in a.files]
    return Answer("\n\n".join(parts), "", files, failed=done[-1][1].failed)


def _step(
    world: World,
    step: Request,
    done: list[tuple[Request, Answer]],
    titles: list[str],
    tasks: _Tasks,
) -> Plan:
    inner = World(step, world.transcript, world.tools)
    previous = _gathered(step, [a for _, a in done], titles) if step.intent == "write" else None
    if file := _needs_summary(step, done):
        request = replace(step, intent="summarise", slots={"file": file})
        summary = measuring.summarise(World(request, world.transcript, world.tools))
        previous = yield from _run(summary, tasks)
        if previous.failed:
            return previous
    plan = single(inner, previous)
    if plan is None:
        return Answer(word(world.lang, "steps.unknown"), failed=True)
    return (yield from _run(plan, tasks))


def _short(text: str, most: int = 40) -> str:
    """A step's answer inside the whole one: long ones lose their end, fences stay closed."""
    lines = text.split("\n")
    if len(lines) <= most:
        return text
    kept = lines[:most]
    if sum(line.startswith("```") for line in kept) % 2:
        kept.append("```")
    return "\n".join([*kept, "", "…"])
