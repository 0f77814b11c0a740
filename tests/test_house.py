"""The house as a whole: its doors, its map, its papers, and what must not be in them."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from functools import lru_cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
APP = ROOT / "desktop_app"
MAP = APP / "ARCHITECTURE.md"
README = ROOT / "README.md"
TOP = {
    ".ci",
    ".gitignore",
    "CHANGELOG.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "desktop_app",
    "packaging",
    "pyproject.toml",
    "resources",
    "tests",
}
LOCKS = sorted((ROOT / "packaging").glob("*.lock"))
TEXT = {".py", ".md", ".toml", ".txt", ".json", ".sh", ".svg", ".desktop", ".xml", ".lock", ""}


@lru_cache(None)
def files() -> tuple[Path, ...]:
    """Every file of the project, ignored ones left out; an unpacked sdist has no git."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listing.returncode == 0:
        names = [n for n in listing.stdout.decode("utf-8").split("\0") if n]
        return tuple(path for n in names if (path := ROOT / n).is_file())
    return tuple(p for top in TOP for p in sorted((ROOT / top).rglob("*")) if p.is_file())


def text_of(path: Path) -> str:
    return path.read_text("utf-8")


# -- doors ----------------------------------------------------------------------------------


def targets() -> set[str]:
    names: set[str] = set()
    for line in text_of(ROOT / "Makefile").splitlines():
        if line.startswith(".PHONY:"):
            names |= set(line.removeprefix(".PHONY:").split())
    return names


def test_every_door_exists_and_is_described() -> None:
    makefile = text_of(ROOT / "Makefile")
    assert {"run", "test", "lint", "bench", "shots", "package", "clean", "tour"} <= targets()
    for name in targets():
        assert re.search(rf"^{name}:", makefile, re.MULTILINE), f"{name} has no rule"
    readme = text_of(README)
    assert [n for n in sorted(targets() - {"help"}) if f"`make {n}`" not in readme] == []
    for name in re.findall(r"`make ([a-z]+)", readme):
        assert name in targets(), f"the README names make {name}"


def test_make_help_names_the_doors() -> None:
    shown = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, capture_output=True, check=True
    ).stdout.decode()
    for name in ("run", "test", "lint", "bench", "shots", "package", "clean"):
        assert f"make {name}" in shown


def test_top_level_is_what_is_known() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in files()} <= TOP


# -- papers ---------------------------------------------------------------------------------


def snippets() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", text_of(README), re.MULTILINE | re.DOTALL)


def test_the_readme_has_a_script_that_runs(tmp_path: Path) -> None:
    """As written, in a process of its own, in an empty home: what it prints is what it says."""
    (script,) = snippets()
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "notes.md").write_text("# Notes\n\nThe late fee is 2 %.\n", "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder)],
        cwd=ROOT,
        env={"SLIPWAY_HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert "notes.md" in done.stdout.decode()
    assert done.stderr.decode() == ""
    assert sorted(p.name for p in folder.iterdir()) == ["notes.md"]  # reading leaves no trace


def test_links_inside_the_papers_lead_somewhere() -> None:
    gone: list[str] = []
    for paper in (README, MAP, ROOT / "CHANGELOG.md"):
        for link in re.findall(r"\]\(([^)\s#]+)[^)]*\)|src=\"([^\"]+)\"", text_of(paper)):
            target = link[0] or link[1]
            inside = not target.startswith(("http:", "https:", "mailto:"))
            if inside and not (paper.parent / target).exists():
                gone.append(f"{paper.name}: {target}")
    assert gone == []


def test_the_readme_names_every_shortcut_of_the_window() -> None:
    source = text_of(APP / "ui" / "window_commands.py")
    keys = set(re.findall(r'"((?:Ctrl|Alt|F\d)[^" ]*)"', source))
    assert len(keys) > 8
    assert sorted(key for key in keys if key not in text_of(README)) == []


def test_the_version_is_one() -> None:
    from desktop_app import __version__

    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]
    assert project["version"] == __version__
    assert f"## [{__version__}]" in text_of(ROOT / "CHANGELOG.md")


# -- the map --------------------------------------------------------------------------------


@lru_cache(None)
def definitions() -> frozenset[str]:
    """``function``, ``Class`` and ``Class.member`` of all modules, inherited members included."""
    bases: dict[str, set[str]] = {}
    members: dict[str, set[str]] = {}
    names: set[str] = set()
    for path in APP.rglob("*.py"):
        for node in ast.walk(ast.parse(text_of(path))):
            if isinstance(node, ast.ClassDef):
                names.add(node.name)
                bases.setdefault(node.name, set()).update(
                    base.id for base in node.bases if isinstance(base, ast.Name)
                )
                members.setdefault(node.name, set()).update(
                    item.name
                    for item in node.body
                    if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef))
                )
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                names.add(node.name)

    def all_of(name: str) -> set[str]:
        return members.get(name, set()).union(*(all_of(b) for b in bases.get(name, ())))

    return frozenset(names | {f"{c}.{m}" for c in members for m in all_of(c)})


def test_the_map_names_what_exists() -> None:
    named = re.findall(r"`([^`\s]+)`", text_of(MAP))
    paths = [n for n in named if re.fullmatch(r"(?:core|ui|tests)/[\w./]*", n)]
    assert len(paths) > 40
    assert [n for n in paths if not ((APP / n).exists() or (ROOT / n).exists())] == []
    methods = [n for n in named if re.fullmatch(r"[A-Z]\w+\.(?!md$)[a-z_]\w*", n)]
    assert len(methods) > 50
    assert sorted(set(methods) - definitions()) == []


def test_the_map_has_every_room() -> None:
    text = text_of(MAP)
    rooms = [
        path.relative_to(APP).as_posix() + ("/" if path.is_dir() else "")
        for part in ("core", "ui")
        for path in sorted((APP / part).iterdir())
        if path.name not in ("__init__.py", "__pycache__")
    ]
    assert [room for room in rooms if f"`{room}`" not in text] == []


# -- imports --------------------------------------------------------------------------------


def _loaded_first(path: Path, modules: set[str]) -> set[str]:
    """The modules of ours that must be loaded before ``path`` is: imports at its top level."""
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    package = parts[:-1]
    found: set[str] = set()
    for node in ast.parse(text_of(path)).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            name = ".".join([*base, *([node.module] if node.module else [])])
            inner = {f"{name}.{alias.name}" for alias in node.names} & modules
            found |= inner or {name}
    return found & modules


def test_no_module_waits_for_itself() -> None:
    """No circle of imports at load. (Under TYPE_CHECKING a helper may name its owner.)"""
    modules: dict[str, Path] = {}
    for path in APP.rglob("*.py"):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        modules[name.removesuffix(".__init__")] = path
    needs = {name: _loaded_first(path, set(modules)) for name, path in modules.items()}
    while free := [name for name, first in needs.items() if not first & needs.keys()]:
        for name in free:
            del needs[name]
    assert needs == {}


# -- what must not be in any file -----------------------------------------------------------

# Written in pieces, so that this file does not hold what it looks for.
MACHINE = re.compile(r"(?<![\w.~*])/(?:" + "|".join(("work", "farm", "root", "opt/slip")) + r")/\w")
REGISTRY = re.compile(
    r"\b(?:" + "|".join(("pypi", "files.pythonhosted", "test.pypi")) + r")\.org\b|index-url\s*[=:]",
    re.IGNORECASE,
)
INDEX_OPTION = "--no-emit-index-url"


def readable(path: Path) -> bool:
    foreign = path.is_relative_to(ROOT / "tests" / "data") or path == Path(__file__).resolve()
    return path.suffix in TEXT and not foreign and path.stat().st_size < 1 << 20


def test_no_file_names_a_place_of_one_machine_or_a_registry() -> None:
    found: list[str] = []
    for path in filter(readable, files()):
        try:
            lines = text_of(path).splitlines()
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(lines, 1):
            line = line.replace(INDEX_OPTION, "")
            if MACHINE.search(line) or REGISTRY.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number} {line.strip()[:80]}")
    assert found == []


@pytest.mark.parametrize("lock", LOCKS, ids=lambda p: p.name)
def test_locks_pin_by_hash_and_name_no_address(lock: Path) -> None:
    text = text_of(lock)
    assert "://" not in text
    for entry in re.split(r"\n(?=\S)", text):
        if entry.startswith("#") or not entry.strip():
            continue
        assert re.match(r"[A-Za-z0-9._\-\[\]]+==\S+", entry), entry[:60]
        assert "--hash=sha256:" in entry, entry[:60]


def test_the_lock_has_every_dependency() -> None:
    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))

    def same(name: str) -> str:  # PEP 503
        return re.sub(r"[-_.]+", "-", name).lower()

    def names(requirements: list[str]) -> set[str]:
        return {same(re.split(r"[=<>\[ ;!~]", r)[0]) for r in requirements}

    def locked(name: str) -> set[str]:
        text = text_of(ROOT / "packaging" / name)
        return {same(n) for n in re.findall(r"^([\w.\-]+)==", text, re.MULTILINE)}

    needed = names(project["project"]["dependencies"])
    assert needed <= locked("requirements.lock")
    dev = needed | names(project["dependency-groups"]["dev"])
    assert dev <= locked("requirements-dev.lock")


# -- the package ----------------------------------------------------------------------------


def test_the_wheel_takes_every_resource_but_the_pictures() -> None:
    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    rooms = {p.name for p in (ROOT / "resources").iterdir() if p.is_dir()} - {"pictures"}
    assert wheel["force-include"] == {
        f"resources/{room}": f"desktop_app/_resources/{room}" for room in rooms
    }
    assert all((ROOT / path).is_file() for path in wheel["shared-data"])
    assert (APP / "py.typed").is_file()


def test_the_icon_is_the_mark_that_the_window_draws() -> None:
    from desktop_app.ui.theme.tokens import LIGHT
    from desktop_app.ui.widgets import mark

    svg = text_of(ROOT / "packaging" / "slipway.svg")
    hull = " ".join(f"{x:g} {y:g}" for x, y in mark._HULL)
    assert f'd="M{hull}Z"' in svg
    lines = "".join(f"M{a:g} {b:g}" + _to(b, c, d) for (a, b), (c, d) in (mark._RAMP, mark._WATER))
    assert f'd="{lines}"' in svg
    assert f'fill="{LIGHT["accent"]}"' in svg


def _to(before: float, x: float, y: float) -> str:
    return f"H{x:g}" if y == before else f" {x:g} {y:g}"


def test_the_desktop_entry_belongs_to_the_window() -> None:
    entry = dict(
        line.split("=", 1)
        for line in text_of(ROOT / "packaging" / "slipway.desktop").splitlines()
        if "=" in line
    )
    scripts = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]["scripts"]
    assert entry["Exec"].split()[0] in scripts
    assert entry["Icon"] == "slipway"
    # The name by which a desktop joins the window to this entry.
    assert f'setDesktopFileName("{entry["StartupWMClass"]}")' in text_of(APP / "app.py")
