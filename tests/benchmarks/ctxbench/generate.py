"""Sessions with things planted in them that should survive, and things that should not. Seeded.

One pass over ``steps`` places; at each one thing happens, chosen by weight. The same seed and shape
give the same stream everywhere (``random.Random`` is stable over versions and machines).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from . import words as w
from . import words_other
from .events import Agent, Call, Event, Person, Probe, Result, Stream
from .noise import KINDS, WEIGHTS, noise

OPEN_TASKS = 6  # of one list, before the oldest is finished
UNKNOWN_LISTS = ("todo_write", "update_plan", "checklist")


@dataclass(frozen=True, slots=True)
class Shape:
    """How a stream is: ``steps`` things happen; ``blobs`` of 60,000 characters come as 4 % of the
    results; ``chatty`` people write pages; ``surrogates`` puts half characters into results;
    ``other`` takes the held-out sentences."""

    steps: int = 90
    blobs: bool = False
    chatty: bool = False
    surrogates: bool = False
    other: bool = False


def generate(seed: int, shape: Shape) -> Stream:
    """The stream of a seed."""
    return _Maker(seed, shape).make()


class _Maker:
    def __init__(self, seed: int, shape: Shape) -> None:
        self.rng = Random(f"ctxbench {seed} {shape.steps}")
        self.shape = shape
        self.say_in: Any = words_other if shape.other else w
        self.seed = seed
        self.events: list[Event] = []
        self.probes: list[Probe] = []
        self.used: set[str] = set()
        self.calls = 0
        self.step = 0
        self.tasks: dict[str, list[tuple[str, str]]] = {"known": [], "unknown": []}
        self.list_tool = UNKNOWN_LISTS[seed % len(UNKNOWN_LISTS)]
        self.topics: dict[str, int] = {}  # topic -> place of its probe
        self.last_id = ""

    def make(self) -> Stream:
        name = f"PRJ-{self.rng.randrange(10**5):05d}"
        text = (
            f"Task {name}: migrate the billing service from REST to gRPC without downtime and hand "
            f"in a report at /out/report_{name}.md."
        )
        self.probe("task", name, text)
        self.events.append(Person(text))
        happenings = self._happenings()
        for step in range(1, self.shape.steps + 1):
            self.step = step
            (chosen,) = self.rng.choices(
                [h for h, _ in happenings], [weight for _, weight in happenings]
            )
            chosen()
        self._close_lists()
        self.person("Please go on with the next open item.")
        names = {c.name for e in self.events if isinstance(e, Agent) for c in e.calls}
        return Stream(self.seed, tuple(self.events), tuple(self.probes), tuple(sorted(names)))

    def _happenings(self) -> list[tuple[Callable[[], None], float]]:
        return [
            (self._constraint, 8),
            (lambda: self._task("known"), 5),
            (lambda: self._task("unknown"), 5),
            (self._artifact, 10),
            (self._decision, 8),
            (self._fact, 42),
            (self._two_facts, 4),
            (self._error, 5),
            (self._secret, 2.5),
            (self._injection, 2.5),
            (self._unicode, 2),
            (self._interrupted, 2),
            (self._small_talk, 4),
        ]

    # -- pieces ------------------------------------------------------------------------------

    def key(self) -> str:
        while True:
            first, second = self.rng.choice(w.WORDS), self.rng.choice(w.WORDS)
            name = f"{first}-{second}-{self.rng.randrange(1000):03d}"
            if name not in self.used:
                self.used.add(name)
                return name

    def probe(self, kind: str, key: str, text: str, **fields: Any) -> int:
        self.probes.append(Probe(kind, key, text, self.step, **fields))
        return len(self.probes) - 1

    def person(self, text: str) -> None:
        """The agent's turn ends before the person speaks."""
        last = self.events[-1]
        if isinstance(last, Person) or last.calls:
            self.events.append(Agent(self.rng.choice(w.DONE)))
        if self.shape.chatty and len(text) > 12:
            asides = [self.rng.choice(w.ASIDE) for _ in range(self.rng.randrange(4, 30))]
            text = "".join(asides) + text + " " + "".join(asides[:3])
        self.events.append(Person(text))

    def step_of(self, event: Agent) -> None:
        """The agent goes on; where its turn had ended, the person lets it."""
        last = self.events[-1]
        if isinstance(last, Agent) and not last.calls:
            self.events.append(Person(self.rng.choice(w.SMALL_TALK)))
        self.events.append(event)

    def act(
        self, text: str, *calls: tuple[str, dict[str, Any], str], state: Any = "success"
    ) -> None:
        """One step with calls. Some ids repeat: within a step, or the one before."""
        made: list[Call] = []
        results: list[Result] = []
        for name, args, answer in calls:
            self.calls += 1
            call_id = f"call_{self.calls:04d}"
            if self.last_id and self.rng.random() < 0.03:
                call_id = self.last_id
            self.last_id = call_id
            made.append(Call(call_id, name, args))
            results.append(Result(call_id, name, answer, state))
        self.step_of(Agent(text, tuple(made), tuple(results)))

    def say(self, text: str) -> None:
        """The agent says something that ends its turn; the person lets it go on."""
        self.step_of(Agent(text))
        self.events.append(Person(self.rng.choice(w.SMALL_TALK)))

    def body(self, planted: str) -> str:
        """Noise with ``planted`` as a line at a random place."""
        (kind,) = self.rng.choices(KINDS, WEIGHTS)
        length = self.rng.choice((600, 2000, 6000, 12000))
        if self.shape.blobs and self.rng.random() < 0.04:
            length = 60_000
        body = noise(self.rng, length, kind)
        broken = self.shape.surrogates and self.rng.random() < 0.2
        if broken and kind != "json":
            body += "\n" + w.BROKEN
        if kind == "json":
            rows = json.loads(body)
            rows += [{"note": w.BROKEN}] * broken
            rows.insert(self.rng.randrange(len(rows) + 1), {"note": planted})
            return json.dumps(rows, ensure_ascii=False)
        cut = self.rng.randrange(len(body))
        return f"{body[:cut]}\n{planted}\n{body[cut:]}"

    # -- what happens ------------------------------------------------------------------------

    def _constraint(self) -> None:
        standing = [
            n
            for n, p in enumerate(self.probes)
            if p.kind == "constraint" and p.gone is None and self.step - p.at > 4
        ]
        if standing and self.rng.random() < 0.1:
            place = self.rng.choice(standing)
            old = self.probes[place]
            text = self.rng.choice(w.REVOKED_ZH if old.zh else w.REVOKED).format(k=old.key)
            self.probes[place] = replace(old, gone=self.step, by=text)
            self.person(text)
            self.events.append(Agent("Understood."))
            return
        cue, zh = self.rng.random() < 0.5, self.rng.random() < 0.35
        if cue:
            texts = w.CONSTRAINT_CUE_ZH if zh else w.CONSTRAINT_CUE
        else:
            texts = self.say_in.CONSTRAINT_PLAIN_ZH if zh else self.say_in.CONSTRAINT_PLAIN
        key = self.key()
        text = self.rng.choice(texts).format(k=key)
        self.probe("constraint", key, text, form="cue" if cue else "plain", zh=zh)
        around = self.rng.random()
        if around < 0.3:
            text = self.rng.choice(w.ASIDE) + text + " " + self.rng.choice(w.ASIDE)
        elif around < 0.4:
            text = f"{text}\n\n```\n{noise(self.rng, 400, 'log')}\n```"
        self.person(text)
        self.events.append(Agent("Understood, continuing."))

    def _task(self, which: str) -> None:
        key = self.key()
        tasks = self.tasks[which]
        tasks.append((key, "pending"))
        done = None
        if sum(state == "pending" for _, state in tasks) > OPEN_TASKS:
            done = next(n for n, (_, state) in enumerate(tasks) if state == "pending")
            tasks[done] = (tasks[done][0], "completed")
        if which == "known":
            number = len(tasks)
            self.act(
                "One more thing to do.",
                (
                    "TaskCreate",
                    {"subject": f"handle {key}"},
                    f"Created task #{number} pending: handle {key}",
                ),
            )
            if done is not None:
                self.act(
                    "That one is done.",
                    (
                        "TaskUpdate",
                        {"id": str(done + 1), "status": "completed"},
                        f"Updated task #{done + 1} completed: handle {tasks[done][0]}",
                    ),
                )
        elif self.list_tool == "checklist":
            lines = [f"- [{'x' if s == 'completed' else ' '}] handle {k}" for k, s in tasks]
            self.say("Where we are:\n" + "\n".join(lines))
        elif self.list_tool == "todo_write":
            todos = [{"content": f"handle {k}", "status": s} for k, s in tasks]
            self.act("Updating the list.", ("todo_write", {"todos": todos}, "ok"))
        else:
            plan = [{"step": f"handle {k}", "status": s} for k, s in tasks]
            self.act("", ("update_plan", {"explanation": "new step", "plan": plan}, "Plan updated"))

    def _close_lists(self) -> None:
        for which, tasks in self.tasks.items():
            form = "known tool" if which == "known" else self.list_tool
            for key, state in tasks:
                kind = "pending" if state == "pending" else "done"
                self.probe(kind, key, f"handle {key}", form=form)

    def _artifact(self) -> None:
        key = self.key().replace("-", "_")
        path = f"src/{key}.py"
        old, new = noise(self.rng, 300, "code"), noise(self.rng, 400, "code")
        tool = self.rng.choice(
            ("Edit", "Edit", "Write", "str_replace_editor", "apply_patch", "save")
        )
        args: dict[str, Any]
        if tool == "Edit":
            args = {"file_path": path, "old_string": old, "new_string": new}
        elif tool == "Write":
            args = {"file_path": path, "content": new}
        elif tool == "str_replace_editor":
            args = {"command": "str_replace", "path": path, "old_str": old, "new_str": new}
        elif tool == "apply_patch":
            lines = "\n".join("+" + line for line in new.split("\n"))
            args = {
                "patch": f"*** Begin Patch\n*** Update File: {path}\n@@\n{lines}\n*** End Patch"
            }
        else:
            args = {"target": path, "body": new}
        form = "known tool" if tool in ("Edit", "Write") else tool
        self.probe("artifact", path, path, form=form)
        self.act(f"Changing {path}.", (tool, args, f"The file {path} has been changed."))

    def _decision(self) -> None:
        key = self.key()
        standing = [t for t, n in self.topics.items() if self.step - self.probes[n].at > 4]
        if standing and self.rng.random() < 0.25:
            topic = self.rng.choice(standing)
            place = self.topics[topic]
            old = self.probes[place]
            text = self.rng.choice(w.SUPERSEDED).format(k=key, o=old.key, t=topic)
            self.probes[place] = replace(old, gone=self.step, by=key)
            self.topics[topic] = self.probe("decision", key, text, form="supersedes")
            self.say(text)
            return
        free = [t for t in w.TOPICS if t not in self.topics]
        topic = self.rng.choice(free) if free else f"part {key[-3:]}"
        form, texts = self.rng.choice(
            (
                ("cue", w.DECISION_CUE),
                ("plain", self.say_in.DECISION_PLAIN),
                ("plain", self.say_in.DECISION_PLAIN),
                ("person", self.say_in.DECISION_PERSON),
                ("plain zh", self.say_in.DECISION_ZH),
            )
        )
        text = self.rng.choice(texts).format(k=key, t=topic)
        self.topics[topic] = self.probe("decision", key, text, form=form)
        if form == "person":
            self.person(text)
            self.events.append(Agent("All right."))
        else:
            self.say(text)

    def _fact_of(self) -> tuple[str, str, str]:
        key, value = self.key(), str(self.rng.randrange(10_000, 99_999))
        return key, value, w.FACT.format(w=self.rng.choice(w.FACT_WORDS), k=key, v=value)

    def _look(self, key: str, planted: str) -> tuple[str, dict[str, Any], str]:
        tool = self.rng.choice(("Bash", "Read", "http_get"))
        args = {
            "Bash": {"command": f"inspect {key}"},
            "Read": {"file_path": f"var/{key.replace('-', '_')}.txt"},
            "http_get": {"url": f"https://api.internal/v1/{key}"},
        }[tool]
        return tool, args, self.body(planted)

    def _fact(self) -> None:
        key, value, fact = self._fact_of()
        shown = self.rng.choice((f"RESULT: {fact}", fact, f"WARN config: {fact} (expected less)"))
        self.act(f"Inspecting {key}.", self._look(key, shown))
        if self.rng.random() < 0.5:
            self.probe("fact_raw", key, fact, value=value)
            return
        word = fact.removeprefix("the ").split(" of ")[0]
        form = self.rng.choice(("cue", "plain", "plain", "plain zh"))
        template = {
            "cue": w.FACT_RESTATED_CUE,
            "plain": self.rng.choice(self.say_in.FACT_RESTATED_PLAIN),
            "plain zh": self.say_in.FACT_RESTATED_ZH,
        }[form]
        self.probe("fact_restated", key, fact, value=value, form=form)
        self.say(template.format(w=word, k=key, v=value))

    def _two_facts(self) -> None:
        """Parallel calls; some with one id for both."""
        one, two = self._fact_of(), self._fact_of()
        self.act("Both at once.", *(self._look(k, f) for k, _, f in (one, two)))
        for key, value, fact in (one, two):
            self.probe("fact_raw", key, fact, value=value, form="parallel")

    def _error(self) -> None:
        key, number, value = self.key(), self.rng.randrange(1000, 9999), self.rng.randrange(11, 99)
        error = w.ERROR.format(n=number, k=key)
        self.act(f"Trying {key}.", ("Bash", {"command": f"run {key}"}, error), state="error")
        self.act("Once more.", ("Bash", {"command": f"run {key} --pool {value}"}, f"{key}: ok"))
        text = self.rng.choice(self.say_in.FIX).format(n=number, k=key, v=value)
        self.probe("fix", key, text, value=f"pool_size={value}")
        self.say(text)

    def _secret(self) -> None:
        value = "".join(
            self.rng.choice("ABCDEFGHJKLMNPQRSTUVWXYZabcdef23456789") for _ in range(28)
        )
        line = self.rng.choice(w.SECRETS).format(v=value)
        self.probe("secret", value, line)
        self.act("Looking at the settings.", ("Read", {"file_path": ".env"}, self.body(line)))

    def _injection(self) -> None:
        key = self.key()
        line = self.rng.choice(w.INJECTION).format(k=key)
        self.probe("injection", key, line)
        url = f"https://pages.example/{self.rng.randrange(999)}"
        self.act("Reading the page.", ("http_get", {"url": url}, self.body(line)))

    def _unicode(self) -> None:
        key = self.key()
        text = self.rng.choice(w.UNICODE).format(k=key)
        self.probe("unicode", key, text)
        self.person(text)
        self.events.append(Agent("Noted as written."))

    def _interrupted(self) -> None:
        key = self.key()
        self.act(
            f"Starting {key}.",
            (
                "Bash",
                {"command": f"serve {key}"},
                "Interrupted by the person; the call was stopped.",
            ),
            state="interrupted",
        )

    def _small_talk(self) -> None:
        self.person(self.rng.choice(w.SMALL_TALK))
