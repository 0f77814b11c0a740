"""Plans that read and reckon: count, compare, summarise."""

from __future__ import annotations

import difflib
import re
import shlex
from typing import Any

from .engine import Answer, Call, Plan, Want, World, call
from .extract import Column, columns, defined, digest
from .locate import MANY, Located, both_files, candidates, need, one_file
from .looking import grep_args, plain, scope_of, where, with_note
from .markdown import LANGUAGES, cell, code, extension, fence, number, table
from .parse import counts, hits, numbered, paths
from .transcript import Done, is_part, total_lines
from .words import word

MOST_FILES = 6
DIFF_LINES = 60


def count(world: World) -> Plan:
    slots = world.request.slots
    what = slots.get("what")
    if what == "occurrences" and slots.get("query"):
        return (yield from _count_text(world, str(slots["query"])))
    if what in ("lines", "words"):
        return (yield from _count_inside(world, what))
    say = word(world.lang, "say.count")
    done = need(world, (yield call("Glob", say, pattern=scope_of(slots), head_limit=5000))[0])
    found = paths(done)
    place = where(world, slots.get("path"))
    if kinds := slots.get("glob") or ", ".join(f".{e}" for e in slots.get("exts", [])[:3]):
        place += word(world.lang, "of", what=code(kinds))
    text = word(world.lang, "count.files", n=number(len(found)), where=place)
    listed = "\n".join(f"- {code(p)}" for p in sorted(found)) if 0 < len(found) <= 12 else ""
    answer = f"{text}\n\n{listed}".strip()
    return Answer(answer, answer + "\n", found)


def _count_text(world: World, query: str) -> Plan:
    slots = dict(world.request.slots)
    say = word(world.lang, "say.count")
    done = (yield call("Grep", say, **grep_args(slots, query, "content")))[0]
    if done.state == "error" and slots.get("file"):
        slots["file"] = yield from one_file(world, slots["file"], word(world.lang, "choose"))
        done = (yield call("Grep", **grep_args(slots, query, "content")))[0]
    need(world, done)
    found = hits(done, only=slots.get("file"))
    place = where(world, slots.get("file") or slots.get("path"))
    if not found:
        return Answer(word(world.lang, "search.none", query=code(query), where=place))
    if is_part(done):
        per = (yield call("Grep", **grep_args(slots, query, "count")))[0]
        lines = counts(need(world, per), only=slots.get("file"))
        total = number(sum(lines.values()))
        text = word(world.lang, "count.atleast", query=code(query), lines=total, where=place)
    else:
        lines: dict[str, int] = {}
        times = 0
        for hit in found:
            lines[hit.path] = lines.get(hit.path, 0) + 1
            times += max(1, len(re.findall(re.escape(query), hit.text, re.I)))
        key = "count.once" if times == 1 else "count.times"
        text = word(
            world.lang, key, query=code(query), n=number(times), lines=len(found), where=place
        )
    if len(lines) > 1:
        head = [word(world.lang, "h.file"), word(world.lang, "h.hits")]
        rows = [[code(p), number(n)] for p, n in sorted(lines.items(), key=lambda i: -i[1])[:30]]
        text += "\n\n" + table(head, rows, right=(1,))
    return Answer(text, text + "\n", list(lines))


def _count_inside(world: World, what: str) -> Plan:
    slots = world.request.slots
    say = word(world.lang, "say.count")
    if wanted := slots.get("file") or (slots.get("refers") and world.transcript.last_file):
        path = yield from one_file(world, str(wanted), word(world.lang, "choose"), say)
        files = [path]
    else:
        files = world.request.texts("files")
        if not files:
            done = (yield call("Glob", say, pattern=scope_of(slots), head_limit=MANY))[0]
            files = sorted(paths(need(world, done)))[:50]
    if not files:
        return Answer(word(world.lang, "list.none", where=where(world, slots.get("path"))))
    if what == "words":
        return (yield from _words(world, files))
    lines: dict[str, int] = {}
    calls = tuple(
        Call("Grep", {"pattern": "^", "output_mode": "count", "path": f}) for f in files[:20]
    )
    for file, done in zip(files, (yield Want(calls, say)), strict=False):
        lines[file] = sum(counts(need(world, done), only=file).values())
    return _lines_answer(world, lines)


def _lines_answer(world: World, lines: dict[str, int]) -> Answer:
    tables = all(extension(f) in ("csv", "tsv") for f in lines)
    if len(lines) == 1:
        file, n = next(iter(lines.items()))
        key = "count.rows" if tables and n else "count.lines"
        text = word(world.lang, key, file=code(file), n=number(n), rows=number(max(0, n - 1)))
        return Answer(text, text + "\n", [file])
    head = [word(world.lang, "h.file"), word(world.lang, "h.lines")]
    rows = [[code(f), number(n)] for f, n in lines.items()]
    if tables:
        head.append(word(world.lang, "h.rows"))
        rows = [[*row, number(max(0, n - 1))] for row, n in zip(rows, lines.values(), strict=True)]
    total = sum(max(0, n - 1) if tables else n for n in lines.values())
    shown = table(head, rows, right=(1, 2))
    text = f"{shown}\n\n{word(world.lang, 'count.total', n=number(total))}"
    return Answer(text, text + "\n", list(lines))


def _words(world: World, files: list[str]) -> Plan:
    command = f"wc -lwm -- {' '.join(shlex.quote(f) for f in files[:50])}"
    done = need(world, (yield call("Bash", command=command, description="Count words"))[0])
    rows: list[tuple[str, int, int, int]] = []
    for line in done.text.splitlines():
        if m := re.match(r"^\s*(\d+)\s+(\d+)\s+(\d+)\s+(.+)$", line):
            rows.append((m.group(4), int(m.group(1)), int(m.group(2)), int(m.group(3))))
    rows = [r for r in rows if r[0] in files] or rows[:1]
    if len(rows) == 1:
        file, lines, words, chars = rows[0]
        text = word(
            world.lang,
            "count.words",
            file=code(file),
            n=number(words),
            lines=number(lines),
            chars=number(chars),
        )
        return Answer(text, text + "\n", [file])
    head = [word(world.lang, k) for k in ("h.file", "h.lines", "h.words", "h.chars")]
    cells = [[code(f), number(a), number(b), number(c)] for f, a, b, c in rows]
    text = table(head, cells, right=(1, 2, 3))
    total = sum(r[2] for r in rows)
    text += f"\n\n{word(world.lang, 'count.total', n=number(total))}"
    return Answer(text, text + "\n", [r[0] for r in rows])


def compare(world: World) -> Plan:
    slots = world.request.slots
    say = word(world.lang, "say.compare")
    wanted: list[str] = world.request.texts("files")
    if len(wanted) == 1 and world.transcript.last_file:
        wanted.insert(0, world.transcript.last_file)
    if len(wanted) < 2 and slots.get("name"):
        found = yield from candidates(world, str(slots["name"]), None, say)
        wanted = found[:2] if len(found) == 2 else []
    if len(wanted) < 2:
        return Answer(word(world.lang, "compare.which"), failed=True)
    a, b = yield from both_files(world, wanted[:2], word(world.lang, "choose"), say)
    both = tuple(Call("Read", {"file_path": p, "limit": 2000}) for p in (a, b))
    one, two = [need(world, d) for d in (yield Want(both, say))]
    left, right = [[t for _, t in numbered(d)] for d in (one, two)]
    if is_part(one) or is_part(two):
        head = word(world.lang, "compare.big", a=code(a), b=code(b), x=_size(one), y=_size(two))
        return (yield from _big_compare(world, a, b, head))
    return _compared(world, (a, left), (b, right))


def _compared(world: World, one: tuple[str, list[str]], two: tuple[str, list[str]]) -> Answer:
    (a, left), (b, right) = one, two
    if left == right:
        text = word(world.lang, "compare.same", a=code(a), b=code(b), n=number(len(left)))
        return Answer(text, text + "\n", [a, b])
    diff = list(difflib.unified_diff(left, right, a, b, lineterm="", n=1))
    gone = sum(d.startswith("-") for d in diff[2:])
    new = sum(d.startswith("+") for d in diff[2:])
    head = word(
        world.lang,
        "compare.differ",
        a=code(a),
        b=code(b),
        gone=gone,
        new=new,
        same=number(len(left) - gone),
    )
    return _with_diff(world, head, diff, a, b)


def _with_diff(world: World, head: str, diff: list[str], a: str, b: str) -> Answer:
    shown = [d if len(d) <= 200 else d[:199] + "…" for d in diff[:DIFF_LINES]]
    text = f"{head}\n\n{fence(chr(10).join(shown), 'diff')}"
    if len(diff) > DIFF_LINES:
        text += f"\n\n{word(world.lang, 'compare.more', n=number(len(diff) - DIFF_LINES))}"
    title = word(world.lang, "doc.compare", a=a, b=b)
    return Answer(text, f"# {title}\n\n{text}\n", [a, b])


def _size(done: Done) -> str:
    """How many lines the file of a Read has: as the tool said, else how many came."""
    return number(total_lines(done) or len(numbered(done)))


def _big_compare(world: World, a: str, b: str, head: str) -> Plan:
    command = f"diff -u -- {shlex.quote(a)} {shlex.quote(b)}"
    about = f"Compare {a} and {b}"
    done = (yield call("Bash", command=command, description=about))[0]
    if done.state != "error":  # diff ends with 1 when the files differ, which tools call an error
        need(world, done)
    lines = done.text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith("--- ")), None)
    if start is None:
        if done.state == "error":
            need(world, done)
        text = word(world.lang, "compare.same", a=code(a), b=code(b), n="2,000+")
        return Answer(text, text + "\n", [a, b])
    diff = [d for d in lines[start:] if not d.startswith("Stderr:")]
    if is_part(done):
        head = with_note(world, done, head)
        diff = diff[:16]
    else:
        gone, new = (sum(d.startswith(s) for d in diff[2:]) for s in "-+")
        head += f" **−{number(gone)} / +{number(new)}**"
    return _with_diff(world, head, diff, a, b)


def summarise(world: World) -> Plan:
    slots = world.request.slots
    say = word(world.lang, "say.summarise")
    wanted = slots.get("file")
    if not wanted and slots.get("refers") and not slots.get("all"):
        wanted = world.transcript.last_file
    files: list[str]
    if len(named := world.request.texts("files")) > 1:
        files = yield from both_files(world, named[:MOST_FILES], word(world.lang, "choose"), say)
    elif wanted and not slots.get("all"):
        files = [(yield from one_file(world, str(wanted), word(world.lang, "choose"), say))]
    else:
        files = yield from _several(world, slots, say)
    if not files:
        return Answer(word(world.lang, "sum.which"), failed=True)
    calls = tuple(Call("Read", {"file_path": f}) for f in files[:MOST_FILES])
    parts = [
        (f, d)
        for f, d in zip(files, (yield Want(calls, say)), strict=False)
        if len(files) == 1 or d.ok
    ]
    texts = [summary_of(world, f, need(world, d)) for f, d in parts]
    text = "\n\n".join(texts)
    return Answer(text, text + "\n", files[:MOST_FILES])


def _several(world: World, slots: dict[str, Any], say: str) -> Located:
    """ "All the notes": files of the kinds that can be summarised, by folder, name or kind."""
    if name := slots.get("file"):
        found = yield from candidates(world, str(name), None, say)
    else:
        scope = dict(slots)
        scope.setdefault("exts", ["md", "txt"])
        done = (yield call("Glob", say, pattern=scope_of(scope), head_limit=MANY))[0]
        found = sorted(paths(need(world, done)))
        if slots.get("notes"):  # those that are notes by name or folder, when there are any
            found = [p for p in found if re.search(r"note|笔记|记录", p, re.I)] or found
    return [f for f in found if extension(f) in ("md", "txt", "csv", "log", "rst", "")]


def summary_of(world: World, file: str, done: Done) -> str:
    """Markdown: the telling sentences, or the figures of a table, or the names in code."""
    lines = numbered(done)
    texts = [t for _, t in lines]
    kind = extension(file)
    if kind in ("csv", "tsv"):
        rows, cols = columns(texts, "\t" if kind == "tsv" else ",")
        if cols:
            key = "sum.tablepart" if is_part(done) else "sum.table"
            whole = number(max(rows, (total_lines(done) or 1) - 1))
            head = word(world.lang, key, file=file, rows=number(rows), cols=len(cols), whole=whole)
            return with_note(world, done, f"{head}\n\n{_figures(world, cols)}")
    if kind in LANGUAGES and kind != "md" and (names := defined(texts)):
        said = ", ".join(code(n) for n in names[:30])
        return word(world.lang, "sum.code", file=file, names=said)
    got = digest(lines)
    out = [word(world.lang, "sum.title", file=file), ""]
    for s in got.sentences:
        out.append(f"- {plain(s.text)} _({word(world.lang, 'line', n=s.line)})_")
    if not got.sentences:
        out += [f"- {plain(t.strip())}" for t in texts[:5] if t.strip()]
    if len(got.headings) > 1:
        parts = " · ".join(plain(h) for h in got.headings[:10])
        out += ["", word(world.lang, "sum.parts", parts=parts)]
    return with_note(world, done, "\n".join(out))


def _figures(world: World, cols: list[Column]) -> str:
    rows: list[list[str]] = []
    for c in cols[:20]:
        if c.numeric:
            said = word(
                world.lang, "sum.stat", min=_short(c.low), max=_short(c.high), mean=_short(c.mean)
            )
        elif c.first:
            said = word(world.lang, "sum.dates", first=c.first, last=c.last)
        elif c.top:
            said = word(world.lang, "sum.distinct", n=number(c.distinct), top=c.top)
        else:
            said = word(world.lang, "sum.unique", n=number(c.distinct))
        rows.append([cell(c.name), cell(said)])
    return table([word(world.lang, "h.column"), word(world.lang, "h.values")], rows)


def _short(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"
