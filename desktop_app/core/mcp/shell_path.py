"""The PATH of the person's login shell.

A program started from a dock or a menu gets the system's PATH, without what nvm, fnm, mise,
Homebrew, pyenv or pipx add in the shell's start-up files; ``npx`` and ``uvx`` are found only there.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
import subprocess
import sys
from glob import glob
from pathlib import Path

log = logging.getLogger(__name__)
SECONDS = 3.0  # how long the shell may take
_MARK = "slipway-path"
_KNOWN = (
    "~/.local/bin",
    "~/.cargo/bin",
    "~/.bun/bin",
    "~/.deno/bin",
    "~/.volta/bin",
    "~/.local/share/mise/shims",
    "~/.nvm/versions/node/*/bin",
    "~/.local/share/fnm/node-versions/*/installation/bin",
    "/opt/homebrew/bin",
    "/usr/local/bin",
    "/usr/bin",
    "/bin",
)

_found: dict[str, str] = {}


async def login_path() -> str:
    """The PATH to start servers with: the login shell's, then ours, then well-known directories
    that exist. Asked for once in the life of the process, in a thread."""
    key = f"{os.environ.get('SHELL', '')}\0{os.environ.get('PATH', '')}"
    if key not in _found:
        _found[key] = await asyncio.to_thread(_compute)
    return _found[key]


def _compute() -> str:
    parts: list[str] = []
    for source in (_from_shell(), os.environ.get("PATH", "")):
        parts += source.split(os.pathsep)
    if sys.platform != "win32":
        parts += [p for known in _KNOWN for p in _there(known)]
    return os.pathsep.join(dict.fromkeys(p for p in parts if p))


def _there(known: str) -> list[str]:
    """Directories of a pattern that exist, those of the newest version first."""
    found = [p for p in glob(os.path.expanduser(known)) if Path(p).is_dir()]
    return sorted(found, key=lambda p: [int(n) for n in re.findall(r"\d+", p)], reverse=True)


def _shell() -> str:
    """The person's shell; a program started by a session manager may not be told."""
    if sys.platform == "win32":
        return ""
    if given := os.environ.get("SHELL", ""):
        return given
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_shell
    except KeyError:
        return ""


def _from_shell() -> str:
    """What an interactive login shell has, or nothing: no shell, an error, too slow."""
    shell = _shell()
    if not shell or not os.access(shell, os.X_OK):
        return ""
    script = f'printf "%s" "{_MARK}[$PATH]{_MARK}"'
    if Path(shell).name == "fish":
        script = f'printf "%s" "{_MARK}["(string join : $PATH)"]{_MARK}"'
    try:
        child = subprocess.Popen(
            [shell, "-ilc", script],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return ""
    try:
        out, _ = child.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        log.info("the login shell did not answer in %s s; its PATH is not used", SECONDS)
        _kill(child.pid)
        child.kill()
        child.wait()
        if child.stdout is not None:
            child.stdout.close()
        return ""
    found = re.search(rf"{_MARK}\[(.*?)\]{_MARK}", out.decode("utf-8", "replace"), re.DOTALL)
    return found[1] if found else ""


def _kill(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        pass
