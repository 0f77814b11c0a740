"""A shell line as two readers see it: the bash grammar of tree-sitter, and ``shell_lex``.

Only where both find the same commands with the same words at the same places is a line taken as
understood. The grammar brings what a hand-written reader lacks (keywords, compound commands, every
kind of expansion has a node of its own, and only the kinds named here pass); the lexer guards
against what the grammar is known to misread. Neither is ever asked to guess.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from .shell_lex import MAX_LINE, Simple, lex

if TYPE_CHECKING:
    from tree_sitter import Language, Node

# Node kinds that may occur. ``word`` and its like are leaves; what is quoted is looked into.
_LISTS = frozenset({"program", "list", "pipeline"})
_WORDS = frozenset({"word", "number", "raw_string", "string", "concatenation"})
_INSIDE = frozenset({"word", "number", "raw_string", "string", "string_content", '"', "$"})
_OPERATORS = frozenset({"|", "&&", "||", ";", "\n"})
_REDIRECTS = frozenset({">", ">>", "&>", "&>>", ">&", "<"})
Span = tuple[int, int]


@lru_cache(maxsize=1)
def _grammar() -> Language:
    # Loaded when first used: about 30 ms.
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Language(tree_sitter_bash.language())


def _tree(source: bytes) -> Node:
    """The tree's root. A parser of its own each time: parsers are not for two threads at once."""
    from tree_sitter import Parser

    return Parser(_grammar()).parse(source).root_node


def parse(line: str) -> tuple[Simple, ...] | None:
    """The simple commands of a line in order, or None when it is anything more, too long, or when
    the two readings differ. Blocks for microseconds; the first call loads the grammar."""
    if len(line) > MAX_LINE:
        return None
    return _parse(line)


@lru_cache(maxsize=64)
def _parse(line: str) -> tuple[Simple, ...] | None:
    ours = lex(line)
    if ours is None:
        return None
    try:
        source = line.encode()
    except UnicodeEncodeError:  # half a surrogate pair
        return None
    root = _tree(source)
    if root.has_error:
        return None
    theirs = _Tree(source)
    if not theirs.read(root):
        return None
    places = _places(line)
    words = [[(places[w.start], places[w.end]) for w in c.words] for c in ours]
    redirects = [(places[a], places[b]) for c in ours for a, b in c.redirects]
    operators = [c.before for c in ours if c.before not in ("", "\n")]
    if (words, redirects) != (theirs.words, theirs.redirects):
        return None
    # an operator at the end belongs to no command of ours
    found = theirs.operators
    same = found == operators or (found[-1:] == [";"] and found[:-1] == operators)
    return tuple(ours) if same else None


def _places(line: str) -> list[int]:
    """Byte offsets of each character, and of the end."""
    if line.isascii():
        return list(range(len(line) + 1))
    out, total = [0], 0
    for c in line:
        total += len(c.encode())
        out.append(total)
    return out


class _Tree:
    """What the grammar found: spans of words by command, of redirections, and the operators."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.words: list[list[Span]] = []
        self.redirects: list[Span] = []
        self.operators: list[str] = []

    def read(self, node: Node) -> bool:
        """Take a node in; False for a kind that is not named here."""
        kind = node.type
        if node.is_missing or node.is_error or node.is_extra:
            return False
        if kind in _LISTS:
            return all(self.read(child) for child in node.children)
        if kind == "command":
            return self._command(node)
        if kind == "redirected_statement":
            return self._redirected(node)
        if kind in _OPERATORS:
            if kind != "\n":
                self.operators.append(kind)
            return True
        return False

    def _command(self, node: Node) -> bool:
        spans: list[Span] = []
        for child in node.children:
            if child.type == "command_name":
                named: list[Any] = child.children
                if spans or len(named) != 1 or named[0].type != "word":
                    return False
            elif child.type not in _WORDS or not _plain(child):
                return False
            spans.append((child.start_byte, child.end_byte))
        self.words.append(spans)
        return True

    def _redirected(self, node: Node) -> bool:
        body, *rest = node.children
        if body.type != "command" or not self._command(body):
            return False
        for child in rest:
            if child.type != "file_redirect":
                return False
            parts = [c.type for c in child.children]
            if parts[:1] == ["file_descriptor"]:
                parts = parts[1:]
            if len(parts) != 2 or parts[0] not in _REDIRECTS or parts[1] not in _WORDS:
                return False
            if not _plain(child.children[-1]):
                return False
            self.redirects.append((child.start_byte, child.end_byte))
        return True


def _plain(node: Node) -> bool:
    """Whether a word holds nothing but characters."""
    if node.is_missing or node.is_error:
        return False
    return all(child.type in _INSIDE and _plain(child) for child in node.children)
