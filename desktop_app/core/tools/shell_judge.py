"""What is thought of a shell line before it runs: read-only, unlisted, dangerous; and the rule
that "always" would add."""

from __future__ import annotations

import re
from typing import Any

from desktop_app.core.errors import WorkspaceError

from . import paths
from .base import ToolContext, Verdict
from .shell_table import Reading, git_config_plain, reading
from .shell_words import commands_in, plain_words

# Asked for even in bypass: rarely meant, not undoable, or outside the workspace by nature.
_DANGEROUS = re.compile(
    r"(?:sudo|doas|su|mkfs(?:\.\w+)?|fdisk|parted|wipefs|shutdown|reboot|halt|poweroff|shred"
    r"|diskutil|visudo|chroot|insmod|rmmod|crontab)(?:\s|$)"
    r"|dd\b.*\bof=/dev/"
    r"|ch(?:own|grp)\s(?:.*\s)?-\w*R.*|chmod\s(?:.*\s)?0?777\b.*"
    r"|kill\s(?:.*\s)?-(?:9|KILL|SIGKILL)\s+-?1\b.*"
    r"|git\s+(?:push\b.*(?:--force|-f\b).*|clean\b.*-\w*[fdx].*|reset\b.*--hard.*)"
)
_RM = re.compile(r"rm\s(?P<rest>.*)")
_RM_ROOTS = re.compile(r"(?:^|\s)(?:/|~|\.\.|\$|(?:\*|\.)/?(?:\s|$))")
_FETCHED = re.compile(
    r"\b(?:curl|wget)\b[^\n]*\|\s*(?:sudo\s+)?(?:\w*sh|python3?|perl|ruby|node)\b"
)
_DEVICE = re.compile(r">\s*/dev/(?!null\b|stdout\b|stderr\b|tty\b)")
_FORK_BOMB = re.compile(r":\s*\(\s*\)\s*\{")
_TOKEN = re.compile(r"[^\s'\"<>|;&()`$=]+")

# Programs whose first argument says what they do, so that a prefix rule of two words is narrow.
_TWO_WORDS = {
    "git", "npm", "pnpm", "yarn", "pip", "pip3", "uv", "cargo", "go", "docker", "make", "kubectl",
    "brew", "apt", "apt-get", "poetry", "gradle", "mvn", "dotnet", "systemctl", "conda",
}  # fmt: skip
# Programs that run whatever they are given: only the exact line may become a rule.
_RUNNERS = {
    "sh", "bash", "zsh", "fish", "dash", "python", "python3", "node", "ruby", "perl", "php", "env",
    "xargs", "find", "eval", "exec", "source", "nohup", "time", "timeout", "watch", "ssh", "awk",
    "sed", "tee", "npx", "bunx", "rm", "mv", "cp", "ln", "dd", "chmod", "chown", "curl", "wget",
    "kill", "pkill", "killall", "sudo", "doas", "nice", "setsid", "script", "parallel", ".",
}  # fmt: skip
_WRITES_GIT = {"push", "reset", "clean", "config", "rebase", "checkout", "restore", "filter-branch"}


# Named in many harmless lines (``--exclude-dir=.git``); what is below them is another matter.
_MENTIONED = {".git", ".vscode", ".idea", ".husky", ".devcontainer", ".gitattributes"}


def suggest(command: str) -> dict[str, Any]:
    """The narrowest rule that allows this line and its like: a prefix of one or two words for a
    plain command of a program that does one thing, else exactly this line."""
    content = command.strip()
    words = plain_words(content, globs=True)
    if words and not words[0].quoted and words[0].text not in _RUNNERS:
        head = words[0].text
        if head not in _TWO_WORDS:
            content = f"{head}:*"
        elif (
            len(words) > 1
            and re.fullmatch(r"[a-z][a-z0-9:_-]*", words[1].text)
            and not (head == "git" and words[1].text in _WRITES_GIT)
            and words[1].text not in ("run", "exec", "x", "dlx", "tool")
        ):
            content = f"{head} {words[1].text}:*"
    return {
        "tool_name": "Bash",
        "rule_content": content,
        "behavior": "allow",
        "source": "suggested",
    }


def dangers(command: str) -> list[tuple[str, dict[str, Any]]]:
    """Reasons to ask whatever the mode: a heuristic net, not a proof."""
    out: list[tuple[str, dict[str, Any]]] = []
    for piece in commands_in(command):
        rm = _RM.match(piece)
        if _DANGEROUS.match(piece) or (rm and _RM_ROOTS.search(rm.group("rest"))):
            out.append(("shell.dangerous", {"command": piece[:200]}))
            break
    whole = (_DEVICE, _FORK_BOMB, _FETCHED)
    if not out and any(pattern.search(command) for pattern in whole):
        out.append(("shell.dangerous", {"command": command[:200]}))
    for token in _TOKEN.findall(command):
        path = token.rstrip("/,:").lstrip("~/")
        if paths.secret(path) or (paths.runs_code(path) and path not in _MENTIONED):
            out.append(("shell.sensitive_path", {"path": token[:200]}))
            break
    return out


async def judge(command: str, ctx: ToolContext) -> Verdict:
    """The verdict on one line. Only a listed line whose files all lie inside is allowed."""
    subjects = (command,)
    known = reading(command) if ctx.backend.os_name == "posix" else None
    if known is not None:
        reasons = await _look(known, ctx)
        if not reasons:
            return Verdict("allow", subjects=subjects)
        safety = any(code == "path.secret" for code, _ in reasons)
        rule = None if safety else _exact(command)
        return Verdict("ask", tuple(reasons), safety, rule, subjects)
    bad = dangers(command)
    if bad:
        return Verdict("ask", tuple(bad), True, None, subjects)
    words = command.split(None, 1)
    params = {"program": words[0][:80] if words else ""}
    return Verdict("ask", (("shell.unlisted", params),), False, suggest(command), subjects)


def _exact(command: str) -> dict[str, Any]:
    return {**suggest(command), "rule_content": command.strip()}


async def _look(known: Reading, ctx: ToolContext) -> list[tuple[str, dict[str, Any]]]:
    """Where the files of a listed line lead, links resolved; what the repository would run."""
    out: list[tuple[str, dict[str, Any]]] = []
    for path in known.paths:
        resolved = await paths.resolve(ctx, path)
        if resolved.zone == "outside":
            out.append(("path.outside", {"path": resolved.shown}))
        elif paths.secret(resolved.inside) or paths.secret(path.rpartition(":")[2]):
            out.append(("path.secret", {"path": resolved.shown}))
    if known.git and not await _git_is_plain(ctx):
        out.append(("shell.git_config", {}))
    return out


async def _git_is_plain(ctx: ToolContext) -> bool:
    """Whether git, run in the working directory, would run nothing but itself."""
    base = ctx.backend.cwd.rstrip("/")
    try:
        info = await ctx.backend.stat(f"{base}/.git", follow=False)
        if info.kind != "dir":
            return False
        data = await ctx.backend.read_bytes(f"{base}/.git/config", max_bytes=1 << 18)
    except WorkspaceError:
        return False
    if not git_config_plain(data.decode("utf-8", "replace")):
        return False
    try:  # would name another directory whose config counts
        await ctx.backend.stat(f"{base}/.git/commondir", follow=False)
    except WorkspaceError as error:
        return error.code == "file.missing"
    return False
