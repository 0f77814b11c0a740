"""Grep answers the same whether ripgrep searches or we do, on whatever is in a folder; and a
ripgrep that breaks, or is told by its own settings to run programs, changes nothing."""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desktop_app.core.errors import ToolFailure, WorkspaceError
from desktop_app.core.tools.base import ToolContext
from desktop_app.core.tools.grep import Grep
from desktop_app.core.workspaces.local import LocalBackend
from tests.core.tools.test_search import fill, grep
from tests.helpers.tools import WithoutRipgrep, make_context, with_ripgrep

# Names and lines that engines have read in different ways, beside plain ones.
NAMES = [
    "a.py", "b.txt", "c.log", "keep.log", "out", "src", "x y", "größe.md", "数据", "-d", "[x].py",
    "{b}.py", "a*b", ".hid", ".git", "node_modules", "t.tmp", "#h", "!n", "a\\b", ".ignore",
    "Z.TXT",
]  # fmt: skip
LINES = [
    "needle", "Needle x", "", "other", "größe needle", "needle\tx", "  needle  ", "数据 needle",
    "needle\u2028b", "\x0cneedle", "e\u0301", "foo.bar(needle)", "x" * 2100 + "needle", "ÄNEEDLE",
]  # fmt: skip
IGNORED = [
    "*.log", "/out/", "out", "!keep.log", "src/", "**/out", "a*", "\\#h", "\\!n", "#c", " b.txt",
    "b.txt ", "x\\ y", "[a-c].py", "!a.py", "*", "!*/", "/x y", "src/**", "**/src/b.txt", "a\\*b",
    "größe.md", "b.txt\r", "?.py", "[!a].py", "out/**/a.py", "/*.py", "数据", "a\\\\b", "src/out",
    "\u2028a.py", "b.txt\x0c", "[x].py", "\\[x].py",
]  # fmt: skip
PATTERNS = [
    "needle", "NEEDLE", "^needle", "needle$", "^$", "größe", r"\bneedle\b", "n.*x", "[^a]needle",
    "needle|other", "数据", r"\s+needle", r"\w+\.\w+", "x{10}", "(?i)ä", ".", r"\S$", r"\p{Han}",
]  # fmt: skip
GLOBS = [
    "*.py", "*.{py,txt}", "src/*", "**/*.py", "!*.py", "[a-c].*", "*.log", "out/*", "*/a.py", "out",
    "größe*", "{b}.py", "/a.py", "src/**", "!src/**", "!out", "**/out/**", "a\\*b", "[[]x].py",
    "./a.py", "a.py/", "#h", "x y", "[x",
]  # fmt: skip

texts = st.builds(
    lambda lines, end, last: end.join([*lines, last]),
    st.lists(st.sampled_from(LINES), max_size=5),
    st.sampled_from(["\n", "\n", "\r\n"]),
    st.sampled_from(["", "needle"]),
)
contents = st.one_of(
    texts.map(str.encode),
    texts.map(lambda text: text.encode("utf-16")),
    texts.map(lambda text: b"\xef\xbb\xbf" + text.encode()),
    texts.map(lambda text: text.encode() + b"\0" + text.encode()),
    texts.map(lambda text: b"y\n" * 40_000 + text.encode()),
)
ignoring = st.lists(st.sampled_from(IGNORED), min_size=1, max_size=4).map(
    lambda lines: {".gitignore": "\n".join(lines).encode()}
)
trees = st.recursive(
    st.dictionaries(st.sampled_from(NAMES), contents, max_size=4),
    lambda inner: st.builds(
        lambda files, folders, ignore: {**files, **folders, **ignore},
        st.dictionaries(st.sampled_from(NAMES), contents, max_size=4),
        st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
        st.one_of(st.just({}), ignoring),
    ),
    max_leaves=6,
)
questions = st.fixed_dictionaries(
    {
        "pattern": st.sampled_from(PATTERNS),
        "output_mode": st.sampled_from(["content", "count", "files_with_matches"]),
        "head_limit": st.just(0),
    },
    optional={
        "glob": st.sampled_from(GLOBS),
        "-i": st.just(True),
        "type": st.sampled_from(["py", "txt", "md"]),
        "context": st.integers(1, 2),
        "path": st.sampled_from(["src", "out", "数据", "a.py", "!n", "x y"]),
    },
)


def plant(folder: Path, tree: dict[str, Any]) -> None:
    for name, content in tree.items():
        if isinstance(content, dict):
            (folder / name).mkdir()
            plant(folder / name, content)
        else:
            (folder / name).write_bytes(content)


async def answer(backend: LocalBackend, question: dict[str, Any]) -> str:
    try:
        return (await Grep().run(question, make_context(Path(backend.cwd), backend=backend))).text
    except (ToolFailure, WorkspaceError) as error:
        return f"refused: {error.code}"


@settings(max_examples=50)
@given(trees, st.lists(questions, min_size=3, max_size=5))
def test_both_ways_give_the_same_lines(tree: dict[str, Any], asked: list[dict[str, Any]]) -> None:
    async def compare(folder: Path) -> None:
        theirs, ours = with_ripgrep(folder), WithoutRipgrep(folder)
        for question in asked:
            assert await answer(theirs, question) == await answer(ours, question)
        await theirs.close()
        await ours.close()

    with tempfile.TemporaryDirectory() as name:
        plant(Path(name), tree)
        asyncio.run(compare(Path(name)))


FILES: dict[str, str | bytes] = {
    ".gitignore": "\ufeffsecret.txt\nbuild/\n\\#notes\nblank\\ \n\u2028kept.py\nmade/\n",
    "secret.txt": "needle\n",
    "build/made.py": "needle\n",
    "#notes": "needle\n",
    "blank ": "needle\n",
    "kept.py": "needle\n",
    "vendor/made/y.py": "needle\n",
    "vendor/lib/x.py": "needle\n",
    "odd/{a}.py": "needle\n",
    "odd/a\\b.py": "needle\n",
    "odd/.ignore": "kept.md\n",
    "odd/kept.md": "needle\n",
    "late.dat": b"needle\n" + b"x" * 30_000 + b"\0",
    "later.txt": b"needle\n" + b"x\n" * 40_000 + b"\0 needle\n",
    "windows.txt": "one\r\nneedle\r\nthree\r\n",
}
VISIBLE = [
    "kept.py", "later.txt", "odd/a\\b.py", "odd/kept.md", "odd/{a}.py", "vendor/lib/x.py",
    "windows.txt",
]  # fmt: skip


@pytest.mark.parametrize(
    ("args", "lines"),
    [
        # what git does with marks, escapes and blanks of an ignore file; .ignore is nothing
        ({}, VISIBLE),
        # a directory that is left out is so with all in it; one that is asked for is entered
        ({"glob": "!vendor"}, [f for f in VISIBLE if "vendor" not in f]),
        ({"glob": "vendor/**"}, ["vendor/lib/x.py", "vendor/made/y.py"]),
        ({"glob": "{a}.py"}, ["odd/{a}.py"]),
        ({"glob": "a\\b.*"}, ["odd/a\\b.py"]),
        ({"glob": "#*"}, ["#notes"]),
        # a file that is no text is left out unless it is named
        ({"path": "late.dat", "output_mode": "content"}, ["late.dat:1:needle"]),
        # line ends of Windows are line ends
        ({"pattern": r"one\nneedle$", "multiline": True}, ["windows.txt"]),
        ({"pattern": r"one\r\nneedle", "multiline": True}, ["windows.txt"]),
    ],
)
async def test_what_engines_disagreed_on(
    searching: ToolContext, folder: Path, args: dict[str, Any], lines: list[str]
) -> None:
    fill(folder, FILES)
    assert await grep(searching, **{"pattern": "needle", **args}) == lines


async def test_a_name_that_is_no_text_is_shown_with_marks(
    searching: ToolContext, folder: Path
) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/gr\xf6\xdfe.txt")).write_text("needle\n")
    assert await grep(searching, "needle") == ["gr\ufffd\ufffde.txt"]


async def test_a_long_line_before_a_match_is_cut_once(searching: ToolContext, folder: Path) -> None:
    fill(folder, {"f": "a" * 3000 + "\nneedle\n"})
    first, _ = await grep(searching, "needle", output_mode="content", context=1)
    assert first == "f-1-" + "a" * 2000 + " [cut here: 3,000 characters]"


async def test_settings_of_ripgrep_that_run_programs_count_for_nothing(folder: Path) -> None:
    """``--pre`` in a config file would run a program of the folder for every file."""
    fill(folder, {"f": "needle\n", "evil": "#!/bin/sh\ntouch ran\n", "rc": "--pre=./evil\n"})
    (folder / "evil").chmod(0o755)
    backend = with_ripgrep(folder)
    backend._env = {**(backend._env or {}), "RIPGREP_CONFIG_PATH": str(folder / "rc")}
    ctx = make_context(folder, backend=backend)
    for pattern in ("needle", "--pre=./evil", "--pre", "-f"):
        out = await Grep().run({"pattern": pattern, "glob": "--pre=./evil"}, ctx)
        assert out.metadata["slipway"]["engine"] == "rg"
    assert await grep(ctx, "needle") == ["f"]
    assert not (folder / "ran").exists()
    await backend.close()


@pytest.mark.parametrize("end", ["exit 101", "kill -9 $$", "echo 'regex broke' >&2; exit 134"])
async def test_a_ripgrep_that_breaks_is_not_believed(
    folder: Path, tmp_path: Path, end: str
) -> None:
    """Half an answer of theirs would look like a whole one."""
    fill(folder, {"a": "needle\n", "b": "needle\n", ".env": "needle\n"})
    programs = tmp_path / "bin"
    path = '"path":{"text":"./a"}'
    events = [
        f'{{"type":"begin","data":{{{path}}}}}',
        f'{{"type":"match","data":{{{path},"lines":{{"text":"needle"}},"line_number":1}}}}',
        f'{{"type":"end","data":{{{path},"binary_offset":null}}}}',
    ]
    fill(programs, {"rg": "\n".join(["#!/bin/sh", *(f"echo '{e}'" for e in events), end, ""])})
    (programs / "rg").chmod(0o755)
    env = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    ctx = make_context(folder, backend=LocalBackend(folder, env=env))
    out = await Grep().run({"pattern": "needle"}, ctx)
    assert out.text.splitlines()[:2] == ["a", "b"]
    assert "1 files that may hold secrets" in out.text
    assert out.metadata["slipway"]["engine"] == "own"
    await ctx.backend.close()
