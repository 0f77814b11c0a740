"""Rules of the house that a linter does not know, read from the syntax trees."""

from __future__ import annotations

import ast
import json
import re
import string
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
APP = ROOT / "desktop_app"
CATALOGUES = ROOT / "resources" / "i18n"
FILES = sorted(APP.rglob("*.py"))
UI = [path for path in FILES if "ui" in path.relative_to(APP).parts]
CORE = [path for path in FILES if "core" in path.relative_to(APP).parts]
TR = {"tr": 0, "mark": 0, "trn": 1, "trc": 1}


@lru_cache(None)
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@lru_cache(None)
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a file, walked once."""
    return tuple(ast.walk(tree_of(path)))


def name_of(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def calls(path: Path) -> Iterator[ast.Call]:
    return (node for node in nodes(path) if isinstance(node, ast.Call))


def where(path: Path, node: ast.AST) -> str:
    return f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def literal(node: ast.expr) -> str | None:
    """The value of a literal text; None for anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


# -- loops ----------------------------------------------------------------------------------


def core_may(path: Path) -> set[str]:
    """``exec`` of a backend or a container: the core has no Qt (a contract) whose it could be."""
    return {"exec"} if path.is_relative_to(APP / "core") else set()


def test_no_nested_loops_and_no_qasync_slots() -> None:
    """They lose the wake-ups of other tasks. ``ui/bridge.py`` is where dialogs become futures."""
    banned = {"exec", "exec_", "processEvents", "asyncSlot", "asyncClose"}
    found = [
        f"{where(path, node)} {name_of(node)}"
        for path in FILES
        if path != APP / "ui" / "bridge.py"
        for node in nodes(path)
        if (isinstance(node, ast.Attribute) and node.attr in banned - core_may(path))
        or (isinstance(node, ast.Name) and node.id in banned - {"exec"})
    ]
    assert found == []


def _group_names(tree: ast.AST) -> set[str]:
    """Names bound by ``async with asyncio.TaskGroup() as name``."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.AsyncWith):
            for item in node.items:
                is_group = (
                    isinstance(item.context_expr, ast.Call)
                    and name_of(item.context_expr.func) == "TaskGroup"
                )
                if is_group and isinstance(item.optional_vars, ast.Name):
                    names.add(item.optional_vars.id)
    return names


def test_tasks_have_an_owner() -> None:
    """Only ``core/tasks.py`` creates tasks (``TaskGroup`` inside one operation aside)."""
    found: list[str] = []
    for path in FILES:
        if path in (APP / "core" / "tasks.py", APP / "ui" / "loop.py"):
            continue
        groups = _group_names(tree_of(path))
        for node in calls(path):
            name = name_of(node.func)
            of = name_of(node.func.value) if isinstance(node.func, ast.Attribute) else ""
            if name == "ensure_future" or (name == "create_task" and of not in groups):
                found.append(f"{where(path, node)} {name}")
    assert found == []


# -- look -----------------------------------------------------------------------------------

COLOUR = re.compile(r"#(?:[0-9a-fA-F]{3,4}){1,2}\b|\brgba?\(")
ROOM = {"setContentsMargins", "setSpacing", "setHorizontalSpacing", "setVerticalSpacing"}
NAMED = {"QColor", "fromRgb", "fromRgbF", "fromHsv"}


def _docstrings(tree: ast.AST) -> set[int]:
    return {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }


def _is_colour(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return COLOUR.search(node.value) is not None
    if isinstance(node, ast.Call) and name_of(node.func) in NAMED:
        return any(isinstance(arg, ast.Constant) for arg in node.args)
    is_global = isinstance(node, ast.Attribute) and name_of(node.value) == "GlobalColor"
    return is_global and node.attr != "transparent"


def test_colours_live_in_the_theme() -> None:
    found: list[str] = []
    for path in UI:
        if "theme" in path.parts:
            continue
        docs = _docstrings(tree_of(path))
        found += [
            f"{where(path, node)} {ast.unparse(node)[:60]}"
            for node in nodes(path)
            if id(node) not in docs and _is_colour(node)
        ]
    assert found == []


def _scaled_once(path: Path) -> Iterator[ast.Call]:
    """Room in a layout that is worked out in the function that makes the layout."""
    for function in nodes(path):
        if not isinstance(function, ast.FunctionDef):
            continue
        inside = list(ast.walk(function))
        made = {
            ast.unparse(target)
            for n in inside
            if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call)
            for target in n.targets
            if name_of(n.value.func)[:1].isupper()
        }
        for node in inside:
            if not isinstance(node, ast.Call) or name_of(node.func) not in ROOM:
                continue
            if not isinstance(node.func, ast.Attribute) or ast.unparse(node.func.value) not in made:
                continue
            scaled = (name_of(n.func) for n in ast.walk(node) if isinstance(n, ast.Call))
            if "px" in scaled:
                yield node


def test_room_in_a_layout_follows_the_font_size() -> None:
    """``follow`` (``ui/widgets/base.py``) sets it anew when the size changes; ``restyle`` may."""
    found = [where(path, node) for path in UI for node in _scaled_once(path)]
    assert found == []


def test_no_sheet_on_a_single_widget() -> None:
    found = [
        where(path, node)
        for path in UI
        if "theme" not in path.parts
        for node in calls(path)
        if name_of(node.func) == "setStyleSheet"
    ]
    assert found == []


# -- words ----------------------------------------------------------------------------------


def words() -> Iterator[tuple[str, str, list[str]]]:
    """(place, catalogue key, texts that share the placeholders) of every translated literal."""
    for path in UI:
        if path == APP / "ui" / "i18n.py":
            continue
        for node in calls(path):
            kind = name_of(node.func)
            if kind not in TR or not isinstance(node.func, (ast.Name, ast.Attribute)):
                continue
            texts = [literal(arg) for arg in node.args[: TR[kind] + 1]]
            if None in texts or not texts:
                continue
            known = [text for text in texts if text is not None]
            if kind == "trc":
                yield where(path, node), f"{known[0]}|{known[1]}", known[1:]
            else:
                yield where(path, node), known[-1], known


def test_texts_given_to_tr_are_literals() -> None:
    """Anything computed cannot be found by translators; ``tr(variable)`` is for texts that were
    marked with ``mark``, and never an f-string."""
    found: list[str] = []
    for path in UI:
        for node in calls(path):
            if name_of(node.func) not in TR:
                continue
            for arg in node.args:
                if isinstance(arg, (ast.JoinedStr, ast.BinOp)) or (
                    isinstance(arg, ast.Call) and name_of(arg.func) == "format"
                ):
                    found.append(where(path, node))
    assert found == []


def catalogue(language: str) -> dict[str, str]:
    merged: dict[str, str] = {}
    for path in sorted((CATALOGUES / language).glob("*.json")):
        for key, value in json.loads(path.read_text("utf-8")).items():
            assert merged.get(key, value) == value, f"{path.name}: two translations of {key!r}"
            merged[key] = value
    return merged


@pytest.mark.parametrize("language", ["zh_CN"])
def test_every_text_is_translated(language: str) -> None:
    table = catalogue(language)
    missing = [
        f"{place} {key!r}"
        for place, key, texts in words()
        if key not in table and texts[-1] not in table
    ]
    assert missing == []


@pytest.mark.parametrize("language", ["zh_CN"])
def test_placeholders_are_the_same(language: str) -> None:
    table = catalogue(language)
    wrong: list[str] = []
    for place, key, texts in words():
        names = placeholders(texts[-1])
        # The singular may say the number in words, the translation needs what the plural has.
        if len(texts) == 2 and not placeholders(texts[0]) <= names | {"n"}:
            wrong.append(f"{place} {texts[0]!r}")
        if key in table and placeholders(table[key]) != names:
            wrong.append(f"{place} {key!r} -> {table[key]!r}")
    assert wrong == []


def test_catalogues_hold_nothing_empty() -> None:
    for path in CATALOGUES.rglob("*.json"):
        table = json.loads(path.read_text("utf-8"))
        assert [key for key, value in table.items() if not value.strip()] == [], path.name


# -- errors ---------------------------------------------------------------------------------

FAMILY = {
    "SlipwayError",
    "WorkspaceError",
    "ToolFailure",
    "ModelError",
    "SessionError",
    "ContextError",
    "SettingsError",
}
CODE = re.compile(r"[a-z][a-z0-9]*(?:_[a-z]+)*\.[a-z0-9_]+(?:\.[a-z0-9_]+)*\Z")


@lru_cache(None)
def family() -> frozenset[str]:
    """The error classes of the core, those that rooms derive from them included."""
    names = set(FAMILY)
    classes = [node for path in CORE for node in nodes(path) if isinstance(node, ast.ClassDef)]
    before = 0
    while len(names) != before:
        before = len(names)
        names |= {c.name for c in classes if {name_of(b) for b in c.bases} & names}
    return frozenset(names)


def codes() -> Iterator[tuple[str, str]]:
    names = family()
    for path in CORE:
        for node in calls(path):
            if name_of(node.func) in names and node.args and (code := literal(node.args[0])):
                yield where(path, node), code


def test_every_error_of_the_core_has_words() -> None:
    from desktop_app.ui.error_words import WORDS

    missing = sorted({code for _, code in codes()} - set(WORDS))
    assert missing == []


def test_codes_are_dotted() -> None:
    assert [f"{place} {code}" for place, code in codes() if not CODE.match(code)] == []


def test_words_name_known_actions_and_parameters_that_are_given() -> None:
    from desktop_app.ui.error_words import WORDS
    from desktop_app.ui.errors import ACTIONS

    names = family()
    given: dict[str, set[str]] = {}
    for path in CORE:
        for node in calls(path):
            if name_of(node.func) in names and node.args and (code := literal(node.args[0])):
                mine = {k.arg for k in node.keywords if k.arg}
                if all(k.arg for k in node.keywords):
                    given[code] = given.get(code, mine) | mine
    wrong: list[str] = []
    for code, (*texts, action) in WORDS.items():
        if action and action not in ACTIONS:
            wrong.append(f"{code}: no action {action}")
        wanted = set().union(*(placeholders(text) for text in texts))
        if code in given and not wanted <= given[code]:
            wrong.append(f"{code}: {sorted(wanted - given[code])} never given")
    assert wrong == []
