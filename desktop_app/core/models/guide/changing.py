"""Plans that change files: write, rename, organise. The person allows each change: a file is
written by Write (with its diff), files move by one Bash command that is shown whole."""

from __future__ import annotations

import re
import shlex
from collections.abc import Generator
from typing import Any

from .engine import Answer, Plan, Stopped, Want, World, call
from .locate import MANY, candidates, choose, is_there, kinds_glob, literal, need, one_file
from .looking import grep_args, grouped, where
from .markdown import LANGUAGES, code, extension, fence, number, table
from .parse import hits, numbered, paths
from .transcript import Done, is_part
from .words import word

Text = Generator[Want, list[Done], str]
KINDS: dict[str, frozenset[str]] = {
    "org.images": frozenset({"png", "jpg", "jpeg", "gif", "webp", "svg", "bmp", "heic", "tiff"}),
    "org.documents": frozenset(
        {"md", "txt", "pdf", "doc", "docx", "odt", "rtf", "ppt", "pptx", "rst", "html"}
    ),
    "org.data": frozenset(
        {"csv", "tsv", "json", "xml", "xls", "xlsx", "ods", "yaml", "yml", "sqlite", "db", "log"}
    ),
    "org.code": frozenset({"py", "js", "ts", "sh", "c", "cpp", "rs", "go", "java", "sql", "css"}),
    "org.archives": frozenset({"zip", "gz", "tar", "7z", "xz", "bz2", "rar"}),
    "org.media": frozenset({"mp3", "wav", "flac", "mp4", "mov", "mkv", "webm", "avi", "ogg"}),
}


def _slug(text: str) -> str:
    stem = re.sub(r"[\s/\\:*?\"<>|.,;!。，；：！？、]+", "-", text.strip())[:32].strip("-")
    return stem or "note"


def target_of(world: World) -> str:
    """Where to write: the file named, else one named after the topic or a note."""
    slots = world.request.slots
    if file := slots.get("file"):
        return str(file).removeprefix("./")
    name = slots.get("name") or slots.get("topic")
    stem = _slug(str(name)) if name else word(world.lang, "doc.note")
    return stem if extension(stem) else f"{stem}.md"


def content_of(world: World, file: str, previous: Answer | None) -> Text:
    """What to write: the person's words, what an earlier step found, or what is gathered now."""
    slots = world.request.slots
    if content := slots.get("content"):
        return str(content).rstrip("\n") + "\n"
    if previous is not None and not slots.get("topic") and previous.body:
        return _headed(file, previous.body)
    if slots.get("kind") == "summary" and (slots.get("others") or slots.get("topic")):
        from .measuring import summary_of  # late: measuring imports nothing of ours back

        wanted = str((slots.get("others") or [slots["topic"]])[0])
        source = yield from one_file(world, wanted, word(world.lang, "choose"))
        done = need(world, (yield call("Read", file_path=source))[0])
        return _headed(file, summary_of(world, source, done))
    if slots.get("kind") == "listing":
        found = paths(need(world, (yield call("Glob", pattern="**/*", head_limit=MANY))[0]))
        listed = "\n".join(f"- {code(p)}" for p in sorted(found) if p != file)
        return f"# {word(world.lang, 'doc.listing')}\n\n{listed}\n"
    if topic := slots.get("topic"):
        return (yield from _report(world, str(topic)))
    return _headed(file, "")


def _headed(file: str, body: str) -> str:
    """Markdown gets a title; other kinds of file get the text alone."""
    body = body.strip("\n")
    if extension(file) not in ("md", "markdown") or body.startswith("# "):
        return f"{body}\n" if body else ""
    stem = file.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    title = re.sub(r"[-_]+", " ", stem).strip().capitalize()
    return f"# {title}\n\n{body}\n" if body else f"# {title}\n"


def _report(world: World, topic: str) -> Text:
    points = [p.strip() for p in re.split(r"[,，、;；]| and |和", topic) if p.strip()]
    if len(points) > 1:
        listed = "\n".join(f"- {re.sub('[一二三四五六七八九十]点$', '', p)}" for p in points)
        return _headed(target_of(world), listed)
    done = need(world, (yield call("Grep", **grep_args({}, topic, "content")))[0])
    found = hits(done)
    if not found and " " in topic:  # the phrase is nowhere: lines with its longest word
        longest = max(topic.split(), key=len)
        stem = longest[:-3] if len(longest) > 7 and longest.endswith("ies") else longest.rstrip("s")
        done = need(world, (yield call("Grep", **grep_args({}, stem, "content")))[0])
        found = hits(done)
    title = f"# {word(world.lang, 'doc.about', topic=topic)}"
    if not found:
        return f"{title}\n\n{word(world.lang, 'write.notfound', topic=topic)}\n"
    return f"{title}\n\n{word(world.lang, 'doc.found')}\n\n{grouped(world, found, topic)}\n"


def write(world: World, previous: Answer | None = None) -> Plan:
    slots = world.request.slots
    given = {"file", "name", "content", "topic"} & {k for k, v in slots.items() if v}
    if not given and not (previous and previous.body):
        return Answer(word(world.lang, "write.which"), failed=True)
    if slots.get("append") and not {"content", "topic"} & given and not previous:
        return Answer(word(world.lang, "write.empty", file=code(target_of(world))), failed=True)
    file = target_of(world)
    say = word(world.lang, "say.write", file=code(file))
    there = yield from is_there(world, file, say)
    append = bool(slots.get("append"))
    content = yield from content_of(world, file, previous)
    added = content
    if there:
        if not append:
            append = yield from _add_or_replace(world, file)
        done = need(world, (yield call("Read", file_path=file))[0])
        if append:
            content = _appended(world, done, content)
    done = (yield call("Write", file_path=file, content=content))[0]
    need(world, done)
    written = str(done.args.get("content", content))  # the person may have edited it
    file = str(done.args.get("file_path", file))
    grown = append and there
    key = "write.added" if grown else "write.done"
    head = word(world.lang, key, file=code(file), n=number(len(written.splitlines())))
    lines = (added if grown else written).rstrip("\n").split("\n")
    if not written.strip():
        return Answer(head, "", [file])
    shown = "\n".join(lines[:12]) + ("\n…" if len(lines) > 12 else "")
    return Answer(f"{head}\n\n{fence(shown, LANGUAGES.get(extension(file), 'text'))}", "", [file])


def _add_or_replace(world: World, file: str) -> Generator[Want, list[Done], bool]:
    options = [word(world.lang, f"write.{k}") for k in ("add", "replace", "cancel")]
    question = word(world.lang, "write.exists", file=code(file))
    chosen = yield from choose(world, options, question)
    if chosen == options[2]:
        raise Stopped(Answer(word(world.lang, "write.left", file=code(file)), "", [file]))
    return chosen == options[0]


def _appended(world: World, done: Done, content: str) -> str:
    """The file with ``content`` at its end. Never from a part of it: that would lose the rest."""
    if is_part(done):
        raise Stopped(Answer(word(world.lang, "write.large"), failed=True))
    lines = [t for _, t in numbered(done)]
    return "\n".join([*lines, content]) if lines else content


def _moves(moves: list[tuple[str, str]]) -> str:
    """One command that makes folders and moves files; ``-n`` never replaces a file."""
    known = {a.rsplit("/", 1)[0] for a, _ in moves if "/" in a}
    folders = sorted({b.rsplit("/", 1)[0] for _, b in moves if "/" in b} - known)
    parts = [f"mkdir -p -- {' '.join(map(shlex.quote, folders))}"] if folders else []
    grouped_by: dict[str, list[str]] = {}
    for a, b in moves:
        folder, name = b.rsplit("/", 1) if "/" in b else ("", b)
        if folder and name == a.rsplit("/", 1)[-1]:
            grouped_by.setdefault(folder, []).append(a)
        else:
            parts.append(f"mv -n -- {shlex.quote(a)} {shlex.quote(b)}")
    for folder, files in grouped_by.items():
        parts.append(f"mv -n -- {' '.join(map(shlex.quote, files))} {shlex.quote(folder + '/')}")
    return " && ".join(parts)


def rename(world: World) -> Plan:
    slots = world.request.slots
    if slots.get("from_ext"):
        return (yield from _rename_kind(world, str(slots["from_ext"]), str(slots["to_ext"])))
    source = slots.get("source") or (slots.get("refers") and world.transcript.last_file)
    if not source:
        return Answer(word(world.lang, "rename.which"), failed=True)
    if not slots.get("dest"):
        return Answer(word(world.lang, "rename.newname", file=code(str(source))), failed=True)
    path = yield from one_file(world, str(source), word(world.lang, "choose"))
    dest = str(slots["dest"]).removeprefix("./")
    if into := slots.get("into"):  # moved as it is, under the name that it has
        dest = f"{into}/{path.rsplit('/', 1)[-1]}"
    if not extension(dest) and extension(path):
        dest = f"{dest}.{extension(path)}"
    if "/" not in dest and "/" in path:
        dest = f"{path.rsplit('/', 1)[0]}/{dest}"
    if dest == path:
        return Answer(word(world.lang, "rename.same"), "", [path])
    if (yield from is_there(world, dest)):
        return Answer(word(world.lang, "rename.taken", b=code(dest)), failed=True)
    about = f"Rename {path} to {dest}"
    say = word(world.lang, "say.rename")
    need(world, (yield call("Bash", say, command=_moves([(path, dest)]), description=about))[0])
    text = word(world.lang, "rename.done", a=code(path), b=code(dest))
    return Answer(text, text + "\n", [dest])


def _rename_kind(world: World, old: str, new: str) -> Plan:
    done = need(world, (yield call("Glob", pattern=f"**/*.{old}", head_limit=MANY))[0])
    files = sorted(paths(done))
    taken = need(world, (yield call("Glob", pattern=f"**/*.{new}", head_limit=MANY))[0])
    there = set(paths(taken))
    moves = [(f, f"{f[: -len(old) - 1]}.{new}") for f in files]
    moves = [(a, b) for a, b in moves if b not in there]
    if not moves:
        return Answer(word(world.lang, "rename.none", ext=old), failed=True)
    head = [word(world.lang, "h.from"), word(world.lang, "h.new")]
    plan = table(head, [[code(a), code(b)] for a, b in moves[:30]])
    say = f"{word(world.lang, 'say.rename')}\n\n{plan}"
    about = f"Rename {len(moves)} files from .{old} to .{new}"
    need(world, (yield call("Bash", say, command=_moves(moves), description=about))[0])
    text = word(world.lang, "rename.many", n=len(moves))
    return Answer(text, f"{text}\n\n{plan}\n", [b for _, b in moves])


def _new_folder(world: World, name: str) -> Plan:
    command = f"mkdir -p -- {shlex.quote(name)}"
    need(world, (yield call("Bash", command=command, description=f"Make the folder {name}"))[0])
    text = word(world.lang, "org.made", folder=code(f"{name}/"))
    return Answer(text, text + "\n")


def organise(world: World) -> Plan:
    slots: dict[str, Any] = world.request.slots
    if made := slots.get("folder"):
        return (yield from _new_folder(world, str(made)))
    folder = slots.get("path")
    exts: list[str] = slots.get("exts") or []
    base = f"{folder}/" if folder else ""
    if dest := slots.get("dest"):
        if name := slots.get("name"):
            which = yield from candidates(world, str(name))
        else:
            pattern = kinds_glob(exts, folder)
            found = need(world, (yield call("Glob", pattern=pattern, head_limit=MANY))[0])
            which = sorted(paths(found))
        moves = [(p, f"{dest}/{p.rsplit('/', 1)[-1]}") for p in which]
    else:
        pattern = f"{literal(base)}*"
        found = need(world, (yield call("Glob", pattern=pattern, head_limit=MANY))[0])
        loose = [p for p in sorted(paths(found)) if not p.removeprefix(base).startswith(".")]
        loose = [p for p in loose if not exts or extension(p) in exts]
        by_date = slots.get("by") == "date"
        groups = (yield from _dates(loose)) if by_date else _kinds(world, loose)
        moves = [(p, f"{base}{groups[p]}/{p.rsplit('/', 1)[-1]}") for p in loose if p in groups]
    targets = [b for _, b in moves]
    moves = [(a, b) for a, b in moves if a != b and targets.count(b) == 1]
    if not moves:
        return Answer(word(world.lang, "org.none", where=where(world, folder)))
    head = [word(world.lang, "h.file"), word(world.lang, "h.to")]
    rows = [[code(a), code(b.rsplit("/", 1)[0] + "/")] for a, b in moves]
    plan = table(head, rows[:40])
    say = f"{word(world.lang, 'say.organise', n=len(moves))}\n\n{plan}"
    about = f"Sort {len(moves)} files into folders"
    need(world, (yield call("Bash", say, command=_moves(moves), description=about))[0])
    places = {b.rsplit("/", 1)[0] for _, b in moves}
    text = word(world.lang, "org.done", n=len(moves), k=len(places))
    if len(places) == 1:
        text = word(world.lang, "org.done1", n=len(moves), dest=code(f"{places.pop()}/"))
    return Answer(text, f"{text}\n\n{plan}\n", [b for _, b in moves])


def _kinds(world: World, files: list[str]) -> dict[str, str]:
    out: dict[str, str] = {}
    for path in files:
        kind = next((k for k, exts in KINDS.items() if extension(path) in exts), "org.other")
        out[path] = word(world.lang, kind)
    return out


_DATED = re.compile(r"(?<!\d)((?:19|20)\d\d)[-_. 年]?(0?[1-9]|1[0-2])(?!\d)(?:[-_. 月]?\d{1,2})?")


def _dates(files: list[str]) -> Generator[Want, list[Done], dict[str, str]]:
    """A folder ``YYYY-MM`` for each file: by the date in its name, else when it last changed."""
    out: dict[str, str] = {}
    for path in files:
        if m := _DATED.search(path.rsplit("/", 1)[-1]):
            out[path] = f"{m.group(1)}-{int(m.group(2)):02}"
    rest = [p for p in files if p not in out]
    if rest:
        # stat of GNU prints the date for people to read; only the year and month are used.
        command = f"stat -c '%y %n' -- {' '.join(map(shlex.quote, rest))}"
        done = (yield call("Bash", command=command, description="When the files last changed"))[0]
        for line in done.text.splitlines():
            if (m := re.match(r"^(\d{4}-\d\d)-\S+ \S+ \S+ (.+)$", line)) and m.group(2) in rest:
                out[m.group(2)] = m.group(1)
    return out
