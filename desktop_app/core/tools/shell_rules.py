"""Rules for Bash: what an allow rule covers, and the rule that "always" would add.

A rule is an exact line, or ``words:*``: commands that begin with these words. A prefix is compared
with *parsed* commands, never with text: every command of a line must begin so, or be one that the
table knows to read nothing, and none may carry an option that turns it into another command.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .shell_escapes import escapes
from .shell_lex import Simple
from .shell_parse import parse
from .shell_spec import match
from .shell_table import known_command, row_of

# Programs whose first argument says what they do, so that a prefix rule of two words is narrow.
_TWO_WORDS = {
    "git", "npm", "pnpm", "yarn", "pip", "pip3", "uv", "cargo", "go", "docker", "make", "kubectl",
    "brew", "apt", "apt-get", "poetry", "gradle", "mvn", "dotnet", "systemctl", "conda",
}  # fmt: skip
# Programs that run whatever they are given: only the exact line may become a rule.
_RUNNERS = {
    "sh", "bash", "zsh", "fish", "dash", "python", "python3", "node", "ruby", "perl", "php", "env",
    "xargs", "find", "eval", "exec", "source", "nohup", "time", "timeout", "watch", "ssh", "awk",
    "gawk", "mawk", "sed", "tee", "npx", "bunx", "rm", "mv", "cp", "ln", "dd", "chmod", "chown",
    "curl", "wget", "kill", "pkill", "killall", "sudo", "doas", "nice", "setsid", "script",
    "parallel", ".", "cd", "tar", "rsync", "vi", "vim", "less", "man", "deno", "bun", "command",
    "builtin", "trap", "alias", "export", "declare", "set", "busybox", "scp",
}  # fmt: skip
# What changes much, or runs what its words say: no rule for its like is offered.
_WRITES_GIT = {
    "push", "reset", "clean", "config", "rebase", "checkout", "restore", "filter-branch",
    "submodule", "bisect", "difftool", "mergetool", "maintenance", "hook", "send-email",
}  # fmt: skip


def covers_line(content: str, command: str) -> bool:
    """Whether an allow rule covers a whole line. Exact lines are compared as text."""
    if command.strip() == content.strip():
        return True
    if not content.endswith(":*"):
        return False
    prefix = content.removesuffix(":*").split()
    parsed = parse(command.strip()) if prefix else None
    if parsed is None:
        return False
    fits = [_begins(simple, prefix) for simple in parsed]
    return any(fits) and all(
        fit or _reads_nothing(simple) for fit, simple in zip(fits, parsed, strict=True)
    )


def covers_together(contents: Sequence[str], command: str) -> bool:
    """Whether several allow rules cover a line between them: each of its commands is what one of
    them says, or reads nothing."""
    line = command.strip()
    parsed = parse(line)
    if parsed is None or len(parsed) < 2:
        return False
    prefixes = [c.removesuffix(":*").split() for c in contents if c.endswith(":*")]
    exact = {c.strip() for c in contents if not c.endswith(":*")}
    for simple in parsed:
        source = line[simple.words[0].start : simple.words[-1].end]
        plain = source in exact and not simple.inputs
        said = plain or any(p and _begins(simple, p) for p in prefixes)
        if not said and not _reads_nothing(simple):
            return False
    return True


def _begins(simple: Simple, prefix: list[str]) -> bool:
    """Whether a command begins with these words and stays what they say."""
    head, rest = simple.words[: len(prefix)], simple.words[len(prefix) :]
    if [w.text for w in head] != prefix or simple.inputs:
        return False
    if head[0].quoted or any(w.glob for w in head):
        return False
    row = row_of(simple.words)
    if row is not None and row[0].whole:  # a command of the table keeps to the table's options
        return match(*row) is not None
    return not any(escapes(prefix[0], word.text) for word in rest)


def _reads_nothing(simple: Simple) -> bool:
    """A listed command that names no file: it works on what is piped to it, or prints words."""
    known = known_command(simple)
    if known is None or known.paths or known.git or known.enters is not None:
        return False
    return not known.deep or known.piped


def suggest(command: str) -> dict[str, Any]:
    """The narrowest rule that allows this line and its like: a prefix of one or two words for a
    plain command of a program that does one thing, else exactly this line."""
    content = command.strip()
    prefix = _prefix(content)
    if prefix and covers_line(prefix, content):
        content = prefix
    return {
        "tool_name": "Bash",
        "rule_content": content,
        "behavior": "allow",
        "source": "suggested",
    }


def _prefix(line: str) -> str:
    """The words that a rule would begin with; empty when only the exact line will do."""
    parsed = parse(line)
    asked = [s for s in parsed or () if known_command(s) is None]
    if not parsed or len(asked) != 1:
        return ""
    words = asked[0].words
    head = words[0].text
    if words[0].quoted or head in _RUNNERS or "/" in head:
        return ""
    if head not in _TWO_WORDS:
        return f"{head}:*"
    if (
        len(words) > 1
        and re.fullmatch(r"[a-z][a-z0-9:_-]*", words[1].text)
        and not (head == "git" and words[1].text in _WRITES_GIT)
        and words[1].text not in ("run", "exec", "x", "dlx", "tool")
    ):
        return f"{head} {words[1].text}:*"
    return ""
