"""What is thought of a shell line before it runs: read-only, unlisted, dangerous."""

from __future__ import annotations

import asyncio
import posixpath
import re
from typing import Any

from desktop_app.core.errors import ToolFailure, WorkspaceError

from . import ignore, paths
from .base import ToolContext, Verdict
from .plain import closing
from .shell_delete import GRAVEST, deletions
from .shell_git import config_holds_secret, git_config_plain
from .shell_lex import Word
from .shell_parse import parse
from .shell_rules import suggest
from .shell_table import Known, Reading, known_command, reading
from .shell_words import commands_in
from .walk import Budget, Walk

Reasons = list[tuple[str, dict[str, Any]]]

# Asked for even in bypass: rarely meant, not undoable, or outside the workspace by nature.
_DANGEROUS = re.compile(
    r"(?:sudo|doas|su|mkfs(?:\.\w+)?|fdisk|parted|wipefs|shutdown|reboot|halt|poweroff|shred"
    r"|diskutil|visudo|chroot|insmod|rmmod|crontab)(?:\s|$)"
    r"|dd\b.*\bof=/dev/"
    r"|ch(?:own|grp)\s(?:.*\s)?-\w*R.*|chmod\s(?:.*\s)?0?777\b.*"
    r"|kill\s(?:.*\s)?-(?:9|KILL|SIGKILL)\s+-?1\b.*"
    r"|git\s+(?:push\b.*(?:--force|-f\b).*|clean\b.*-\w*[fdx].*|reset\b.*--hard.*)"
)
_FETCHED = re.compile(
    r"\b(?:curl|wget)\b[^\n]*\|\s*(?:sudo\s+)?(?:\w*sh|python3?|perl|ruby|node)\b"
)
_DEVICE = re.compile(r">\s*/dev/(?!null\b|stdout\b|stderr\b|tty\b)")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_WRITES = re.compile(r"(?<![<>&])>{1,2}\|?\s*(?!/dev/null\b)([^\s'\"&|;<>()$`]+)")
_FORK_BOMB = re.compile(r":\s*\(\s*\)\s*\{")
_TOKEN = re.compile(r"[^\s'\"<>|;&()`$=]+")
# Named in many harmless lines (``--exclude-dir=.git``); what is below them is another matter.
_MENTIONED = {".git", ".vscode", ".idea", ".husky", ".devcontainer", ".gitattributes"}

_ABSENT = {"file.missing", "file.not_dir"}
MAX_BASES = 4  # directories in which a command after ``cd`` may find itself
MAX_FOUND = 2_000  # names that a wildcard is compared with
MAX_BELOW, MAX_BELOW_S = 20_000, 1.0  # what a search below a directory may cost to look through
# Other people's files: what looks like a key there is none of the person's.
_NOT_THEIRS = ignore.ALWAYS | {".venv", "venv", "site-packages"}


def dangers(command: str) -> Reasons:
    """Reasons to ask whatever the mode: a heuristic net, not a proof."""
    out: Reasons = []
    for piece in commands_in(command):
        if _DANGEROUS.match(piece):
            out.append(("shell.dangerous", {"command": piece[:200]}))
            break
    out.extend(r for r in deletions(command) if r[0] in GRAVEST)
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
    # off the loop: the first call loads the grammar, and a line may be long
    known = await asyncio.to_thread(reading, command) if ctx.backend.os_name == "posix" else None
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
    reasons = tuple(deletions(command)) or (_why(command),)
    return Verdict("ask", reasons, False, suggest(command), subjects)


def _why(command: str) -> tuple[str, dict[str, Any]]:
    """For what a line is asked that deletes nothing much: the first program that the table does not
    know, or what the line does beside running programs."""
    simples = parse(command)
    for simple in simples or ():
        if known_command(simple) is None:
            return "shell.unlisted", {"program": simple.words[0].text[:80]}
    written = _WRITES.search(_QUOTED.sub("''", command))
    if simples is None and written is not None:
        return "shell.redirects", {"path": written.group(1)[:200]}
    return "shell.compound", {}


def _exact(command: str) -> dict[str, Any]:
    return {**suggest(command), "rule_content": command.strip()}


async def _look(known: Reading, ctx: ToolContext) -> Reasons:
    """Where the files of a listed line lead, links resolved; what the repository would run."""
    out: Reasons = []
    bases = [""]
    for command in known.commands:
        for base in bases:
            out.extend(await _look_from(base, command, ctx))
            if out:
                return out[:4]
        if command.enters is not None:
            bases += [posixpath.join(b, command.enters) for b in bases]
            bases = list(dict.fromkeys(bases))
            if len(bases) > MAX_BASES:
                return [("path.outside", {"path": command.enters})]
    return out


async def _look_from(base: str, command: Known, ctx: ToolContext) -> Reasons:
    """One command, started in ``base`` (relative to the working directory, or absolute)."""
    out: Reasons = []
    for word in command.paths:
        if word.glob:
            out.extend(await _look_wild(base, word, ctx))
        else:
            out.extend(await _look_path(posixpath.join(base, word.text), ctx))
    if not out and command.deep and not (command.piped and not command.paths):
        starts = [posixpath.join(base, w.text) for w in command.paths if not w.glob]
        for start in starts or [base or "."]:
            out.extend(await _look_below(start, ctx))
    if not out and command.words[0] == "diff":
        # in directories it follows links, and shows what it finds
        for word in command.paths:
            out.extend(await _look_no_directory(posixpath.join(base, word.text), ctx))
    if not out and command.git:
        out.extend(await _look_git(base, command, ctx))
    return out


async def _look_path(path: str, ctx: ToolContext) -> Reasons:
    try:
        resolved = await paths.resolve(ctx, path)
    except ToolFailure:
        return [("path.outside", {"path": path[:200]})]
    if resolved.zone == "outside":
        return [("path.outside", {"path": resolved.shown})]
    # ``revision:path`` names a path, too
    if paths.secret(resolved.inside) or paths.secret(path.rpartition(":")[2]):
        return [("path.secret", {"path": resolved.shown})]
    return []


async def _look_wild(base: str, word: Word, ctx: ToolContext) -> Reasons:
    """What a wildcard finds, in its last part only. Classes are taken as ``*``: too much rather
    than too little. A name that begins with a dash would be an option."""
    unclear: Reasons = [("shell.wildcard", {"pattern": word.text[:200]})]
    folder, slash, last = word.glob.rstrip("/").rpartition("/")
    if any(c in folder for c in "*?[") or not last:
        return unclear
    start = posixpath.join(base, folder + slash) if slash else base or "."
    if reasons := await _look_path(start, ctx):
        return reasons
    pieces = re.split(r"\[[^\]]*\]|[*?\[]", last)
    pattern = re.compile(".*".join(re.escape(p) for p in pieces), re.DOTALL | re.IGNORECASE)
    seen = 0
    absolute = paths.absolute(ctx.backend.cwd, start)
    inside = (await paths.resolve(ctx, start)).inside
    try:
        async with closing(ctx.backend.scandir(absolute)) as batches:
            async for batch in batches:
                seen += len(batch)
                if seen > MAX_FOUND:
                    return unclear
                for info in batch:
                    if info.name.startswith(".") and not last.startswith((".", "[")):
                        continue
                    if not pattern.fullmatch(info.name):
                        continue
                    if not slash and info.name.startswith("-"):
                        return unclear
                    if info.kind == "link" or paths.secret(posixpath.join(inside, info.name)):
                        reasons = await _look_path(posixpath.join(start, info.name), ctx)
                        if reasons:
                            return reasons
    except WorkspaceError as error:
        return [] if error.code in _ABSENT else unclear
    return []


async def _look_below(start: str, ctx: ToolContext) -> Reasons:
    """Whether a search through everything below ``start`` would read what holds secrets."""
    folder = paths.absolute(ctx.backend.cwd, start)
    budget = Budget(MAX_BELOW_S, MAX_BELOW)
    walk = Walk(ctx.backend, folder, budget, enter=lambda path, name: name not in _NOT_THEIRS)
    unclear: Reasons = [("shell.reads_below", {"path": start})]
    inside = (await paths.resolve(ctx, start)).inside
    try:
        async for path, info, _ in walk.entries():
            if info.kind == "file" and paths.secret(posixpath.join(inside, path)):
                return [("path.secret", {"path": posixpath.normpath(posixpath.join(start, path))})]
            if info.kind == "dir" and info.name == ".git":
                config = await _config(posixpath.join(folder, path), ctx)
                if config is None or config_holds_secret(config):
                    return [("path.secret", {"path": f"{path}/config"})]
    except WorkspaceError as error:
        # a file is no directory to walk; what is not there is not read
        return [] if error.code in _ABSENT else unclear
    return unclear if budget.stopped else []


async def _look_no_directory(path: str, ctx: ToolContext) -> Reasons:
    try:
        info = await ctx.backend.stat(paths.absolute(ctx.backend.cwd, path))
    except WorkspaceError as error:
        return [] if error.code in _ABSENT else [("shell.reads_below", {"path": path})]
    return [("shell.reads_below", {"path": path})] if info.kind == "dir" else []


async def _look_git(base: str, command: Known, ctx: ToolContext) -> Reasons:
    """Whether git, run in ``base``, would run nothing but itself."""
    asked: Reasons = [("shell.git_config", {})]
    top = ctx.backend.cwd.rstrip("/")
    folder = paths.absolute(top, base) if base else top
    if not paths.within(top, folder) or await _is_below_another(folder, top, ctx):
        return asked
    try:
        info = await ctx.backend.stat(f"{top}/.git", follow=False)
    except WorkspaceError:
        return asked
    config = await _config(f"{top}/.git", ctx) if info.kind == "dir" else None
    if config is None or not git_config_plain(config):
        return asked
    # it would name another directory whose config counts
    if not await _missing(f"{top}/.git/commondir", ctx):
        return asked
    if "remote" in command.words and config_holds_secret(config):
        return [("path.secret", {"path": ".git/config"})]
    return []


async def _is_below_another(folder: str, top: str, ctx: ToolContext) -> bool:
    """Whether a repository (or what git takes for one) lies between ``folder`` and ``top``."""
    while folder != top:
        for name in (".git", "HEAD"):
            if not await _missing(f"{folder}/{name}", ctx):
                return True
        folder = posixpath.dirname(folder)
    return False


async def _missing(path: str, ctx: ToolContext) -> bool:
    try:
        await ctx.backend.stat(path, follow=False)
    except WorkspaceError as error:
        return error.code == "file.missing"
    return False


async def _config(directory: str, ctx: ToolContext) -> str | None:
    """A repository's own config; empty where there is none, None when it cannot be read."""
    try:
        data = await ctx.backend.read_bytes(f"{directory}/config", max_bytes=1 << 18)
    except WorkspaceError as error:
        return "" if error.code == "file.missing" else None
    return data.decode("utf-8", "replace")
