"""Read, Edit and Write on files of any bytes and encodings, through the tools themselves. Each test
counts what its examples came to, so that it says when they have stopped meaning anything."""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from desktop_app.core.errors import ToolFailure
from desktop_app.core.tools.base import ToolContext
from desktop_app.core.tools.edit import Edit
from desktop_app.core.tools.read import Read
from desktop_app.core.tools.write import Write
from tests.helpers.tools import make_context

# The Unicode marks name their encoding; of the others UTF-8 is told, and cp1252 guessed.
ENCODINGS = {
    "utf-8": b"",
    "utf-8 marked": b"\xef\xbb\xbf",
    "utf-16-le": b"\xff\xfe",
    "utf-16-be": b"\xfe\xff",
    "utf-32-le": b"\xff\xfe\0\0",
    "utf-32-be": b"\0\0\xfe\xff",
    "cp1252": b"",
}
REFUSALS = {"file.binary", "file.encoding", "read.pdf_broken", "read.past_end"}
_BREAK = re.compile("\r\n|\n|\r")
_NUMBERED = re.compile(r" *(\d+)\t(.*)", re.DOTALL)

anything = st.binary(max_size=80) | st.lists(
    st.sampled_from([b"\r\n", b"\n", b"\r", b"\xe2\x80\xa8", b"\xff", b"\xc3\xa4", b"\x85", b"word",
                     b"\0", b"\xd8\x3d\xde\0", b"%PDF-1.7\n", b"\x89PNG\r\n\x1a\n", b"x" * 9_000])
).map(b"".join)  # fmt: skip
words = st.text(st.sampled_from("abé ü\t\u2028\x0c数\U0001f600"), max_size=6)
narrow = str.maketrans({"\u2028": "\xa0", "数": "ß", "\U0001f600": "€"})  # what cp1252 has instead
ends = st.sampled_from(["\n", "\r\n", "\r"])
texts = st.builds(
    lambda pairs, last: "".join(line + end for line, end in pairs) + last,
    st.lists(st.tuples(words, ends), max_size=10),
    words,
)


def encoded(text: str, kind: str) -> bytes | None:
    """None where its bytes could be another encoding's."""
    data = ENCODINGS[kind] + text.encode(kind.split()[0])
    if kind != "cp1252":
        return data
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return data
    return None


def fitting(kind: str, text: str) -> str:
    """The text with characters that the encoding has, and one that makes it known."""
    return text.translate(narrow) + "ü" if kind == "cp1252" else text


def on_file(data: bytes | None, work: Callable[[ToolContext], Awaitable[str]]) -> tuple[str, bytes]:
    """(what ``work`` gives or the code of its refusal, the file's bytes afterwards). There is no
    file before it when ``data`` is None."""

    async def go(folder: Path) -> str:
        ctx = make_context(folder)
        try:
            return await work(ctx)
        except ToolFailure as error:
            return error.code
        finally:
            await ctx.backend.close()

    with tempfile.TemporaryDirectory() as temp:
        path = Path(temp) / "f"
        if data is not None:
            path.write_bytes(data)
        said = asyncio.run(go(Path(temp)))
        assert os.listdir(temp) == ["f"], "something was left lying about"
        return said, path.read_bytes()


@pytest.mark.parametrize("kind", ENCODINGS)
def test_text_is_read_as_it_was_written_in_whatever_encoding(kind: str) -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=40)
    @given(texts, st.integers(1, 8), st.integers(1, 8))
    def check(text: str, first: int, count: int) -> None:
        text = fitting(kind, text)
        data = encoded(text, kind)
        assume(data is not None and text)
        assert data is not None

        async def read(ctx: ToolContext) -> str:
            args = {"file_path": "f", "offset": first, "limit": count}
            return (await Read().run(args, ctx)).text

        said, after = on_file(data, read)
        assert after == data
        lines = _BREAK.split(text)
        if not lines[-1]:
            lines.pop()
        wanted = lines[first - 1 : first - 1 + count]
        if not wanted:
            seen["past the end"] += 1
            assert said == "read.past_end"
            return
        shown = said.split("\n")[: len(wanted)]
        found = [(int(m[1]), m[2]) for m in map(_NUMBERED.fullmatch, shown) if m]
        assert found == list(enumerate(wanted, first))
        seen[kind] += 1

    check()
    assert seen[kind] >= 10, seen
    assert seen["past the end"] >= 3, seen


def test_any_bytes_are_shown_or_refused_and_never_changed() -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=150)
    @given(st.just(b"") | st.sampled_from(sorted(set(ENCODINGS.values()))), anything)
    def check(mark: bytes, rest: bytes) -> None:
        async def read(ctx: ToolContext) -> str:
            return (await Read().run({"file_path": "f"}, ctx)).text

        said, after = on_file(mark + rest, read)
        assert after == mark + rest
        said.encode("utf-8")  # half a character would be refused by every provider
        if said in REFUSALS:
            seen[said] += 1
        elif said == "(the file is empty)":
            seen["empty"] += 1
        elif said.startswith("f: image/png"):
            seen["picture"] += 1
        else:
            assert all(_NUMBERED.fullmatch(line) for line in said.split("\n")), said
            seen["shown"] += 1

    check()
    assert seen["shown"] >= 30, seen
    assert seen["file.binary"] >= 5, seen


@pytest.mark.parametrize("kind", ENCODINGS)
def test_an_edit_touches_its_bytes_alone_in_whatever_encoding(kind: str) -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=40)
    @given(texts, texts)
    def check(before: str, after: str) -> None:
        before, after = fitting(kind, before), fitting(kind, after)
        data, wanted = (encoded(before + m + after, kind) for m in ("MARK", "Zé"))
        assume(data is not None and wanted is not None and not before.endswith("\r"))
        assert data is not None

        async def edit(ctx: ToolContext) -> str:
            await Read().run({"file_path": "f"}, ctx)
            args = {"file_path": "f", "old_string": "MARK", "new_string": "Zé"}
            await Edit().run(args, ctx)
            return "changed"

        assert on_file(data, edit) == ("changed", wanted)
        seen[kind] += 1

    check()
    assert seen[kind] >= 10, seen


@pytest.mark.parametrize("kind", ENCODINGS)
def test_a_file_that_is_written_anew_keeps_its_encoding_and_its_ends(kind: str) -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=40)
    @given(texts, st.lists(words, min_size=1, max_size=6), ends)
    def check(old: str, lines: list[str], end: str) -> None:
        # one kind of end in the whole file, as editors write it
        data = encoded(fitting(kind, end.join(_BREAK.split(old)) + end), kind)
        lines = [*map(partial(fitting, kind), lines)]
        wanted = encoded(end.join(lines), kind)
        assume(data is not None and wanted is not None)
        assert data is not None

        async def write(ctx: ToolContext) -> str:
            await Read().run({"file_path": "f"}, ctx)
            await Write().run({"file_path": "f", "content": "\n".join(lines)}, ctx)
            return "written"

        assert on_file(data, write) == ("written", wanted)
        seen[kind] += 1

    check()
    assert seen[kind] >= 10, seen
