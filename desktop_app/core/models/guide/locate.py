"""Finding out which file is meant, and what to say when a call did not work."""

from __future__ import annotations

import re
from collections.abc import Generator

from .engine import Answer, Call, Stopped, Want, World, call
from .fuzzy import best_matches
from .markdown import code, extension
from .parse import first_line, paths
from .transcript import Done
from .words import word

Located = Generator[Want, list[Done], list[str]]
MANY = 1000  # paths that a Glob may give back


def need(world: World, done: Done) -> Done:
    """``done`` when it worked; otherwise the plan ends with the reason."""
    if done.ok:
        return done
    if done.state == "denied":
        text = word(world.lang, "denied")
    elif done.state in ("interrupted", "running"):
        text = word(world.lang, "stopped")
    else:
        text = word(world.lang, "error", why=first_line(done.text) or done.name)
    raise Stopped(Answer(text, failed=True))


def literal(path: str) -> str:
    """A glob that matches ``path`` itself."""
    return re.sub(r"[*?\[\]{}]", "?", path.removeprefix("./"))


def is_there(world: World, path: str, say: str = "") -> Generator[Want, list[Done], bool]:
    """Whether a file of exactly this path exists; in a folder that does not, it does not."""
    done = (yield call("Glob", say, pattern=literal(path), head_limit=5))[0]
    return done.state != "error" and path in paths(need(world, done))


def names_glob(wanted: str) -> str:
    """A glob for files whose name has one of the words of ``wanted``."""
    wanted = wanted.strip("./ ")
    if "*" in wanted:
        return wanted if "/" in wanted else f"**/{wanted}"
    name = wanted.rsplit("/", 1)[-1]
    if extension(name) and " " not in name:
        return f"**/{literal(name)}"
    words = [w for w in re.split(r"[\s_,]+", name) if len(w) > 1] or [name]
    words = [w[:-1] if len(w) > 4 and w.isascii() and w.endswith("s") else w for w in words][:6]
    parts = [f"*{literal(w)}*" for w in words]
    return f"**/{parts[0]}" if len(parts) == 1 else f"**/{{{','.join(parts)}}}"


def kinds_glob(exts: list[str], folder: str | None = None) -> str:
    head = f"{literal(folder)}/**/" if folder else "**/"
    if not exts:
        return f"{head}*"
    return f"{head}*.{exts[0]}" if len(exts) == 1 else f"{head}*.{{{','.join(exts)}}}"


def candidates(world: World, wanted: str, exts: list[str] | None = None, say: str = "") -> Located:
    """Files that ``wanted`` may mean, best first; empty when nothing comes near."""
    done = (yield call("Glob", say, pattern=names_glob(wanted), head_limit=MANY))[0]
    found = paths(need(world, done))
    good = _kept(found, exts)
    if "*" in wanted:
        return sorted(good)
    good = best_matches(wanted, good)
    if not good:
        everything = yield call("Glob", pattern="**/*", head_limit=MANY)
        good = best_matches(wanted, _kept(paths(need(world, everything[0])), exts))
    return good


def _kept(found: list[str], exts: list[str] | None) -> list[str]:
    return [p for p in found if not exts or extension(p) in exts]


def one_file(
    world: World, wanted: str, question: str, say: str = ""
) -> Generator[Want, list[Done], str]:
    """The one file that is meant: asks the person when several are as likely."""
    found = yield from candidates(world, wanted, None, say)
    if not found:
        text = word(world.lang, "nofile", name=code(wanted))
        raise Stopped(Answer(text, failed=True))
    if len(found) == 1 or found[0] == wanted.removeprefix("./"):
        return found[0]
    top = [p for p in found if p.rsplit("/", 1)[-1] == wanted.rsplit("/", 1)[-1]]
    if len(top) == 1:
        return top[0]
    return (yield from choose(world, (top or found)[:4], question))


def choose(world: World, options: list[str], question: str) -> Generator[Want, list[Done], str]:
    """Let the person choose one of two to four; without AskUser the first one is taken."""
    if "AskUser" not in world.tools:
        return options[0]
    asked = {
        "question": question,
        "header": word(world.lang, "choose.h"),
        "options": [{"label": o, "description": ""} for o in options],
    }
    done = (yield call("AskUser", questions=[asked]))[0]
    answer = need(world, done).text.rsplit("->", 1)[-1]
    chosen = [o for o in options if o in answer]
    if chosen:
        return max(chosen, key=len)
    return (best_matches(answer.split(")", 1)[-1].strip(), options) or options)[0]


def both_files(world: World, wanted: list[str], question: str, say: str = "") -> Located:
    """One path for each of ``wanted``; the first searches run together."""
    globs = tuple(Call("Glob", {"pattern": names_glob(w), "head_limit": MANY}) for w in wanted)
    yield Want(globs, say)
    out: list[str] = []
    for name in wanted:
        out.append((yield from one_file(world, name, question)))
    return out
