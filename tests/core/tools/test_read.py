"""Read: lines, windows, encodings, what is refused."""

from __future__ import annotations

import base64
import os
import struct
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_app.core.errors import ToolFailure
from desktop_app.core.messages import Base64Source
from desktop_app.core.tools.base import ToolContext
from desktop_app.core.tools.read import Read
from desktop_app.core.tools.textfile import UTF8, Encoding, lines_of
from desktop_app.core.tools.window import Window
from desktop_app.core.workspaces.local import LocalBackend
from tests.helpers.backends import RemoteLikeBackend
from tests.helpers.tools import make_context


async def read(ctx: ToolContext, path: str = "f", **more: object) -> str:
    return (await Read().run({"file_path": path, **more}, ctx)).text


async def test_numbered_lines(ctx: ToolContext, folder: Path) -> None:
    (folder / "f").write_bytes(b"a\r\nb\rc\nd\xe2\x80\xa8e\x0cf\n")
    assert await read(ctx) == "     1\ta\n     2\tb\n     3\tc\n     4\td\u2028e\x0cf"


async def test_window_and_its_note(ctx: ToolContext, folder: Path) -> None:
    (folder / "f").write_text("".join(f"line {i}\n" for i in range(1, 101)))
    out = await Read().run({"file_path": "f", "offset": 10, "limit": 2}, ctx)
    assert out.text.splitlines() == [
        "    10\tline 10",
        "    11\tline 11",
        "[lines 10-11 of 100; read on with offset=12]",
    ]
    assert out.metadata["slipway"]["lines"] == {"from": 10, "to": 11, "total": 100}


async def test_the_version_is_remembered(ctx: ToolContext, folder: Path) -> None:
    (folder / "f").write_text("x")
    out = await Read().run({"file_path": "./f"}, ctx)
    path = str(folder / "f")
    assert out.metadata["slipway"]["read"] == ctx.files.seen == {path: ctx.files.seen[path]}


async def test_empty_and_past_the_end(ctx: ToolContext, folder: Path) -> None:
    (folder / "f").write_text("")
    assert await read(ctx) == "(the file is empty)"
    (folder / "f").write_text("one\n")
    with pytest.raises(ToolFailure, match=r"read\.past_end") as caught:
        await read(ctx, offset=5)
    assert "has 1 lines" in caught.value.message


async def test_long_lines_are_cut(ctx: ToolContext, folder: Path) -> None:
    (folder / "f").write_text("é" * 3000 + "\nshort\n")
    lines = (await read(ctx)).splitlines()
    assert lines[0] == "     1\t" + "é" * 2000 + " [cut here: 6,000 bytes]"
    assert lines[1] == "     2\tshort"


@pytest.mark.parametrize(
    ("data", "encoding", "text"),
    [
        (b"\xef\xbb\xbfa\n", "utf-8", "a"),
        ("ä\r\n".encode("utf-16"), "utf-16-le", "ä"),
        (b"\xfe\xff" + "ä\n".encode("utf-16-be"), "utf-16-be", "ä"),
        ("Größe\n".encode("cp1252"), "cp1252", "Größe"),
        (b"x\x81\xe4\n", "latin-1", "x\x81ä"),
    ],
)
async def test_encodings(
    ctx: ToolContext, folder: Path, data: bytes, encoding: str, text: str
) -> None:
    (folder / "f").write_bytes(data)
    out = await Read().run({"file_path": "f"}, ctx)
    assert out.text == f"     1\t{text}"
    assert out.metadata["slipway"]["encoding"] == encoding
    assert out.metadata["slipway"]["encoding_guessed"] is (encoding in ("cp1252", "latin-1"))


async def test_a_damaged_byte_does_not_turn_the_rest_into_gibberish(
    ctx: ToolContext, folder: Path
) -> None:
    (folder / "f").write_bytes("größe über\n".encode() + b"bad \xff byte\n")
    assert await read(ctx) == "     1\tgröße über\n     2\tbad \ufffd byte"


@pytest.mark.parametrize(
    ("name", "code"),
    [("missing", "file.missing"), ("dir", "file.is_dir"), ("bin", "file.binary"),
     ("fifo", "file.special"), ("doc.pdf", "read.pdf_broken"), ("a\0b", "path.bad"),
     ("~/x", "path.bad")],
)  # fmt: skip
async def test_refusals(ctx: ToolContext, folder: Path, name: str, code: str) -> None:
    (folder / "dir").mkdir()
    (folder / "bin").write_bytes(b"ELF\0\1\2")
    (folder / "doc.pdf").write_bytes(b"%PDF-1.7\n")
    os.mkfifo(folder / "fifo")
    with pytest.raises(ToolFailure) as caught:
        await read(ctx, name)
    assert caught.value.code == code
    assert caught.value.message


async def test_devices_are_never_opened(ctx: ToolContext) -> None:
    with pytest.raises(ToolFailure, match=r"file\.special"):
        await read(ctx, "/dev/zero")


def _png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height) + b"\x08\2\0\0\0"


async def test_pictures(ctx: ToolContext, folder: Path) -> None:
    (folder / "p.png").write_bytes(_png(640, 480))
    described = await Read().run({"file_path": "p.png"}, ctx)
    assert "image/png, 640 x 480 pixels" in described.text
    assert described.data == []
    seeing = make_context(folder, backend=ctx.backend, images=True)  # type: ignore[arg-type]
    out = await Read().run({"file_path": "p.png"}, seeing)
    source = out.data[0].source
    assert isinstance(source, Base64Source)
    assert base64.b64decode(source.data) == _png(640, 480)
    assert source.media_type == "image/png"


async def test_a_huge_file_of_one_line(ctx: ToolContext, folder: Path) -> None:
    with (folder / "f").open("wb") as file:
        file.write(b"start ")
        for _ in range(500):
            file.write(b"x" * (1 << 20))
    tracemalloc.start()
    began = time.monotonic()
    out = await Read().run({"file_path": "f"}, ctx)
    seconds = time.monotonic() - began
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert out.text.startswith("     1\tstart xxx")
    assert len(out.text) < 2_200
    assert peak < 32 << 20
    assert seconds < 5
    assert out.metadata["slipway"]["lines"]["total"] is None


async def test_deep_into_a_large_file(folder: Path) -> None:
    ctx = make_context(folder, max_read_bytes=1 << 16)
    (folder / "f").write_text("".join(f"line {i}\r\n" for i in range(1, 200_001)))
    out = await Read().run({"file_path": "f", "offset": 150_000, "limit": 1}, ctx)
    assert out.text.splitlines()[0] == "150000\tline 150000"
    assert out.metadata["slipway"]["lines"]["total"] == 200_000
    await ctx.backend.close()


@given(
    st.lists(st.sampled_from(["a", "\r", "\n", "\r\n", "bc", "\u2028", "\x0c", ""]), max_size=30),
    st.integers(0, 8),
    st.integers(1, 8),
    st.integers(1, 5),
)
def test_any_pieces_give_the_same_window(
    parts: list[str], first: int, count: int, step: int
) -> None:
    text = "".join(parts)
    data = text.encode()
    window = Window(UTF8, first, count)
    for i in range(0, len(data), step):
        window.feed(data[i : i + step])
    window.close()
    lines = lines_of(text)
    assert window.lines() == lines[first : first + count]
    assert window.total == len(lines)


@given(st.integers(0, 30_000), st.integers(1, 3))
def test_skipping_over_many_short_lines(first: int, count: int) -> None:
    data = b"".join(b"%d\r\n" % i if i % 3 else b"%d\n" % i for i in range(20_000))
    window = Window(UTF8, first, count)
    window.feed(data)
    window.close()
    assert window.lines() == [str(i) for i in range(first, min(first + count, 20_000))]
    assert window.total == 20_000


async def test_a_small_file_is_one_question_for_check_and_one_for_run(folder: Path) -> None:
    (folder / "f.txt").write_text("one\n")
    backend = RemoteLikeBackend(LocalBackend(folder))
    ctx = make_context(folder, backend=backend)
    try:
        tool = Read()
        assert (await tool.check({"file_path": "f.txt"}, ctx)).behavior == "allow"
        assert (await tool.run({"file_path": "f.txt"}, ctx)).text == "     1\tone"
        assert backend.calls == ["realpaths", "look"]
    finally:
        await backend.close()


@given(
    st.lists(st.sampled_from([b"a", b"\xe4", b"\n", b"\r", b"\r\n", b"\0", b"x" * 8_001])),
    st.integers(0, 6),
    st.integers(1, 4),
    st.sampled_from(["utf-8", "latin-1", "utf-16-le"]),
)
def test_a_whole_file_gives_what_its_pieces_give(
    pieces: list[bytes], first: int, count: int, name: str
) -> None:
    fed = Window(Encoding(name), first, count)
    for piece in pieces:
        fed.feed(piece)
    fed.close()
    window = Window.of(b"".join(pieces), Encoding(name), first, count)
    assert window.lines() == fed.lines()
    assert (window.total, window.complete, window.kept) == (fed.total, True, fed.kept)
