"""Plans that only look: list, find, search, read."""

from __future__ import annotations

import csv
import re
from collections import Counter
from typing import Any

from .engine import Answer, Plan, World, call
from .fuzzy import similarity
from .locate import MANY, candidates, kinds_glob, literal, need, one_file
from .markdown import LANGUAGES, cell, code, extension, fence, number, quote, table
from .parse import Hit, hits, numbered, paths
from .text import QUOTE
from .transcript import Done, is_part, total_lines, was_cut, whole_in
from .words import word

SHOWN_FILES = 40
SHOWN_LINES = 40
READ_LINES = 200
SHOWN_TEXT = 60


def where(world: World, path: str | None) -> str:
    return word(world.lang, "in", path=code(path)) if path else ""


def with_note(world: World, done: Done, text: str) -> str:
    """``text`` with a line that says when the result was not all of it, and where all of it is."""
    if not was_cut(done):
        return text
    note = word(world.lang, "cut")
    if path := whole_in(done):
        note = word(world.lang, "cut.in", path=code(path))
    return f"{text}\n\n{note}"


def scope_of(slots: dict[str, Any]) -> str:
    """The glob that a request's folder, pattern and kinds make."""
    folder = slots.get("path")
    if glob := slots.get("glob"):
        glob = str(glob)
        return f"{literal(folder)}/**/{glob}" if folder else glob if "/" in glob else f"**/{glob}"
    return kinds_glob(slots.get("exts") or [], folder)


def list_files(world: World) -> Plan:
    slots = world.request.slots
    say = word(world.lang, "say.list")
    folder: str | None = slots.get("path")
    done = (yield call("Glob", say, pattern=scope_of(slots), head_limit=MANY))[0]
    found = paths(done) if done.ok else []
    if not found and folder:  # the folder as the person calls it: "the Notes directory"
        done = (yield call("Glob", pattern=kinds_glob(slots.get("exts") or []), head_limit=MANY))[0]
        folders = {p.rsplit("/", 1)[0] for p in paths(done) if "/" in p}
        near = max(folders, key=lambda d: similarity(str(slots["path"]), d), default=None)
        if near and similarity(folder, near) > 0.6:
            folder, found = near, [p for p in paths(done) if p.startswith(f"{near}/")]
    need(world, done)
    if slots.get("what") == "folders":
        return _folders(world, found, folder)
    place = where(world, folder)
    if kinds := slots.get("glob") or ", ".join(f".{e}" for e in slots.get("exts", [])[:3]):
        place += word(world.lang, "of", what=code(kinds))
    if not found:
        return Answer(word(world.lang, "list.none", where=place))
    found = sorted(found)
    head = word(world.lang, "list.title", n=number(len(found)), where=place)
    body = "\n".join(f"- {code(p)}" for p in found[:200])
    shown = by_folder(world, found) if len(found) > SHOWN_FILES else body
    return Answer(with_note(world, done, f"{head}\n\n{shown}"), f"{head}\n\n{body}\n", found)


def by_folder(world: World, found: list[str]) -> str:
    """A table of folders: how many files, of which kinds."""
    groups: dict[str, list[str]] = {}
    for path in found:
        groups.setdefault(path.rsplit("/", 1)[0] if "/" in path else "", []).append(path)
    rows: list[list[str]] = []
    for folder, files in sorted(groups.items())[:SHOWN_FILES]:
        kinds = Counter(extension(p) or "–" for p in files)
        said = ", ".join(f"{kind} ({n})" for kind, n in kinds.most_common(4))
        name = code(folder) if folder else word(world.lang, "top")
        rows.append([name, number(len(files)), cell(said)])
    head = [word(world.lang, key) for key in ("h.folder", "h.files", "h.kinds")]
    return table(head, rows, right=(1,))


def _folders(world: World, found: list[str], inside: str | None) -> Answer:
    folders = sorted({p.rsplit("/", 1)[0] for p in found if "/" in p})
    place = where(world, inside)
    if not folders:
        return Answer(word(world.lang, "list.nofolders", where=place))
    head = word(world.lang, "list.folders", n=len(folders), where=place)
    return Answer(
        f"{head}\n\n{by_folder(world, found)}",
        head + "\n\n" + "\n".join(f"- {code(f)}" for f in folders) + "\n",
        found,
    )


def find(world: World) -> Plan:
    slots = world.request.slots
    exts: list[str] = slots.get("exts") or []
    wanted = slots.get("name")
    if not wanted:
        return (yield from list_files(world))
    say = word(world.lang, "say.find")
    found = yield from candidates(world, str(wanted), exts, say)
    if folder := slots.get("path"):
        found = [p for p in found if p.startswith(f"{folder}/")] or found
    name = code(str(wanted))
    if not found:
        return Answer(word(world.lang, "find.none", name=name), failed=True)
    listed = "\n".join(f"- {code(p)}" for p in found[:SHOWN_FILES])
    if similarity(str(wanted), found[0]) < 0.8 and "*" not in str(wanted):
        return Answer(f"{word(world.lang, 'find.near', name=name)}\n\n{listed}", listed, found)
    if len(found) == 1:
        text = word(world.lang, "find.one", file=code(found[0]))
    else:
        text = f"{word(world.lang, 'find.many', n=len(found), name=name)}\n\n{listed}"
    return Answer(text, text + "\n", found)


def pattern_of(query: str) -> str:
    """``query`` as a regular expression that matches it word for word."""
    return re.sub(r"([\\.^$*+?{}\[\]()|])", r"\\\1", query)


def grep_args(slots: dict[str, Any], query: str, mode: str) -> dict[str, Any]:
    args: dict[str, Any] = {"pattern": pattern_of(query), "output_mode": mode, "-i": True}
    if mode == "content":
        args |= {"-n": True, "head_limit": 200}
    if file := slots.get("file"):
        args["path"] = file
    elif folder := slots.get("path"):
        args["path"] = folder
    if glob := slots.get("glob"):
        args["glob"] = glob
    elif exts := slots.get("exts"):
        args["glob"] = f"*.{exts[0]}" if len(exts) == 1 else f"*.{{{','.join(exts)}}}"
    return args


def search(world: World) -> Plan:
    slots = dict(world.request.slots)
    query = str(slots.get("query") or "").strip()
    if not query:
        return (yield from find(world))
    say = word(world.lang, "say.search", query=code(query))
    done = (yield call("Grep", say, **grep_args(slots, query, "content")))[0]
    if done.state == "error" and (slots.get("file") or slots.get("path")):
        if file := slots.get("file"):  # not there under that name: which one is it?
            slots["file"] = yield from one_file(world, file, word(world.lang, "choose"))
        else:
            slots.pop("path", None)
        done = (yield call("Grep", **grep_args(slots, query, "content")))[0]
    need(world, done)
    found = hits(done, only=slots.get("file"))
    place = where(world, slots.get("file") or slots.get("path"))
    if not found:
        return Answer(word(world.lang, "search.none", query=code(query), where=place))
    files = list(dict.fromkeys(h.path for h in found))
    head = _search_head(world, found, files, query, place)
    text = f"{head}\n\n{grouped(world, found, query)}"
    return Answer(with_note(world, done, text), text + "\n", files)


def _search_head(world: World, found: list[Hit], files: list[str], query: str, place: str) -> str:
    if len(found) == 1:
        return word(world.lang, "search.one", query=code(query), where=where(world, files[0]))
    if len(files) == 1:
        return word(
            world.lang, "search.onefile", n=len(found), file=code(files[0]), query=code(query)
        )
    return word(
        world.lang,
        "search.title",
        n=len(found),
        files=len(files),
        query=code(query),
        where=place,
    )


def plain(text: str) -> str:
    """Text shown as it is: what Markdown would take for marks is escaped."""
    return re.sub(r"([\\`*_\[\]<>#|~])", r"\\\1", text)


def grouped(world: World, found: list[Hit], query: str) -> str:
    """Matches under their files, with line numbers, what was looked for in bold."""
    parts: list[str] = []
    shown = 0
    groups: dict[str, list[Hit]] = {}
    for hit in found:
        groups.setdefault(hit.path, []).append(hit)
    most = max(4, SHOWN_LINES // len(groups))
    for path, lines in groups.items():
        if shown >= SHOWN_LINES:
            break
        parts.append(f"{code(path)}\n")
        for hit in lines[:most]:
            text = hit.text if len(hit.text) <= 240 else hit.text[:239] + "…"
            marked = re.sub(
                re.escape(plain(query)), lambda m: f"**{m.group()}**", plain(text), flags=re.I
            )
            parts.append(f"- {word(world.lang, 'line', n=hit.line)}: {marked}")
            shown += 1
        parts.append("")
    if shown < len(found):
        parts.append(word(world.lang, "search.more", n=number(len(found) - shown)))
    return "\n".join(parts).strip()


def read(world: World) -> Plan:
    slots = world.request.slots
    wanted = slots.get("file") or world.transcript.last_file
    if not wanted:
        return Answer(word(world.lang, "read.which"), failed=True)
    say = word(world.lang, "say.read", file=code(str(wanted)))
    path = yield from one_file(world, str(wanted), word(world.lang, "choose"), say)
    args: dict[str, Any] = {"file_path": path, "limit": slots.get("limit") or READ_LINES}
    if last := slots.get("last"):  # the first line says how many there are
        start = need(world, (yield call("Read", file_path=path, limit=1))[0])
        args |= {"offset": max(1, (total_lines(start) or 1) - int(last) + 1), "limit": int(last)}
    if offset := slots.get("offset"):
        args["offset"] = offset
    done = need(world, (yield call("Read", **args))[0])
    return _shown(world, done, path, numbered(done))


def _shown(world: World, done: Done, path: str, lines: list[tuple[int, str]]) -> Answer:
    if not lines:
        empty = not done.text.strip() or "empty" in done.text.lower()
        text = word(world.lang, "read.empty", file=code(path)) if empty else quote(done.text[:800])
        return Answer(text, "", [path])
    asked = world.request.slots
    shown = lines[:SHOWN_TEXT]
    first, last, end = shown[0][0], shown[-1][0], lines[-1][0]
    key = "read.title"
    if len(shown) < len(lines) or is_part(done):
        key = "read.start"
    if {"offset", "limit", "last"} & set(asked):
        key = "read.part"
    head = word(world.lang, key, file=code(path), n=number(len(lines)), first=first, last=last)
    text = f"{head}\n\n{presented(path, [t for _, t in shown])}"
    if key == "read.start":
        after = word(
            world.lang, "read.example", a=last + 1, b=max(end, last + SHOWN_TEXT), file=path
        )
        text += f"\n\n{word(world.lang, 'read.more', example=after)}"
    body = "\n".join(t for _, t in lines) + "\n"
    return Answer(with_note(world, done, text), body, [path])


def presented(path: str, lines: list[str]) -> str:
    """A file's lines as Markdown: a table for csv, a quotation for prose, else a code block."""
    kind = extension(path)
    if kind in ("csv", "tsv"):
        rows = list(csv.reader(lines[:21], delimiter="\t" if kind == "tsv" else ","))
        if rows and 1 < len(rows[0]) <= 12:
            width = len(rows[0])
            cells = [[cell(c, 40) for c in (*row, *[""] * width)[:width]] for row in rows]
            return table(cells[0], cells[1:])
    text = "\n".join(lines)
    if kind in ("md", "markdown") and QUOTE not in text:
        return quote(text)
    return fence(text, LANGUAGES.get(kind, "text" if kind in ("txt", "log", "") else ""))
