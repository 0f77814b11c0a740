"""The small table of shell commands that only read: what runs without asking.

An allow-list of commands *and of their options*, over lines that are plain in the strictest sense;
whenever the table is silent the answer is "ask". A later parser may widen it; it must never grow
by command names alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .shell_words import plain_words

# The only characters a listed line may hold besides letters and digits. No character here starts
# an expansion, a redirection, a list or a comment.
_PLAIN = re.compile(r"[\w ./,:=@%+^~'\"\t-]*")
_QUOTED = re.compile(r"""'[^']*'|"[^"]*\"""")
_CHUNK = re.compile(r"""[^'"]+|(?:--[a-z-]+=)?''""")
_NUMBER = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Spec:
    """One command. ``short`` options may be joined (``-la``); ``short_value`` and ``long_value``
    take a value; ``digits`` allows ``-20``; ``positional``: ``path``, ``text``, ``none``,
    ``format`` (only ``+…``), ``rev`` (git: revisions and paths)."""

    short: str = ""
    short_value: str = ""
    long: frozenset[str] = frozenset()
    long_value: frozenset[str] = frozenset()
    digits: bool = False
    positional: str = "path"


@dataclass(frozen=True, slots=True)
class Reading:
    """A line that the table knows. ``paths`` are the arguments that name files: the caller checks
    where they lead."""

    paths: tuple[str, ...] = ()
    git: bool = False
    program: str = ""
    words: tuple[str, ...] = field(default=())


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_HELP = "help version"
TABLE: dict[str, Spec] = {
    "ls": Spec(
        "1AaBCFGghiklLmnopqrRsStuUvxX",
        "",
        _names(
            f"all almost-all human-readable recursive reverse size classify directory inode {_HELP}"
        ),
        _names("color sort time"),
    ),
    "pwd": Spec("LP", positional="none"),
    "cat": Spec("AbeEnstTuv", "", _names(f"number number-nonblank show-all show-ends {_HELP}")),
    "head": Spec("qv", "nc", _names(f"quiet verbose {_HELP}"), _names("lines bytes"), True),
    "tail": Spec("qv", "nc", _names(f"quiet verbose {_HELP}"), _names("lines bytes"), True),
    "wc": Spec("clLmw", "", _names(f"bytes chars lines words max-line-length {_HELP}")),
    "stat": Spec("Lt", "c", _names(f"dereference terse {_HELP}"), _names("format")),
    "file": Spec("bhikLN", "", _names(f"brief mime mime-type mime-encoding {_HELP}")),
    "date": Spec(
        "uR", "d", _names(f"utc universal rfc-email {_HELP}"), _names("date"), positional="format"
    ),
    "whoami": Spec("", "", _names(_HELP), positional="none"),
    "uname": Spec("amnoprsv", "", _names(f"all kernel-name machine {_HELP}"), positional="none"),
    "du": Spec(
        "abchkmsSx",
        "d",
        _names(f"all human-readable summarize total bytes {_HELP}"),
        _names("max-depth"),
    ),
    "df": Spec("ahHiklPT", "", _names(f"all human-readable inodes local {_HELP}")),
    "echo": Spec("neE", positional="text"),
}
_LOG_LONG = (
    "oneline stat shortstat numstat graph all decorate no-decorate name-only name-status no-merges "
    "merges reverse patch no-patch abbrev-commit first-parent follow no-color cached staged "
    "summary ignore-all-space ignore-space-change ignore-blank-lines word-diff no-ext-diff "
    "no-textconv"
)
_LOG_VALUE = "since until after before author grep max-count skip date color unified"
GIT: dict[str, Spec] = {
    "status": Spec("sb", "", _names("short branch long ignored no-color"), _names("porcelain"),
                   positional="none"),
    "log": Spec("piw", "nU", _names(_LOG_LONG), _names(_LOG_VALUE), True, "rev"),
    "diff": Spec("pwb", "U", _names(_LOG_LONG), _names("unified color"), False, "rev"),
    "show": Spec("psw", "U", _names(_LOG_LONG), _names("unified color date"), False, "rev"),
    "branch": Spec("arv", "", _names("all remotes list verbose show-current no-color"),
                   positional="none"),
}  # fmt: skip
# ``git log --format`` is left out: %G placeholders run gpg.

# Sections and keys of a repository's own config that make git run nothing.
_CONFIG_PLAIN = {
    "core": {
        "repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase",
        "precomposeunicode", "symlinks", "autocrlf", "eol", "safecrlf", "quotepath",
    },
    "remote": {"url", "fetch", "pushurl", "tagopt", "prune"},
    "branch": {"remote", "merge", "rebase", "description"},
    "user": {"name", "email"},
    "init": {"defaultbranch"},
    "pull": {"rebase", "ff"},
    "push": {"default", "autosetupremote"},
    "color": {"ui"},
}  # fmt: skip
GIT_ENV = {
    # what the table allows must not write locks, page, wait for a password or look into submodules
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_CONFIG_COUNT": "4",
    "GIT_CONFIG_KEY_0": "core.fsmonitor",
    "GIT_CONFIG_VALUE_0": "false",
    "GIT_CONFIG_KEY_1": "diff.ignoreSubmodules",
    "GIT_CONFIG_VALUE_1": "all",
    "GIT_CONFIG_KEY_2": "core.hooksPath",
    "GIT_CONFIG_VALUE_2": "/dev/null",
    "GIT_CONFIG_KEY_3": "log.showSignature",
    "GIT_CONFIG_VALUE_3": "false",
}


def reading(line: str) -> Reading | None:
    """What the table knows of a command line, or None: ask."""
    if len(line) > 2000 or not _PLAIN.fullmatch(line):
        return None
    words = plain_words(line)
    if not words or words[0].quoted or not _simple_quotes(line):
        return None
    argv = [w.text for w in words]
    name, args = argv[0], argv[1:]
    spec = TABLE.get(name)
    if name == "git" and args and not words[1].quoted:
        spec, args = GIT.get(args[0]), args[1:]
    if spec is None:
        return None
    positionals = _options(spec, args)
    if positionals is None:
        return None
    paths = _positionals(spec, positionals)
    if paths is None or any(leaves(p) for p in paths):
        return None
    return Reading(tuple(paths), name == "git", name, tuple(argv))


def _simple_quotes(line: str) -> bool:
    """Quotes only around a whole word, or the whole value of a long option."""
    chunks = _QUOTED.sub("''", line).split()
    return all(_CHUNK.fullmatch(chunk) for chunk in chunks)


def _options(spec: Spec, args: list[str]) -> list[str] | None:
    """The positional arguments, or None when an option is not listed."""
    out: list[str] = []
    i = 0
    while i < len(args):
        arg = args[i]
        i += 1
        if arg == "--":
            out.extend(args[i:])
            break
        if arg.startswith("--"):
            name, equals, _ = arg[2:].partition("=")
            if equals:
                if name not in spec.long_value:
                    return None
            elif name not in spec.long and not (name in _OPTIONAL and name in spec.long_value):
                return None
        elif arg.startswith("-") and len(arg) > 1:
            taken = _short(spec, arg[1:], args[i] if i < len(args) else None)
            if taken is None:
                return None
            i += taken
        elif arg == "-" or not arg:
            return None
        else:
            out.append(arg)
    return out


_OPTIONAL = {"color", "porcelain"}  # long options whose value may be left out


def _short(spec: Spec, letters: str, following: str | None) -> int | None:
    """How many following words a cluster of short options takes, or None: not listed."""
    if spec.digits and _NUMBER.fullmatch(letters):
        return 0
    for k, letter in enumerate(letters):
        if letter in spec.short_value:
            if k + 1 < len(letters):
                return 0
            return None if following is None or following.startswith("-") else 1
        if letter not in spec.short:
            return None
    return 0


def _positionals(spec: Spec, words: list[str]) -> list[str] | None:
    match spec.positional:
        case "none":
            return None if words else []
        case "text":
            return []
        case "format":
            return [] if all(w.startswith("+") for w in words) and len(words) <= 1 else None
        case _:
            return words


def leaves(path: str) -> bool:
    """Whether an argument may lead out of the working directory as it stands."""
    return (
        path.startswith(("/", "~"))
        or ".." in re.split(r"[/:]", path)
        or (len(path) > 1 and path[1] == ":" and path[0].isalpha() and "/" in path)
    )


def git_config_plain(text: str) -> bool:
    """Whether a repository's own config holds nothing that makes git run a program.

    Only listed keys pass; includes, aliases, filters, drivers, hooks and whatever is new do not.
    """
    section = ""
    for raw in text.splitlines():
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        if line.startswith("["):
            head = re.fullmatch(r'\[([A-Za-z0-9.-]+)(?:\s+"[^"\\\n]*")?\]', line)
            if head is None:
                return False
            section = head.group(1).lower()
            continue
        key = line.partition("=")[0].strip().lower()
        if line.endswith("\\") or key not in _CONFIG_PLAIN.get(section, ()):
            return False
    return True
