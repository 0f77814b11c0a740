"""Commands whose words are a small language: find, sed, test, printf, jq, and reading git's own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .shell_lex import Word

# find: tests and actions that only look and print, by how many words they take.
_FIND: dict[str, int] = {
    **dict.fromkeys(
        ("-print", "-print0", "-empty", "-not", "-a", "-o", "-and", "-or", "-prune", "-true",
         "-false", "-quit", "-readable", "-writable", "-executable", "-depth", "-mount", "-xdev",
         "-daystart", "-ls", "(", ")", "!", ","),
        0,
    ),
    **dict.fromkeys(
        ("-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-regextype",
         "-type", "-maxdepth", "-mindepth", "-mtime", "-mmin", "-atime", "-amin", "-ctime",
         "-cmin", "-size", "-perm", "-user", "-group", "-links", "-printf"),
        1,
    ),
}  # fmt: skip


def find(args: Sequence[Word]) -> list[Word] | None:
    """Starting points, then an expression of listed words. No wildcard may be left to the shell:
    what it finds would be words of the expression."""
    if any(w.glob for w in args):
        return None
    i = 0
    paths: list[Word] = []
    while i < len(args) and not args[i].text.startswith(("-", "(", "!", ",")):
        if not args[i].text:
            return None
        paths.append(args[i])
        i += 1
    while i < len(args):
        word = args[i].text
        taken = _FIND.get(word)
        if word == "-newer" and i + 1 < len(args):
            paths.append(args[i + 1])
            taken = 1
        if taken is None or i + taken >= len(args):
            return None
        i += 1 + taken
    return paths


_ADDRESS = r"(?:[0-9]{1,9}|\$|/(?:[^/\\\n\[]|\\[^\n])+/)"
_PRINT = re.compile(rf"(?:{_ADDRESS}(?:,(?:{_ADDRESS}|\+[0-9]{{1,9}}))?)?[pdq=]")
# One delimiter, no class (some versions let a delimiter stand in it), no flag that writes or runs.
_PIECE = r"(?:[^/\\\n\[]|\\[^\n])*"
_REPLACE = re.compile(rf"s/{_PIECE}/{_PIECE}/[gip0-9]{{0,4}}")


def sed(args: Sequence[Word]) -> list[Word] | None:
    """``sed -n '10,20p' file`` and ``sed 's/a/b/'``: to standard output, never in place."""
    scripts: list[str] = []
    rest: list[Word] = []
    i = 0
    while i < len(args):
        word = args[i]
        if word.glob and not rest and not scripts:
            return None
        if word.text in ("-n", "-E", "-r", "-nE", "-En", "--quiet", "--silent"):
            pass
        elif word.text == "-e" and i + 1 < len(args):
            i += 1
            scripts.append(args[i].text)
        elif word.text.startswith("-") or not word.text:
            return None
        else:
            rest.append(word)
        i += 1
    if not scripts:
        if not rest or rest[0].glob:
            return None
        scripts.append(rest.pop(0).text)
    return rest if all(_sed_reads(script) for script in scripts) else None


def _sed_reads(script: str) -> bool:
    if _REPLACE.fullmatch(script) or _PRINT.fullmatch(script):
        return True
    # several printing commands; none that holds text of its own
    pieces = [piece.strip() for piece in script.split(";")]
    simple = re.compile(r"(?:(?:[0-9]{1,9}|\$)(?:,(?:[0-9]{1,9}|\$))?)?[pdq=]")
    return all(simple.fullmatch(piece) for piece in pieces)


def xxd(args: Sequence[Word]) -> list[Word] | None:
    """Options first, then one file: it tells options by their first letter, and whatever follows
    the file is written to."""
    i = 0
    while i < len(args) and args[i].text.startswith("-"):
        if args[i].text in ("-c", "-g", "-l", "-s") and i + 1 < len(args):
            i += 1
            if not re.fullmatch(r"\+?(?:0x)?[0-9a-fA-F]{1,9}", args[i].text):
                return None
        elif args[i].text not in ("-b", "-C", "-e", "-i", "-p", "-u"):
            return None
        i += 1
    files = list(args[i:])
    return None if len(files) > 1 or any(w.glob for w in files) else files


_TESTS = frozenset({"-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h"})


def test(args: Sequence[Word]) -> list[Word] | None:
    """``test -f path``: one look at one file. (``-v`` and arithmetic would run substitutions.)"""
    words = list(args[1:] if args and args[0].text == "!" else args)
    if len(words) == 2 and words[0].text in _TESTS and not words[1].glob and words[1].text:
        return [words[1]]
    return None


def echo(args: Sequence[Word]) -> list[Word] | None:
    """Any words: it knows no option that matters. A wildcard shows names, of this folder only."""
    return [w for w in args if w.glob]


def printf(args: Sequence[Word]) -> list[Word] | None:
    """A format without ``-v`` and ``%n``, which would set a variable: ``PATH`` is one, too."""
    if not args or args[0].text.startswith("-") or any(w.glob for w in args):
        return None
    return None if _SETS.search(args[0].text.replace("%%", "")) else []


def strings(args: Sequence[Word]) -> list[Word] | None:
    """Files alone, and how long a text must be. It reads arguments out of a file that is named
    ``@file``, wherever that stands."""
    rest = list(args)
    while rest and rest[0].text.startswith("-"):
        given = rest[:2] if rest[0].text == "-n" else rest[:1]
        if any(w.glob for w in given) or not _STRINGS.fullmatch(" ".join(w.text for w in given)):
            return None
        rest = rest[len(given) :]
    bad = any(w.glob.startswith(("*", "?", "[")) or w.text.startswith(("@", "-")) for w in rest)
    return None if bad or not all(w.text for w in rest) else rest


_STRINGS = re.compile(r"-a|-f|-w|--all|-(?:n ?)?[0-9]{1,6}")
_SETS = re.compile(r"%[^%A-Za-z]*[hlLjqtz]*n")
_JQ = re.compile(r"[\w.\[\]|,:\"'() ?=<>!+*/-]+")
_JQ_WORDS = re.compile(
    r"\b(?:env|import|include|input|inputs|debug|stderr|getpath|input_filename|halt_error"
    r"|get_search_list|modulemeta|\w*path\w*)\b"
)


def jq(args: Sequence[Word]) -> list[Word] | None:
    """A filter without the environment and without modules, then files."""
    rest: list[Word] = []
    for word in args:
        if word.text.startswith("-"):
            if word.glob or not re.fullmatch(r"-[rcSMjes]{1,6}", word.text):
                return None
        else:
            rest.append(word)
    if not rest or rest[0].glob or not _JQ.fullmatch(rest[0].text):
        return None
    return None if _JQ_WORDS.search(rest[0].text) else rest[1:]


def command(args: Sequence[Word]) -> list[Word] | None:
    """``command -v name``: where a program is."""
    words = [w.text for w in args]
    if len(words) >= 2 and words[0] in ("-v", "-V"):
        plain = all(re.fullmatch(r"[\w.+-]+", w) and not w.startswith("-") for w in words[1:])
        return [] if plain else None
    return None


def version(*spellings: str):
    """A program that is asked for its version and nothing else."""

    def only(args: Sequence[Word]) -> list[Word] | None:
        return [] if len(args) == 1 and args[0].text in spellings else None

    return only
