"""Two corpora through the whole judgement, in a real folder: what is hostile is never allowed
without asking; what people do every day and only reads is.

One line a case. Control characters are written as their symbols (␊ newline, ␍ return, ␀ NUL …),
other characters that cannot be seen as ``⟨hex⟩``.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desktop_app.core.tools.base import ToolContext
from desktop_app.core.tools.shell import Bash
from desktop_app.core.tools.shell_git import GIT
from desktop_app.core.tools.shell_judge import judge
from desktop_app.core.tools.shell_lex import MAX_LINE, lex
from desktop_app.core.tools.shell_parse import parse
from desktop_app.core.tools.shell_table import TABLE, reading
from tests.helpers.tools import make_context

HERE = Path(__file__).parent
PLAIN_CONFIG = '[core]\n\tbare = false\n[remote "origin"]\n\turl = https://example.org/x\n'


def _load(name: str) -> list[str]:
    text = (HERE / name).read_text(encoding="utf-8").removesuffix("\n")
    return [_unfold(line) for line in text.split("\n")]


def _unfold(line: str) -> str:
    line = re.sub("[\u2400-\u241f\u2421]", lambda m: _control(m.group()), line)
    return re.sub("⟨([0-9a-f]+)⟩", lambda m: chr(int(m.group(1), 16)), line)


def _control(symbol: str) -> str:
    return "\x7f" if symbol == "\u2421" else chr(ord(symbol) - 0x2400)


HOSTILE = _load("shell_hostile.txt")
HARMLESS = _load("shell_harmless.txt")


def _everyday(folder: Path) -> None:
    for name in ("README.md", "a.txt", "b.txt", "a b.txt", "src/main.py", "src/core/x.py",
                 "tests/test_a.py", "data/x.csv", "logs/app.log", "docs/i.md", "package.json",
                 "notes/2024-01.md", "文档/x", "my documents/x"):  # fmt: skip
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}\n")
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text(PLAIN_CONFIG)


def _trapped(folder: Path) -> None:
    """A folder in which every careless reading goes wrong."""
    _everyday(folder)
    outside = folder.parent / "outside"
    outside.mkdir()
    (outside / "f").write_text("secret")
    os.symlink(outside, folder / "link")
    os.symlink(folder / ".git", folder / "gitlink")
    for name in (".env", ".env.local", "certs/server.pem", "-rf", "--evil.py", "-rf.txt", "x",
                 "bare/HEAD", "sub/.git/config", "sub/deep/x", "sub/ls", "bin/cat"):  # fmt: skip
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("[core]\n\tfsmonitor = ./evil\n")


@pytest.fixture
async def everyday(folder: Path) -> AsyncIterator[ToolContext]:
    _everyday(folder)
    context = make_context(folder)
    yield context
    await context.backend.close()


@pytest.fixture
async def trapped(folder: Path) -> AsyncIterator[ToolContext]:
    _trapped(folder)
    context = make_context(folder)
    yield context
    await context.backend.close()


def test_the_corpora_are_large() -> None:
    assert len(set(HOSTILE)) >= 1000
    assert len(set(HARMLESS)) >= 400


async def test_no_hostile_line_is_allowed(trapped: ToolContext) -> None:
    verdicts = [(line, await judge(line, trapped)) for line in HOSTILE]
    assert [line for line, verdict in verdicts if verdict.behavior == "allow"] == []


async def test_harmless_lines_are_allowed(everyday: ToolContext) -> None:
    asked = [
        (line, verdict.reasons)
        for line in HARMLESS
        if (verdict := await judge(line, everyday)).behavior != "allow"
    ]
    assert len(asked) <= 0.05 * len(HARMLESS), asked
    # what runs code of the folder, or depends on what a variable holds, is among those asked
    assert {"make test", "npm test", "ls $HOME"} <= {line for line, _ in asked}


async def test_very_long_lines_are_asked(everyday: ToolContext) -> None:
    for line in (
        "ls " + "a" * MAX_LINE,
        "ls " + "a " * MAX_LINE,
        "ls;" * MAX_LINE,
        "ls | " * MAX_LINE + "ls",
        "echo '" + "x" * MAX_LINE + "'",
        "ls" + " " * MAX_LINE + "; rm x",
        "(" * 3000,
        '"$(' * 1000,
        "{a," * 1000,
        "<<A " * 900,
    ):
        assert (await judge(line, everyday)).behavior == "ask"


JOINTS = ["␊", "; ", " && ", " || ", " | ", " & ", " |& "]
TAILS = ["rm x", "sh", "x=1 ls", "$(rm x)", "`rm x`", "(rm x)", "{ rm x; }", "! rm x", "eval ls",
         "ls > y", "cat <<A", "find . -delete", "sort -o y x", "git push", "tee y",
         "./ls"]  # fmt: skip


async def test_a_harmless_beginning_vouches_for_nothing(everyday: ToolContext) -> None:
    for line in HARMLESS[::25]:
        for joint in map(_unfold, JOINTS):
            for tail in TAILS:
                for whole in (line + joint + tail, tail + joint + line):
                    assert (await judge(whole, everyday)).behavior == "ask", whole


@pytest.mark.parametrize("char", list("\r;&|<>$`(){}\\#!~\0\x01\x1b\x7f\u00a0\u200b\u2028\u3000"))
@pytest.mark.parametrize("line", ["{}ls", "l{}s", "ls{}x", "ls x{}rm"])
def test_no_character_of_the_shell_makes_another_command(line: str, char: str) -> None:
    known = reading(line.replace("{}", char))
    if known is not None:  # ``x~rm`` and ``x#rm`` are file names
        assert [c.words[0] for c in known.commands] == ["ls"]
        assert char in "~#!"


def _bash_words(commands: list[str]) -> list[list[str]]:
    """The words of each simple command, as bash itself sees them."""
    names = sorted({c.split()[0] for c in commands})
    show = "builtin printf '%s\\0' - \"$@\"; builtin printf '\\n'"
    define = "".join(f"{n}() {{ {show}; }} >&9\n" for n in names)
    script = f"set -f; exec 9>&1\n{define}" + "\n".join(commands)
    done = subprocess.run(
        ["/bin/bash", "-c", script], capture_output=True, stdin=subprocess.DEVNULL, check=False,
        env={"PATH": "/nowhere", "LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    assert done.stderr == b""
    return [line.decode().split("\0")[1:-1] for line in done.stdout.splitlines()]


def test_bash_reads_the_same_words_as_we_do() -> None:
    sources: list[str] = []
    expected: list[list[str]] = []
    for line in HARMLESS:
        for simple in parse(line) or ():
            if simple.inputs:
                continue
            sources.append(line[simple.words[0].start : simple.words[-1].end])
            expected.append([w.text for w in simple.words[1:]])
    assert len(sources) > 500
    assert _bash_words(sources) == expected


@settings(max_examples=150, deadline=None)
@given(st.lists(st.text(st.sampled_from(list("ab'\"\\ $*?[]{}~!=:;|&<>#-./%@^,é")), max_size=14),
                min_size=8, max_size=8))  # fmt: skip
def test_bash_agrees_on_whatever_is_understood(tails: list[str]) -> None:
    """Random words behind a harmless head: where we understand a line as one command, bash does."""
    sources: list[str] = []
    expected: list[list[str]] = []
    for tail in tails:
        line = f"ls {tail}".rstrip(" ;")
        parsed = parse(line)
        if parsed is not None and len(parsed) == 1 and not parsed[0].redirects:
            sources.append(line)
            expected.append([w.text for w in parsed[0].words[1:]])
    if sources:
        assert _bash_words(sources) == expected


@given(st.text(st.sampled_from(list("ls cat-a.'\"/~\n;&|$`(){}\\=\t>#!")), max_size=30))
def test_whatever_is_allowed_is_of_the_table(line: str) -> None:
    known = reading(line)
    if known is not None:
        assert all(c.words[0] in {*TABLE, "git", "cd"} for c in known.commands)
        assert not set(re.sub(r"'[^']*'", "", line)) & set("$`(){}")
        assert not any(".." in w.text.split("/") for c in known.commands for w in c.paths)
        assert lex(line) is not None


async def test_a_hostile_submodule_runs_nothing(folder: Path) -> None:
    """``.gitmodules`` asks git to look into a submodule whose own settings would run a program."""
    context = make_context(folder)
    setup = (
        "git init -q . && git init -q sub && cd sub && git -c user.name=a -c user.email=a@b commit"
        " -q --allow-empty -m x && git config core.fsmonitor \"touch '$PWD/../pwned'; false\""
        " && cd .. && git -c advice.addEmbeddedRepo=false add sub"
        " && git config -f .gitmodules submodule.sub.path sub"
        " && git config -f .gitmodules submodule.sub.url ./sub"
        " && git config -f .gitmodules submodule.sub.ignore none && rm -f pwned"
    )
    assert (await Bash().run({"command": setup}, context)).state == "success"
    for command in ("git status", "git diff", "git --no-pager diff --stat", "git status | cat"):
        assert (await Bash().check({"command": command}, context)).behavior == "allow"
        assert (await Bash().run({"command": command}, context)).state == "success"
    assert not (folder / "pwned").exists()
    await context.backend.close()


async def test_listed_programs_never_come_from_the_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "bin").mkdir()
    (folder / "bin" / "ls").write_text("#!/bin/sh\necho evil\n")
    (folder / "bin" / "ls").chmod(0o755)
    monkeypatch.setenv("PATH", f".:{folder}/bin::{os.environ['PATH']}")
    monkeypatch.setenv("BASH_FUNC_cat%%", "() { echo evil; }")
    context = make_context(folder)
    out = await Bash().run({"command": "ls; cat bin/ls | head -1"}, context)
    assert out.text == "bin\n#!/bin/sh"
    await context.backend.close()


def _snapshot(folder: Path) -> dict[str, tuple[int, int, int]]:
    found: dict[str, tuple[int, int, int]] = {}
    for path in folder.rglob("*"):
        info = path.lstat()
        found[str(path)] = (info.st_mtime_ns, info.st_size, info.st_ino)
    return found


def _random_line(chance: random.Random) -> str:
    """A command of the table with options that it has, in any order, among names of files."""
    names = ["a.txt", "b.txt", "README.md", "src", "new", "out", "HEAD", "5", "x", "-", "--", "p",
             "1,2", "s/a/b/", "data/x.csv", "src/*.py", "."]  # fmt: skip
    git = chance.random() < 0.3
    head = chance.choice(sorted(GIT if git else set(TABLE) - {"sleep"}))
    spec = (GIT if git else TABLE)[head]
    words = ["git", head] if git else [head]
    letters = spec.short + spec.short_value + spec.short_optional or "abcinopw"
    longs = sorted(spec.long | spec.long_value | spec.long_optional) or ["help"]
    for _ in range(chance.randint(0, 5)):
        kind = chance.random()
        if kind < 0.35:
            cluster = "".join(chance.choices(letters, k=chance.randint(1, 3)))
            words.append(f"-{cluster}{chance.choice(['', '', '5', 'out'])}")
        elif kind < 0.6:
            words.append(f"--{chance.choice(longs)}{chance.choice(['', '', '=5', '=out'])}")
        else:
            words.append(chance.choice(names))
    return " ".join(words)


async def test_what_is_allowed_changes_nothing(folder: Path) -> None:
    """Lines that are allowed are run in a real repository; nothing in it is different after."""
    _everyday(folder)
    context = make_context(folder)
    setup = (
        "rm -r .git && git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit"
        " -qm x && echo more >> a.txt && touch new && git status"
    )
    assert (await Bash().run({"command": setup}, context)).state == "success"
    before = _snapshot(folder.parent)
    chance = random.Random(11)
    lines = HARMLESS[::12] + [_random_line(chance) for _ in range(400)]
    ran = 0
    for line in lines:
        if (await Bash().check({"command": line}, context)).behavior == "allow":
            ran += 1
            await Bash().run({"command": line, "timeout": 20_000}, context)
            assert _snapshot(folder.parent) == before, line
    assert ran > 100
    await context.backend.close()
