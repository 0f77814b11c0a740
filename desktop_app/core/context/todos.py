"""What is still to be done, out of to-do tools of any name and shape, and of checklists in text.

Known by the form of a call's arguments: a list of entries with a text and a state; a list of
strings under a tool that is named for it; Markdown boxes; or one entry at a time under a tool whose
name says that it adds or finishes one. The program's own task list is state and is not read here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, cast

from desktop_app.core.messages import WireModel

_TOOL = re.compile(r"to_?do|check_?list|plan(?!e)|task|back_?log|agenda|待办|清单", re.IGNORECASE)
_ADDS = re.compile(r"add|create|new|append|insert|put", re.IGNORECASE)
_ENDS = re.compile(r"complete|done|finish|close|resolve|remove|delete|check|tick", re.IGNORECASE)
_TEXT = (
    "content",
    "text",
    "title",
    "subject",
    "step",
    "task",
    "name",
    "description",
    "item",
    "todo",
    "label",
    "summary",
    "goal",
    "activeForm",
)
_STATE = ("status", "state", "done", "completed", "complete", "checked", "finished", "progress")
_DONE = re.compile(
    r"done|complete|finish|close|cancel|delete|remove|resolve|skip|abandon|true|x|✓|✔|✅|完成|取消|关闭",
    re.IGNORECASE,
)
_NOT_DONE = re.compile(r"not|in.?complete|un|todo|未|没", re.IGNORECASE)
_UNDER_WAY = re.compile(r"progress|active|doing|started|current|running|进行", re.IGNORECASE)
_BOX = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+\[([ xX✓✔~-]?)\]\s+(.+?)\s*$", re.MULTILINE)
OWN = frozenset({"TaskCreate", "TaskGet", "TaskList", "TaskUpdate"})
MANY = 200  # entries of one list


class Todo(WireModel):
    text: str
    state: str = "pending"  # pending, in_progress, done
    key: str = ""  # an id that the tool gave it


class TodoList(WireModel):
    """The newest state of one list. ``tool`` keeps it: a tool's name, or "text"."""

    tool: str
    ref: str = ""  # the message or call that it was last seen in
    todos: list[Todo]

    def open(self) -> list[Todo]:
        return [t for t in self.todos if t.state != "done"]


def is_list(tool: str) -> bool:
    """Whether a tool is named like one that keeps a list of things to do."""
    return _TOOL.search(tool) is not None


def _state(value: object) -> str:
    if isinstance(value, bool | int | float):
        return "done" if value is True or (value is not False and value >= 100) else "pending"
    text = str(value or "").strip()
    if _UNDER_WAY.search(text) and not _NOT_DONE.match(text):
        return "in_progress"
    return "done" if _DONE.match(text) and not _NOT_DONE.match(text) else "pending"


def _entry(value: Any) -> Todo | None:
    if not isinstance(value, dict):
        return None
    fields = cast(dict[str, Any], value)
    text = next((fields[k] for k in _TEXT if isinstance(fields.get(k), str) and fields[k]), None)
    state = next((fields[k] for k in _STATE if k in fields), None)
    if text is None or state is None:
        return None
    key = fields.get("id", fields.get("key", ""))
    return Todo(text=text, state=_state(state), key=str(key or ""))


def boxes(text: str) -> list[Todo]:
    """The Markdown boxes of a text."""
    if "[" not in text:
        return []
    found: list[Todo] = []
    for mark, words in _BOX.findall(text):
        state = {"": "pending", " ": "pending", "-": "in_progress", "~": "in_progress"}
        found.append(Todo(text=words, state=state.get(mark, "done")))
    return found[:MANY]


def listed(tool: str, arguments: Mapping[str, Any]) -> list[Todo]:
    """The whole list that a call of ``tool`` sets; empty when it is none."""
    if tool in OWN:
        return []
    for value in _values(arguments):
        if isinstance(value, list) and value:
            entries = [_entry(v) for v in cast(list[Any], value)]
            if all(e is not None for e in entries):
                return [e for e in entries if e is not None][:MANY]
            texts = [v for v in cast(list[Any], value) if isinstance(v, str) and v.strip()]
            if _TOOL.search(tool) and len(texts) == len(cast(list[Any], value)):
                return [_marked(t) for t in texts][:MANY]
        elif isinstance(value, str) and _TOOL.search(tool) and (found := boxes(value)):
            return found
    return []


def _values(arguments: Mapping[str, Any]) -> list[Any]:
    """The arguments, and those one level inside them."""
    inner = [v for a in arguments.values() if isinstance(a, dict) for v in cast(Any, a).values()]
    return [*arguments.values(), *inner]


def _marked(text: str) -> Todo:
    found = boxes(text if text.lstrip().startswith(("-", "*")) else f"- {text}")
    return found[0] if found else Todo(text=text)


def one(tool: str, arguments: Mapping[str, Any]) -> tuple[str, Todo] | None:
    """A single entry that a call adds or ends: ("add" or "end", entry)."""
    if tool in OWN or not _TOOL.search(tool):
        return None
    text = next((arguments[k] for k in _TEXT if isinstance(arguments.get(k), str)), "")
    key = next((str(arguments[k]) for k in ("id", "key", "index") if k in arguments), "")
    state = next((_state(arguments[k]) for k in _STATE if k in arguments), None)
    if state == "done" or (state is None and _ENDS.search(tool)):
        return ("end", Todo(text=text, key=key)) if text or key else None
    if text and (_ADDS.search(tool) or state is not None):
        return "add", Todo(text=text, state=state or "pending", key=key)
    return None


_GIVEN = re.compile(r"(?:\bid\b\W{0,4}|#|\btodo |\btask |\bitem )([\w-]{1,40})", re.IGNORECASE)


def key_given(result: str) -> str:
    """The id that a tool's answer gives a new entry; empty when it names none."""
    match = _GIVEN.search(result[:400])
    return match.group(1) if match else ""


class Change(NamedTuple):
    """What a call or a text does to the lists: ``set`` a whole one, ``boxes`` of a text (which end
    no list about other things), ``add`` one entry or ``end`` one. ``tool`` keeps the list."""

    tool: str
    what: Literal["set", "boxes", "add", "end"]
    entries: list[Todo]


def change_of(tool: str, arguments: Mapping[str, Any], answer: str) -> Change | None:
    """What a call that succeeded does to the lists; ``answer`` may name a new entry's id."""
    if entries := listed(tool, arguments):
        return Change(tool, "set", entries)
    change = one(tool, arguments)
    if change is None:
        return None
    what, entry = change
    if what == "add":
        entry.key = entry.key or key_given(answer)
        return Change(_family(tool), "add", [entry])
    return Change(_family(tool), "end", [entry])


def bring(lists: list[TodoList], change: Change, ref: str) -> None:
    """Bring ``lists`` up to date with a change, which stays as it is."""
    entries = [e.model_copy() for e in change.entries]
    known = next((n for n in lists if n.tool == change.tool), None)
    if change.what == "set":
        _replace(lists, change.tool, entries, ref)
    elif change.what == "boxes":
        if known is not None and not {t.text for t in known.todos} & {t.text for t in entries}:
            entries = [*known.open(), *entries]
        _replace(lists, change.tool, entries, ref)
    elif change.what == "add":
        if known is None:
            known = TodoList(tool=change.tool, todos=[])
            lists.append(known)
        known.todos = [t for t in known.todos if t.text != entries[0].text][-MANY:]
        known.todos.append(entries[0])
        known.ref = ref
    else:
        for todos in lists if known is None else [known]:
            _end(todos, entries[0])


def _end(todos: TodoList, entry: Todo) -> None:
    for todo in todos.todos:
        same = todo.key == entry.key if entry.key and todo.key else todo.text == entry.text
        if same:
            todo.state = "done"


def update(
    lists: list[TodoList], tool: str, arguments: Mapping[str, Any], answer: str, ref: str
) -> None:
    """Bring ``lists`` up to date with a call that succeeded."""
    if (change := change_of(tool, arguments, answer)) is not None:
        bring(lists, change, ref)


def boxes_of(text: str) -> Change | None:
    """The checklist in a text of the agent."""
    entries = boxes(text)
    return Change("text", "boxes", entries) if entries else None


def update_text(lists: list[TodoList], text: str, ref: str) -> None:
    """Bring ``lists`` up to date with a checklist that the agent wrote. One about other things
    than the last one does not end that."""
    if (change := boxes_of(text)) is not None:
        bring(lists, change, ref)


def _replace(lists: list[TodoList], tool: str, entries: list[Todo], ref: str) -> None:
    lists[:] = [n for n in lists if n.tool != tool]
    lists.append(TodoList(tool=tool, ref=ref, todos=entries))


def _family(tool: str) -> str:
    """Tools of one list differ in their verb: add_todo, complete_todo."""
    return re.sub(f"{_ADDS.pattern}|{_ENDS.pattern}|[_-]", "", tool, flags=re.I).lower() or tool
