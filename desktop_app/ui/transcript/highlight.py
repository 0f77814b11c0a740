"""Colours of code: Pygments, lazily and by lines.

A finished code is lexed from the top only as far as it is seen, in slices. A growing one is lexed
by complete lines, keeping the lexer's state stack, where the lexer can do that; others wait for
the end (short ones are lexed anew a line). Importing a lexer takes up to 40 ms, so that is done
in a thread, and who asked is told.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, cast

from PySide6.QtCore import QObject, Signal

Span = tuple[int, int, str]
"""Start in the line, length, and a key of ``style.CODE_ROLES``."""

_NAMES = {
    "Keyword.Constant": "n",
    "Keyword.Type": "t",
    "Keyword": "k",
    "Name.Function": "f",
    "Name.Class": "t",
    "Name.Builtin.Pseudo": "",
    "Name.Builtin": "t",
    "Name.Exception": "t",
    "Name.Decorator": "f",
    "Name.Attribute": "f",
    "Name.Tag": "t",
    "Name.Constant": "n",
    "Name.Namespace": "",
    "Literal.String.Interpol": "n",
    "Literal.String.Escape": "n",
    "Literal.String": "s",
    "Literal.Number": "n",
    "Literal": "n",
    "Comment": "c",
    "Operator.Word": "k",
    "Operator": "p",
    "Punctuation": "p",
    "Generic.Heading": "k",
    "Generic.Subheading": "k",
    "Generic.Inserted": "s",
    "Generic.Deleted": "n",
    "Generic.Emph": "f",
    "Generic.Strong": "f",
    "Generic.Prompt": "c",
}
_roles: dict[Any, str] = {}
_SHORT = 3_000
_LONG = 300_000  # beyond this nothing is coloured


def role_of(token: Any) -> str:
    """The colour of a Pygments token type; "" for plain."""
    found = _roles.get(token)
    if found is None:
        name = str(token)[6:]
        while name and name not in _NAMES:
            name = name.rpartition(".")[0]
        found = _roles[token] = _NAMES.get(name, "")
    return found


class _Lexers(QObject):
    """Lexers by name; ``ready`` when one that was asked for has been imported."""

    ready = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[str, Any] = {}
        self._loading: set[str] = set()

    def get(self, name: str) -> Any:
        """The lexer, or None: unknown, or not there yet (then ``ready`` will say)."""
        name = name.lower()
        if name in self.known or not name:
            return self.known.get(name)
        if name not in self._loading:
            self._loading.add(name)
            threading.Thread(target=self._load, args=(name,), daemon=True).start()
        return None

    def _load(self, name: str) -> None:
        load(name)
        try:
            self.ready.emit(name)
        except RuntimeError:  # the application has ended meanwhile
            pass


lexers = _Lexers()


def load(name: str) -> Any:
    """Import a lexer now; None when there is none of this name."""
    name = name.lower()
    if name not in lexers.known:
        from pygments.lexers import get_lexer_by_name
        from pygments.util import ClassNotFound

        try:
            lexers.known[name] = get_lexer_by_name(name, stripnl=False, ensurenl=False)
        except ClassNotFound:
            lexers.known[name] = None
    return lexers.known[name]


def warm(names: tuple[str, ...] = ("python", "bash", "json", "markdown", "yaml")) -> None:
    """Import the usual lexers in the background."""
    for name in names:
        lexers.get(name)


_SUFFIXES = {
    "py": "python", "pyi": "python", "js": "javascript", "mjs": "javascript", "ts": "typescript",
    "tsx": "tsx", "jsx": "jsx", "sh": "bash", "bash": "bash", "zsh": "bash", "json": "json",
    "yml": "yaml", "yaml": "yaml", "toml": "toml", "md": "markdown", "rs": "rust", "go": "go",
    "c": "c", "h": "c", "cpp": "cpp", "hpp": "cpp", "cc": "cpp", "java": "java", "kt": "kotlin",
    "rb": "ruby", "php": "php", "sql": "sql", "html": "html", "htm": "html", "css": "css",
    "xml": "xml", "ini": "ini", "cfg": "ini", "swift": "swift", "lua": "lua", "r": "r",
}  # fmt: skip


def language_of(path: str) -> str:
    """The lexer's name for a file, "" when not known."""
    return _SUFFIXES.get(path.rpartition(".")[2].lower(), "") if "." in path else ""


_cache: OrderedDict[tuple[str, str], list[list[Span]]] = OrderedDict()
_CACHE_CODES = 96
_CACHE_LONGEST = 100_000


class Highlighter:
    """Spans of each line of one code, as far as they were asked for."""

    def __init__(self, language: str, code: str = "", growing: bool = False) -> None:
        self.language = language.lower()
        self.code = code
        self.growing = growing
        self.lines: list[list[Span]] = []
        self._tokens: Iterator[tuple[int, Any, str]] | None = None
        self._stack: list[str] = ["root"]
        self._at = 0
        self._incremental = True
        self._ended = False
        self._published = 0
        self._line_start = 0
        self._exact: list[list[Span]] = [[]]
        if not growing:
            self._from_cache()

    def _from_cache(self) -> None:
        found = _cache.get((self.language, self.code))
        if found is not None:
            _cache.move_to_end((self.language, self.code))
            self.lines, self._ended = found, True

    def grow(self, code: str) -> None:
        """The code got longer."""
        self.code = code

    def finish(self) -> None:
        """The code is complete: lex it exactly; what was shown stays until then."""
        if self.growing:
            self.growing = False
            self._tokens = None
            self._from_cache()

    def advance(self, line: int, seconds: float = 0.006) -> bool:
        """Lex up to ``line`` (included), at most so long. True when nothing is left to do."""
        if self._ended or not self.language or len(self.code) > _LONG:
            return True
        lexer = lexers.get(self.language)
        if lexer is None:
            return True
        if self.growing:
            self._grow(lexer)
            return True
        return self._lex(lexer, line, time.perf_counter() + seconds)

    def _lex(self, lexer: Any, line: int, until: float) -> bool:
        if self._tokens is None:
            self._tokens = iter(lexer.get_tokens_unprocessed(self.code))
            self._exact = [[]]
            self._line_start = 0
            self._published = 0
        exact = self._exact
        for n, (start, token, value) in enumerate(self._tokens, 1):
            self._line_start = _add(
                exact, self._line_start, start, role_of(token), value, self.code
            )
            if n & 63 == 0:
                self._publish()
                if len(exact) > line + 1:
                    return True
                if time.perf_counter() > until:
                    return False
        self._ended = True
        self.lines = exact
        if len(self.code) <= _CACHE_LONGEST:
            _cache[self.language, self.code] = exact
            while len(_cache) > _CACHE_CODES:
                _cache.popitem(last=False)
        return True

    def _publish(self) -> None:
        done = len(self._exact) - 1
        self.lines[self._published : done] = self._exact[self._published : done]
        self._published = done

    def _grow(self, lexer: Any) -> None:
        end = self.code.rfind("\n") + 1
        if end <= self._at:
            return
        if not self._incremental:
            self._grow_short(lexer, end)
            return
        from pygments.lexer import ExtendedRegexLexer, LexerContext, RegexLexer

        if not isinstance(lexer, RegexLexer) or not hasattr(lexer, "_tokens"):
            self._incremental = False
            self._grow_short(lexer, end)
            return
        context = LexerContext(self.code, self._at, list(self._stack), end=end)
        fresh: list[list[Span]] = [[]]
        line_start = self._at
        resumed = cast(ExtendedRegexLexer, lexer)  # what it needs, any RegexLexer has
        try:
            for start, token, value in ExtendedRegexLexer.get_tokens_unprocessed(
                resumed, "", context
            ):
                line_start = _add(fresh, line_start, start, role_of(token), value, self.code)
        except Exception:  # noqa: BLE001 - a lexer with callbacks that cannot be resumed
            self._incremental = False
            return
        self.lines[self.code.count("\n", 0, self._at) :] = fresh[:-1]
        self._at, self._stack = end, list(context.stack or ["root"])

    def _grow_short(self, lexer: Any, end: int) -> None:
        if end > _SHORT:
            return
        lines: list[list[Span]] = [[]]
        line_start = 0
        for start, token, value in lexer.get_tokens_unprocessed(self.code[:end]):
            line_start = _add(lines, line_start, start, role_of(token), value, self.code)
        self.lines = lines
        self._at = end


def _add(
    lines: list[list[Span]], line_start: int, start: int, role: str, value: str, code: str
) -> int:
    """Add one token, which may span lines; returns the start of the line it ends in."""
    if "\n" not in value:
        if not role and value[:1].isalpha():
            after = code[start + len(value) : start + len(value) + 1]
            if after == "(":
                role = "f"
            elif value[0].isupper() and not value.isupper():
                role = "t"
        if role and not value.isspace():
            lines[-1].append((start - line_start, len(value), role))
        return line_start
    at = start
    for part in value.split("\n"):
        if at > start:
            lines.append([])
            line_start = at
        if role and part and not part.isspace():
            lines[-1].append((at - line_start, len(part), role))
        at += len(part) + 1
    return line_start
