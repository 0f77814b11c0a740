"""Grep and Glob: the same answers with ripgrep and without; bounds; what is left out."""

from __future__ import annotations

import gc
import os
import time
from pathlib import Path
from typing import Any

import pytest

from desktop_app.core.errors import ToolFailure
from desktop_app.core.tools.base import ToolContext
from desktop_app.core.tools.glob_tool import Glob
from desktop_app.core.tools.grep import Grep
from desktop_app.core.tools.grep_rg import command
from desktop_app.core.tools.grep_wanted import Wanted
from desktop_app.core.tools.paths import resolve


def fill(folder: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


TREE: dict[str, str | bytes] = {
    "a.py": "import os\n\ndef main():\n    needle = 1\n    return needle\n",
    "src/b.py": "needle\n",
    "src/deep/c.ts": "one\r\nneedle two\r\nthree\r\n",
    "src.txt": "needle in text\n",
    "doc/größe.md": "# Nadel\nneedle ü\n",
    ".github/w.yml": "needle: true\n",
    ".gitignore": "*.log\n/out/\n!keep.log\nsub/*.tmp\n",
    "x.log": "needle\n",
    "keep.log": "needle\n",
    "out/o.py": "needle\n",
    "src/out/p.py": "needle\n",
    "sub/t.tmp": "needle\n",
    "node_modules/m.js": "needle\n",
    ".git/config": "needle\n",
    "bin.dat": b"needle\0\1\2needle\n",
    "utf16.txt": "needle wide\n".encode("utf-16"),
    "latin.txt": "größe needle\n".encode("cp1252"),
    ".env": "KEY=needle\n",
    "-dash.py": "needle\n",
    ".slipway/.gitignore": "*\n",
    ".slipway/sessions/s/tool_result-1.txt": "needle offloaded\n",
}
FOUND = [
    "-dash.py", ".github/w.yml", "a.py", "doc/größe.md", "keep.log", "latin.txt", "src/b.py",
    "src/deep/c.ts", "src/out/p.py", "src.txt", "utf16.txt",
]  # fmt: skip


async def grep(ctx: ToolContext, pattern: str, **more: Any) -> list[str]:
    out = await Grep().run({"pattern": pattern, **more}, ctx)
    assert out.state == "success"
    return out.text.splitlines()


async def test_files_that_match(searching: ToolContext, folder: Path) -> None:
    fill(folder, TREE)
    out = await Grep().run({"pattern": "needle"}, searching)
    *files, note = out.text.splitlines()
    assert sorted(files) == sorted(FOUND)
    assert "1 files that may hold secrets were left out" in note
    assert out.metadata["slipway"]["files"] == len(FOUND)


@pytest.mark.parametrize(
    ("args", "lines"),
    [
        (
            {"pattern": "needle", "output_mode": "content", "path": "a.py"},
            ["a.py:4:    needle = 1", "a.py:5:    return needle"],
        ),
        (
            {"pattern": "needle two$", "output_mode": "content", "context": 1, "type": "ts"},
            ["src/deep/c.ts-1-one", "src/deep/c.ts:2:needle two", "src/deep/c.ts-3-three"],
        ),
        (
            {"pattern": "NEEDLE", "-i": True, "output_mode": "content", "-n": False,
             "glob": "*.md"},
            ["doc/größe.md:needle ü"],
        ),
        ({"pattern": "needle", "output_mode": "count", "path": "src"},
         ["src/b.py:1", "src/deep/c.ts:1", "src/out/p.py:1"]),
        ({"pattern": "needle", "glob": "src/*.py"}, ["src/b.py"]),
        ({"pattern": "needle", "glob": "deep/*", "path": "src"}, ["src/deep/c.ts"]),
        ({"pattern": "needle", "glob": "*.{ts,md}"}, ["doc/größe.md", "src/deep/c.ts"]),
        ({"pattern": "needle", "glob": "*.log"}, ["keep.log", "x.log"]),
        ({"pattern": "needle", "glob": "*.py", "type": "ts"}, ["No match."]),
        ({"pattern": "needle", "path": "sub"}, ["No match."]),
        ({"pattern": "needle", "path": "x.log"}, ["x.log"]),
        ({"pattern": "--pre", "path": "a.py"}, ["No match."]),
        ({"pattern": "needle", "path": "-dash.py"}, ["-dash.py"]),
        ({"pattern": "-n", "path": "src"}, ["No match."]),
        ({"pattern": "^import os$"}, ["a.py"]),
        ({"pattern": "größe", "output_mode": "content"}, []),
        ({"pattern": "main.*needle", "multiline": True, "output_mode": "content"},
         ["a.py:3:def main():", "a.py:4:    needle = 1"]),
        ({"pattern": "needle", "path": ".slipway/sessions"},
         [".slipway/sessions/s/tool_result-1.txt"]),
        ({"pattern": "KEY", "path": ".env"}, [".env"]),
    ],
)  # fmt: skip
async def test_answers_are_the_same_with_both(
    searching: ToolContext, folder: Path, args: dict[str, Any], lines: list[str]
) -> None:
    fill(folder, TREE)
    got = await grep(searching, **args)
    got = [line for line in got if "may hold secrets" not in line]
    if args["pattern"] == "größe":  # ripgrep sees the bytes of a file without a mark as they are
        assert got in (["No match."], ["latin.txt:1:größe needle"])
    elif args["pattern"].startswith("main"):
        assert got[:2] == lines
    else:
        assert got == lines


async def test_limits_and_going_on(searching: ToolContext, folder: Path) -> None:
    fill(folder, {f"f{i:02}.txt": "x\nx\n" for i in range(10)})
    assert await grep(searching, "x", head_limit=2) == [
        "f00.txt", "f01.txt", "[1-2 shown, there is more; offset=2 goes on]",
    ]  # fmt: skip
    assert await grep(searching, "x", head_limit=2, offset=9) == ["f09.txt"]
    assert (await grep(searching, "x", offset=10))[0].startswith("There are only 10")
    counted = await grep(searching, "x", output_mode="count", head_limit=1, offset=3)
    assert counted[0] == "f03.txt:2"
    assert len(await grep(searching, "x", output_mode="content", head_limit=0)) == 20


async def test_groups_are_set_apart(searching: ToolContext, folder: Path) -> None:
    fill(folder, {"f": "".join(f"{'hit' if i in (2, 4, 9) else 'no'} {i}\n" for i in range(12))})
    lines = await grep(searching, "hit", output_mode="content", **{"-A": 1, "-B": 1})
    assert lines == [
        "f-2-no 1", "f:3:hit 2", "f-4-no 3", "f:5:hit 4", "f-6-no 5", "--",
        "f-9-no 8", "f:10:hit 9", "f-11-no 10",
    ]  # fmt: skip


async def test_long_lines_are_cut(searching: ToolContext, folder: Path) -> None:
    fill(folder, {"f": "a" * 5000 + "needle\n"})
    (line,) = await grep(searching, "needle", output_mode="content")
    assert line == "f:1:" + "a" * 2000 + " [cut here: 5,006 characters]"


async def test_a_line_of_megabytes(searching: ToolContext, folder: Path) -> None:
    fill(folder, {"f": b"start " + b"y" * (12 << 20) + b" needle " + b"y" * (3 << 20) + b"\nend"})
    lines = await grep(searching, "needle", output_mode="content")
    assert len(lines) == 1
    assert lines[0].startswith("f:1:start yyy")
    assert len(lines[0]) < 2_200


@pytest.mark.parametrize(
    "pattern", ["(", "[", "a{2", "(?<=a)b", "(a)\\1", "*x", "a\nb", "a\\nb", "a\\r$"]
)
async def test_unusable_patterns(searching: ToolContext, folder: Path, pattern: str) -> None:
    fill(folder, {"f": "x"})
    if pattern == "a{2":
        pattern = "a{2,1}"
    with pytest.raises(ToolFailure) as caught:
        await grep(searching, pattern)
    assert caught.value.code == "search.bad_pattern"
    assert caught.value.message


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(.*a){20}$", "(a?){30}a{30}$"])
async def test_no_pattern_runs_away(searching: ToolContext, folder: Path, pattern: str) -> None:
    fill(folder, {"f": ("a" * 30_000 + "!\n") * 3})
    began = time.monotonic()
    await grep(searching, pattern)
    assert time.monotonic() - began < 10


async def test_errors(searching: ToolContext, folder: Path) -> None:
    fill(folder, {"b.bin": b"a\0b"})
    os.mkfifo(folder / "fifo")
    for args, code in (
        ({"pattern": "x", "path": "nowhere"}, "file.missing"),
        ({"pattern": "x", "path": "fifo"}, "file.special"),
        ({"pattern": "x", "path": "b.bin"}, "file.binary"),
        ({"pattern": "x", "type": "klingon"}, "search.unknown_type"),
        ({"pattern": "x", "output_mode": "lines"}, "tool.bad_arguments"),
        ({"pattern": "x", "glob": "{" + "a," * 300 + "}"}, "search.bad_pattern"),
    ):
        with pytest.raises(ToolFailure) as caught:
            await Grep().run(args, searching)
        assert caught.value.code == code


async def test_fifos_and_links_on_the_way_are_passed_over(
    searching: ToolContext, folder: Path
) -> None:
    outside = folder.parent / "outside"
    fill(outside, {"f": "needle"})
    fill(folder, {"a": "needle"})
    os.mkfifo(folder / "fifo")
    os.symlink(outside, folder / "link")
    os.symlink(folder, folder / "loop")
    assert await grep(searching, "needle") == ["a"]


async def test_nothing_of_the_models_becomes_an_option(ctx: ToolContext, folder: Path) -> None:
    fill(folder, {"--pre=x/f": "x"})
    start = await resolve(ctx, "--pre=x")
    wanted = Wanted("--pre=./evil", glob="--pre=./evil")
    argv, _, _ = await command(ctx, start, False, wanted)
    cut = argv.index("--")
    assert all(not a.startswith("--pre") for a in argv[:cut])
    assert argv[cut + 1 :] == ["(?m)(?:--pre=./evil)", "./--pre=x"]


async def test_the_engine_is_named(searching: ToolContext, folder: Path) -> None:
    fill(folder, {"f": "x"})
    out = await Grep().run({"pattern": "x"}, searching)
    own = type(searching.backend).__name__ == "WithoutRipgrep"
    assert out.metadata["slipway"]["engine"] == ("own" if own else "rg")


# -- Glob --------------------------------------------------------------------------------------


async def glob(ctx: ToolContext, pattern: str, **more: Any) -> list[str]:
    return (await Glob().run({"pattern": pattern, **more}, ctx)).text.splitlines()


async def test_glob(ctx: ToolContext, folder: Path) -> None:
    fill(folder, TREE)
    assert sorted(await glob(ctx, "**/*.py")) == [
        "-dash.py", "a.py", "out/o.py", "src/b.py", "src/out/p.py",
    ]  # fmt: skip
    assert await glob(ctx, "src/**/*.{ts,js}") == ["src/deep/c.ts"]
    assert sorted(await glob(ctx, "[as]*")) == ["a.py", "src.txt", "src/", "sub/"]
    assert sorted(await glob(ctx, "*", path="src")) == ["src/b.py", "src/deep/", "src/out/"]
    assert await glob(ctx, f"{folder}/src/d*/*") == ["src/deep/c.ts"]
    assert await glob(ctx, "**/*.js") == ["No file matches."]
    assert await glob(ctx, "node_modules/*.js") == ["node_modules/m.js"]
    assert await glob(ctx, "**/tool_result*") == ["No file matches."]
    assert await glob(ctx, ".slipway/sessions/**/*.txt") == [
        ".slipway/sessions/s/tool_result-1.txt"
    ]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("{a,b}.{py,ts}", ["a.py", "a.ts", "b.py"]),
        ("{a,{b,c}}.py", ["a.py", "b.py", "c.py"]),
        ("[a-c].py", ["a.py", "b.py", "c.py"]),
        ("[!a-b].py", ["c.py", "d.py"]),
        ("[^ab].py", ["c.py", "d.py"]),
        ("[[]x].py", ["[x].py"]),
        ("?.py", ["a.py", "b.py", "c.py", "d.py"]),
        ("{a,}.py", ["a.py"]),
        ("{a}.py", ["{a}.py"]),
        ("**/{deep,deeper}/[a-z]*", ["x/deep/f", "y/deeper/g"]),
        ("{x,y}/**", ["x/deep/", "x/deep/f", "y/deeper/", "y/deeper/g"]),
    ],
)
async def test_braces_and_classes(
    ctx: ToolContext, folder: Path, pattern: str, found: list[str]
) -> None:
    names = ["a.py", "b.py", "c.py", "d.py", "a.ts", "[x].py", "{a}.py", "x/deep/f", "y/deeper/g"]
    fill(folder, dict.fromkeys(names, "x"))
    assert sorted(await glob(ctx, pattern)) == sorted(found)


async def test_glob_is_newest_first_and_limited(ctx: ToolContext, folder: Path) -> None:
    for i in range(5):
        fill(folder, {f"{i}.txt": "x"})
        os.utime(folder / f"{i}.txt", (1000 + i, 1000 + i))
    assert await glob(ctx, "*.txt", head_limit=2) == [
        "4.txt",
        "3.txt",
        "[1-2 of 5; go on with offset=2]",
    ]
    assert await glob(ctx, "*.txt", head_limit=2, offset=4) == ["0.txt", "[5-5 of 5]"]


async def test_glob_stays_inside(ctx: ToolContext, folder: Path) -> None:
    os.symlink("/etc", folder / "link")
    for args in ({"pattern": "/etc/*"}, {"pattern": "../*"}, {"pattern": "link/*"},
                 {"pattern": "*", "path": "/"}):  # fmt: skip
        verdict = await Glob().check(args, ctx)
        assert (verdict.behavior, verdict.reasons[0][0]) == ("ask", "path.outside")
    with pytest.raises(ToolFailure, match=r"search\.bad_pattern"):
        await glob(ctx, "*/../../x")
    assert await glob(ctx, "**/passwd") == ["No file matches."]


async def test_glob_of_a_file_or_nothing(ctx: ToolContext, folder: Path) -> None:
    fill(folder, {"f": "x"})
    with pytest.raises(ToolFailure, match=r"file\.not_dir"):
        await glob(ctx, "*", path="f")
    with pytest.raises(ToolFailure, match=r"file\.missing"):
        await glob(ctx, "*", path="nowhere")


async def test_a_dear_pattern_ends_with_a_message(folder: Path) -> None:
    """Thirty microseconds a character, in bounded looks, until the budget says stop."""
    from desktop_app.core.tools.grep_own import search
    from desktop_app.core.tools.linear import SMALLEST
    from desktop_app.core.tools.walk import Budget
    from tests.helpers.tools import WithoutRipgrep, make_context

    fill(folder, {"f": "a" * 400_000 + "\n", "g": ("a" * 5_000 + "\n") * 100})
    ctx = make_context(folder, backend=WithoutRipgrep(folder))
    budget = Budget(seconds=0.5)
    wanted = Wanted("(?:a{1,500}){8}b")
    began = time.monotonic()
    hits = [hit async for hit in search(ctx, await resolve(ctx, "."), False, wanted, budget)]
    assert time.monotonic() - began < 10
    assert hits == []
    assert budget.stopped == "time"
    assert SMALLEST == 1024
    across = Wanted("(?:a{1,500}){8}b", multiline=True)
    budget = Budget(seconds=60)
    began = time.monotonic()
    hits = [hit async for hit in search(ctx, await resolve(ctx, "."), False, across, budget)]
    assert budget.stopped == "pattern"
    assert time.monotonic() - began < 10
    await ctx.backend.close()


@pytest.mark.parametrize(
    ("pattern", "number"),
    [("^y", None), ("y$", None), (r"\by{3}", None), ("^start", 1), ("end$", 1), ("needle", 1),
     (r"\bneedle\b", 1)],
)  # fmt: skip
async def test_anchors_mean_the_line_even_in_endless_ones(
    folder: Path, pattern: str, number: int | None
) -> None:
    from tests.helpers.tools import WithoutRipgrep, make_context

    line = b"start " + b"x" + b"y" * (1 << 20) + b" needle " + b"xy" * (1 << 19) + b" end"
    fill(folder, {"f": b"one\n" + line + b"\n"})
    ctx = make_context(folder, backend=WithoutRipgrep(folder))
    lines = await grep(ctx, pattern, output_mode="content")
    assert (lines[0].split(":")[1] if number else lines[0]) == ("2" if number else "No match.")
    await ctx.backend.close()


async def test_nothing_holds_the_loop(
    searching: ToolContext, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import asyncio.events

    for i in range(2_000):
        (folder / f"{i}.txt").write_bytes(b"needle\n" * (1 + i % 3))
    longest = 0.0
    run = asyncio.events.Handle._run

    def measured(handle: Any) -> None:
        nonlocal longest
        began = time.thread_time()
        run(handle)
        longest = max(longest, time.thread_time() - began)

    gc.collect()
    gc.freeze()  # what the tests before left behind is not looked through meanwhile
    monkeypatch.setattr(asyncio.events.Handle, "_run", measured)
    assert len(await glob(searching, "**/*.txt", head_limit=0)) == 2_000
    counted = await grep(searching, "needle", output_mode="count", head_limit=0)
    gc.unfreeze()
    assert len(counted) == 2_000
    assert longest < 0.05  # 16 ms is the aim; a coverage tool or a busy machine is slower
