"""The table of shell commands that only read: what runs without asking.

An allow-list of commands *and of their options*; whenever it is silent the answer is "ask". It
never grows by command names alone. Not in it, whatever their options: what runs code that lies in
the folder (make, npm, pytest, cargo, go …), what runs another program by its nature (xargs, env,
time, awk, less, man), archives (tar names other machines), and what writes.
"""

from __future__ import annotations

from dataclasses import dataclass

from . import shell_custom as custom
from .shell_git import git_spec
from .shell_lex import Simple, Word
from .shell_parse import parse
from .shell_spec import Matched, Spec, match, names

_HELP = "help version"
_SUMS = Spec("bt", "", names(f"binary text tag zero {_HELP}"))
_VERSION = Spec(custom=custom.version("--version"), whole=False)
_PYTHON = Spec(custom=custom.version("--version", "-V", "-VV"), whole=False)
# Some versions take no separate value here: a number is never mistaken for a file.
_COUNT = r"\+?[0-9]{1,9}[a-zA-Z]{0,3}"
_LINES = tuple((name, _COUNT) for name in ("n", "c", "lines", "bytes"))
_CONTEXT = tuple((name, _COUNT) for name in ("A", "B", "C", "m"))


def _set(text: str) -> frozenset[str]:
    return names(f"{text} {_HELP}")


TABLE: dict[str, Spec] = {
    "ls": Spec(
        "1AaBCdFGghHiklmnNopqQrRsStuUvxXZ",
        "",
        _set("all almost-all human-readable recursive reverse size classify directory inode "
             "group-directories-first no-group numeric-uid-gid full-time si"),
        names("sort time ignore hide width block-size time-style format indicator-style"),
        names("color classify hyperlink"),
    ),
    "pwd": Spec("LP", positional="none"),
    "cat": Spec("AbeEnstTuv", "", _set("number number-nonblank show-all show-ends show-tabs "
                                       "squeeze-blank show-nonprinting"), positional="path"),
    "tac": Spec("b", "s", _set("before"), names("separator")),
    "rev": Spec(),
    "nl": Spec("p", "bhfilnsvw", _set("no-renumber")),
    "head": Spec("qv", "nc", _set("quiet silent verbose"), names("lines bytes"), values=_LINES,
                 digits=True),
    "tail": Spec("qv", "nc", _set("quiet silent verbose"), names("lines bytes"), values=_LINES,
                 digits=True),
    "wc": Spec("clLmw", "", _set("bytes chars lines words max-line-length")),
    "stat": Spec("Lt", "c", _set("dereference terse"), names("format")),
    "file": Spec("bhikLN", "", _set("brief mime mime-type mime-encoding no-dereference")),
    "date": Spec("uRI", "d", _set("utc universal rfc-email"), names("date"),
                 names("iso-8601 rfc-3339"), positional="format"),
    "du": Spec("abchkmsSx", "d", _set("all human-readable summarize total bytes apparent-size "
                                      "one-file-system"), names("max-depth exclude block-size")),
    "df": Spec("ahHiklPT", "", _set("all human-readable inodes local print-type si")),
    "echo": Spec(custom=custom.echo),
    "printf": Spec(custom=custom.printf),
    "true": Spec(positional="none"),
    "false": Spec(positional="none"),
    "sleep": Spec(custom=lambda args: [] if len(args) == 1 and _short_sleep(args[0]) else None),
    "test": Spec(custom=custom.test),
    "command": Spec(custom=custom.command),
    "which": Spec("a", positional="text"),
    "whereis": Spec("bms", positional="text"),
    "type": Spec("atpP", positional="text"),
    "basename": Spec("az", "s", _set("multiple zero"), names("suffix"), positional="text"),
    "dirname": Spec("z", "", _set("zero"), positional="text"),
    "realpath": Spec("emsLP", "", _set("canonicalize-existing canonicalize-missing no-symlinks")),
    "readlink": Spec("femn", "", _set("canonicalize canonicalize-existing no-newline")),
    "whoami": Spec("", "", _set(""), positional="none"),
    "id": Spec("Ggnru", "", _set("group groups name user"), positional="none"),
    "groups": Spec(positional="none"),
    "uname": Spec("amnoprsvi", "", _set("all kernel-name machine operating-system kernel-release"),
                  positional="none"),
    "arch": Spec(positional="none"),
    "nproc": Spec("", "", _set("all"), positional="none"),
    "uptime": Spec("ps", "", _set("pretty since"), positional="none"),
    "hostname": Spec("sfiI", "", _set("short fqdn"), positional="none"),
    "free": Spec("bkmght", "", _set("human mega giga total"), positional="none"),
    "seq": Spec("w", "sf", _set("equal-width"), names("separator format"), positional="text"),
    "cut": Spec("sz", "dfcb", _set("only-delimited complement"),
                names("delimiter fields characters bytes output-delimiter")),
    "tr": Spec("cCdst", "", _set("delete squeeze-repeats complement truncate-set1"),
               positional="text"),
    # the second operand of these two is written to
    "uniq": Spec("cdDiuz", "fsw", _set("count repeated unique ignore-case"),
                 names("skip-fields skip-chars check-chars"), positional="one"),
    "xxd": Spec(custom=custom.xxd),
    "sort": Spec("bdfghiMnrRsuVcCz", "kt", _set("numeric-sort reverse unique human-numeric-sort "
                 "version-sort ignore-case ignore-leading-blanks stable check general-numeric-sort "
                 "month-sort zero-terminated"), names("key field-separator sort")),
    "comm": Spec("123z", "", _set("check-order nocheck-order total"), names("output-delimiter"),
                 positional="two"),
    "join": Spec("iz", "12tjoaev", _set("ignore-case header"), positional="two"),
    "paste": Spec("sz", "d", _set("serial"), names("delimiters")),
    "fold": Spec("bs", "w", _set("bytes spaces"), names("width"), digits=True),
    "fmt": Spec("csu", "w", _set(""), names("width")),
    "expand": Spec("i", "t", _set("initial"), names("tabs")),
    "unexpand": Spec("a", "t", _set("all first-only"), names("tabs")),
    "column": Spec("txn", "csoNR", _set("table"), names("separator output-separator columns")),
    "diff": Spec(
        "abBcdeEiNnpqstTuwyZ",
        "UCIFW",
        _set("brief unified context side-by-side ignore-case ignore-all-space ignore-blank-lines "
             "ignore-space-change ignore-trailing-space report-identical-files minimal text "
             "new-file suppress-common-lines show-c-function strip-trailing-cr"),
        names("width label"),
        names("color unified context"),
        positional="two",
    ),
    "cmp": Spec("bls", "n", _set("print-bytes verbose quiet silent"), names("bytes"),
                positional="two"),
    **dict.fromkeys(("md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum",
                     "b2sum", "cksum"), _SUMS),
    "od": Spec("abcdfiloxsv", "AjNt", _set("")),
    "hexdump": Spec("bCcdovx", "ns", _set("")),
    "strings": Spec(custom=custom.strings),
    "base64": Spec("d", "w", _set("decode"), names("wrap"), positional="one"),
    "tree": Spec(
        "adfghiDnpsuCFQrtUvc", "LIP",
        _set("dirsfirst noreport du si prune inodes device gitignore ignore-case"),
        names("filelimit sort"),
    ),
    **dict.fromkeys(("grep", "egrep", "fgrep"), Spec(
        "abcEFGHhilLnoPqrsTvwxyzIU",
        "ABCem",
        _set("ignore-case word-regexp line-regexp invert-match count files-with-matches "
             "files-without-match line-number only-matching no-filename with-filename "
             "extended-regexp fixed-strings perl-regexp basic-regexp recursive quiet silent text "
             "no-messages initial-tab null byte-offset no-ignore-case line-buffered"),
        names("regexp context after-context before-context max-count include exclude exclude-dir "
              "binary-files label"),
        names("color colour"),
        _CONTEXT,
        digits=True,
        positional="pattern",
        deep=frozenset({"r", "recursive"}),
    )),
    "rg": Spec(
        "abcFhHiIlnNopPqsSUvVwx",
        "ABCegmtTdMjEr",
        _set("ignore-case smart-case case-sensitive word-regexp line-regexp invert-match count "
             "count-matches files-with-matches files-without-match files line-number "
             "no-line-number only-matching fixed-strings multiline multiline-dotall pcre2 heading "
             "no-heading json vimgrep stats trim column no-filename with-filename quiet text "
             "type-list sort-files no-config no-messages crlf null passthru debug"),
        names("regexp context after-context before-context max-count glob iglob type type-not "
              "max-depth max-filesize max-columns sort sortr color colors replace threads "
              "encoding path-separator context-separator engine"),
        values=_CONTEXT,
        positional="pattern",
        pattern_by=frozenset({"e", "regexp", "files", "type-list", "version", "V", "help"}),
        deep=frozenset({"*"}),
    ),
    "find": Spec(custom=custom.find),
    "sed": Spec(custom=custom.sed),
    "jq": Spec(custom=custom.jq),
    **dict.fromkeys(("python", "python3", "python3.11", "python3.12", "python3.13"), _PYTHON),
    **dict.fromkeys(("pip", "pip3", "ruff", "mypy", "gcc", "g++", "clang", "cmake", "docker",
                     "curl", "wget", "rsync", "bash", "zsh", "perl", "sqlite3", "gh", "tar",
                     "gzip", "zip", "openssl"), _VERSION),
    "node": Spec(custom=custom.version("--version", "-v"), whole=False),
    "ruby": Spec(custom=custom.version("--version", "-v"), whole=False),
    "php": Spec(custom=custom.version("--version", "-v"), whole=False),
    "java": Spec(custom=custom.version("--version", "-version"), whole=False),
    "ssh": Spec(custom=custom.version("-V"), whole=False),
}  # fmt: skip
# The versions of npm, yarn, cargo, rustc and go are not here: a file of the folder chooses which
# program answers.


def _short_sleep(word: Word) -> bool:
    return word.text.isascii() and word.text.isdigit() and int(word.text) <= 30


@dataclass(frozen=True, slots=True)
class Known:
    """One command that the table knows. ``paths`` are the words that name files: the caller checks
    where they lead, and what wildcards among them find. ``deep``: it reads whatever is below them.
    """

    words: tuple[str, ...]
    paths: tuple[Word, ...] = ()
    git: bool = False
    deep: bool = False
    enters: str | None = None  # the directory that ``cd`` goes to
    piped: bool = False  # reads what the command before it writes


@dataclass(frozen=True, slots=True)
class Reading:
    """A line of which the table knows every command."""

    commands: tuple[Known, ...]

    @property
    def git(self) -> bool:
        return any(c.git for c in self.commands)


def reading(line: str) -> Reading | None:
    """What the table knows of a command line, or None: ask."""
    parsed = parse(line)
    if parsed is None:
        return None
    known: list[Known] = []
    for simple in parsed:
        one = known_command(simple)
        if one is None:
            return None
        known.append(one)
    return Reading(tuple(known))


def known_command(simple: Simple) -> Known | None:
    """What the table knows of one simple command, or None."""
    words = simple.words
    head = words[0]
    if head.quoted or head.glob:
        return None
    argv = tuple(simple.argv)
    if head.text == "cd":
        return _cd(simple)
    row = row_of(words)
    if row is None:
        return None
    spec, args = row
    found = match(spec, args)
    if found is None:
        return None
    paths = (*found.paths, *simple.inputs)
    if any(climbs(w.text) or not w.text for w in paths):
        return None
    git, piped = head.text == "git", simple.before == "|"
    return Known(argv, paths, git, _deep(spec, found), piped=piped)


def row_of(words: list[Word]) -> tuple[Spec, list[Word]] | None:
    """The row for a command and the words that it judges."""
    if words[0].text == "git":
        row = git_spec(words[1:])
        return None if row is None else (row[0], list(row[1]))
    spec = TABLE.get(words[0].text)
    return None if spec is None else (spec, words[1:])


def _deep(spec: Spec, found: Matched) -> bool:
    return "*" in spec.deep or bool(spec.deep & found.options)


def _cd(simple: Simple) -> Known | None:
    """``cd directory``: what follows may be there, or, where it failed, still here."""
    words = simple.words[1:]
    if len(words) != 1 or simple.inputs or words[0].glob:
        return None
    target = words[0].text
    if not target or target.startswith("-") or climbs(target):
        return None
    return Known(tuple(simple.argv), (words[0],), enters=target)


def climbs(path: str) -> bool:
    """Whether an argument may climb out of where it seems to lead (also as ``revision:path``)."""
    return path.startswith("~") or ".." in path.replace(":", "/").replace("=", "/").split("/")
