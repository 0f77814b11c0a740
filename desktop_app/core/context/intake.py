"""Taking messages into a ledger: many at once, each in microseconds.

An ``Intake`` is what of a ledger grows while messages are taken in, as plain lists and sets. It is
opened on a ledger and closed into one; what lists hold is shared with others and is replaced,
never changed, but for ``lists``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from desktop_app.core.messages import Msg, ToolCallBlock

from .artifacts import Action
from .columns import Keys
from .cuts import Cuts
from .findings import shape
from .giving import said_already
from .glimpses import RESULTS, Answer, glimpses
from .holdings import Holdings
from .iterations import iterations
from .ledger import FAILED, SKILLS, Count, Failed, Ledger, Pin, Touched, is_pinned
from .pieces import key_of
from .reading import Called, Found, Rule, Step, Words, item_of, read_step, read_words
from .rules import PASTED as RULES_OF_PASTED
from .rules import about_the_same, binds, speaks_of_rules
from .said import PASTED, Said
from .todos import TodoList, bring
from .types import Evidence, ItemKind, ItemStatus, LedgerItem


class Intake:
    """Of one ledger. ``cuts`` are the pieces of what was said (as far as they were looked for),
    ``answers`` the newest ones that were taken in, for what stood out in them."""

    __slots__ = (
        "_count",
        "answers",
        "cuts",
        "failed",
        "files",
        "items",
        "lists",
        "pins",
        "said",
        "shapes",
        "skills",
    )

    def __init__(self, ledger: Ledger, count: Count) -> None:
        self._count = count
        self.said: list[Said] = list(ledger.said)
        self.items = Holdings(ledger.items, count)
        texts = [i.text for i in ledger.items if i.kind != "constraint"]
        self.shapes = Keys((), [key_of(shape(text)) for text in texts])
        self.cuts = Cuts()
        self.pins: list[Pin] = list(ledger.pins)
        self.lists: list[TodoList] = [n.model_copy(deep=True) for n in ledger.lists]
        # Newest last; one that is touched now is known by its fields alone until the end.
        self.files: dict[str, Touched | dict[str, Any]] = {f.path: f for f in ledger.files}
        self.failed: list[Failed] = list(ledger.failed)
        self.skills: list[str] = list(ledger.skills)
        self.answers: list[Answer] = []

    def copy(self) -> Intake:
        other = object.__new__(Intake)
        other._count = self._count
        other.said, other.items, other.pins = self.said[:], self.items.copy(), self.pins[:]
        other.shapes, other.files = self.shapes.copy(), dict(self.files)
        other.cuts = self.cuts
        self.cuts.shared = True
        other.lists = [n.model_copy(deep=True) for n in self.lists]
        other.failed, other.skills = list(self.failed), list(self.skills)
        other.answers = self.answers[-RESULTS:]
        return other

    def close(self, ledger: Ledger) -> None:
        """Put all of it into ``ledger``."""
        ledger.said, ledger.pins = self.said, self.pins
        ledger.hold(self.items)
        ledger.cuts = self.cuts
        ledger.lists, ledger.failed, ledger.skills = self.lists, self.failed, self.skills
        ledger.files = [Touched.of(f) if isinstance(f, dict) else f for f in self.files.values()]
        ledger.seen = [*ledger.seen, *glimpses(self.answers, {g.text for g in ledger.seen})]

    def cut(self) -> None:
        """Look for the pieces of what was said, as far as a ledger of it asks for them."""
        self.cuts = self.cuts.grown(self.said, self._count)

    # -- messages --------------------------------------------------------------------------------

    def take(self, messages: Sequence[Msg]) -> None:
        """Messages that nobody has read yet, oldest first."""
        for msg in messages:
            if msg.role == "user":
                self.take_person(msg, read_words(msg))
            elif msg.role == "assistant":
                for step in iterations(msg.content):
                    self.take_step(msg, read_step(msg, step))

    def take_person(self, msg: Msg, words: Words | None) -> None:
        """A message of the person."""
        if words is None:
            return
        text, rules = words.text, words.rules
        if rules and len(text) > PASTED and self._count(text) > PASTED:
            rules = rules[:RULES_OF_PASTED]
        for number, rule in enumerate(rules):
            self._rule(rule, msg.id, number)
        if msg.metadata and is_pinned(msg.metadata):
            self.pins.append(Pin(id=msg.id, who="user", text=text))
        else:
            self.said.append(words.said)

    def take_step(self, msg: Msg, step: Step) -> None:
        """A step of a reply."""
        if msg.metadata and is_pinned(msg.metadata):
            for told in step.texts:
                self.pins.append(Pin(id=told.block.id, who="assistant", text=told.block.text))
        if step.lists:
            for told in step.texts:
                if told.boxes is not None:
                    bring(self.lists, told.boxes, msg.id)
        for found in step.found:
            self._found(found)
        for called in step.calls:
            self._call(called)

    # -- rules and findings ----------------------------------------------------------------------

    def _rule(self, rule: Rule, ref: str, number: int) -> None:
        """A rule, or what takes earlier ones back."""
        rules = [self.items.at(n) for n in self.items.rules]
        if rule.back:
            meant = [i for i in rules if i.status == "open" and about_the_same(rule.text, i.text)]
            for item in meant:
                self._close(item, "revoked", rule.text)
            if meant or not (binds(rule.text) or speaks_of_rules(rule.text)):
                return  # what takes no rule back is a change of mind, said at its place in order
        known = next((i for i in rules if i.text == rule.text), None)
        if known is not None:
            if known.status != "open" or known.by:
                self._close(known, "open", "")
            return
        self.set_rule(f"constraint-{ref}-{number}", rule, Evidence(ref, rule.text))

    def set_rule(self, name: str, rule: Rule, evidence: Evidence) -> None:
        """A rule that stands nowhere yet."""
        item = LedgerItem(name, "constraint", rule.text, rule.modality, "user", (evidence,))
        self.items.add(item, self._count)

    def _close(self, item: LedgerItem, status: ItemStatus, by: str) -> None:
        """Close (or open) an item: by one in its place, since others share it."""
        place = next(n for n, i in enumerate(self.items.all()) if i is item)
        self.items.put(place, item._replace(status=status, by=by))

    def note(self, kind: ItemKind, name: str, text: str, evidence: Evidence) -> None:
        """A decision or a fact that a model noted. It closes nothing, and is left out where it
        stands already in somebody's words."""
        others = [i for i in self.items.all() if i.kind != "constraint"]
        if not said_already(text, others):
            self._found(item_of(kind, name, text, evidence, by_model=True))

    def _found(self, found: Found) -> None:
        """A decision or a fact, unless it stands there already, closed or not. A decision of the
        agent that tells a change closes the one that it names."""
        if found.key in self.shapes:
            return
        self.shapes.add(found.key)
        if found.changes:
            for other in list(self.items.all()):
                still = other.kind == "decision" and other.status == "open"
                if still and about_the_same(found.item.text, other.text):
                    self._close(other, "superseded", found.item.id)
        self.items.add(found.item, self._count)

    # -- calls -----------------------------------------------------------------------------------

    def _call(self, called: Called) -> None:
        call, result, what = called.call, called.result, called.what
        if result.metadata and is_pinned(result.metadata):
            self.pins.append(Pin(id=_name_of(call), who=call.name, text=result.text()))
        if self.failed and any(f.what == what for f in self.failed):
            self.failed = [f for f in self.failed if f.what != what]
        if result.state == "error":
            self.failed = [*self.failed, Failed(what=what, why=called.why, ref=call.id)][-FAILED:]
        if called.change is not None:
            bring(self.lists, called.change, call.id)
        for path, action in called.files:
            self._touch(path, action, call.id)
        if name := called.skill:
            self.skills = [*(s for s in self.skills if s != name), name][-SKILLS:]
        if called.answer is not None:
            self.answers.append(called.answer)

    def _touch(self, path: str, action: Action, ref: str) -> None:
        known = self.files.pop(path, None)
        if known is None:
            self.files[path] = {"path": path, action: 1, "ref": ref}
        else:
            fields = known if isinstance(known, dict) else known.model_dump()
            self.files[path] = {**fields, action: fields.get(action, 0) + 1, "ref": ref}


def _name_of(call: ToolCallBlock) -> str:
    """Our operation's id where there is one: the provider's may repeat."""
    own = (call.model_extra or {}).get("op_id")
    return own if isinstance(own, str) else call.id


def absorb(ledger: Ledger, messages: Sequence[Msg], count: Count) -> None:
    """Take messages that leave the context into ``ledger``, oldest first."""
    intake = Intake(ledger, count)
    intake.take(messages)
    intake.close(ledger)
