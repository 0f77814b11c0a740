"""Reading PDFs: pages and their marks, what is refused, what takes too long."""

from __future__ import annotations

import asyncio
import io
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desktop_app.core.errors import ToolFailure
from desktop_app.core.tools.base import ToolContext
from desktop_app.core.tools.pdf import MAX_PAGES, PdfText, page_text, read_pdf, wanted_pages
from desktop_app.core.tools.read import Read


def make_pdf(contents: list[bytes]) -> bytes:
    """A document with one page for each content stream (PDF 1.4, Helvetica)."""
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(len(contents)))
    objects: list[bytes] = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(contents)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for i, content in enumerate(contents):
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R"
            b" >> >> /Contents %d 0 R >>" % (5 + 2 * i)
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
    out = bytearray(b"%PDF-1.4\n")
    places: list[int] = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        start,
    )
    return bytes(out)


def words(text: str) -> bytes:
    return f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()


def pages(count: int) -> bytes:
    return make_pdf([words(f"This is page {i}") for i in range(1, count + 1)])


async def test_text_with_page_marks(ctx: ToolContext, folder: Path) -> None:
    (folder / "a.pdf").write_bytes(pages(2))
    out = await Read().run({"file_path": "a.pdf"}, ctx)
    assert out.text.splitlines() == [
        "--- page 1 of 2 ---",
        "This is page 1",
        "--- page 2 of 2 ---",
        "This is page 2",
    ]
    assert out.metadata["slipway"]["pdf"] == {"pages": [1, 2], "total": 2}
    # what was read as text is no version of the file that Edit could change
    assert ctx.files.seen == {}


async def test_pages_are_asked_for(ctx: ToolContext, folder: Path) -> None:
    (folder / "a.pdf").write_bytes(pages(30))
    with pytest.raises(ToolFailure, match=r"read\.pdf_pages") as caught:
        await Read().run({"file_path": "a.pdf"}, ctx)
    assert "30 pages" in caught.value.message
    out = await Read().run({"file_path": "a.pdf", "pages": "3, 28-"}, ctx)
    assert [line for line in out.text.splitlines() if line.startswith("This")] == [
        "This is page 3",
        "This is page 28",
        "This is page 29",
        "This is page 30",
    ]
    out = await Read().run({"file_path": "a.pdf", "pages": "1-20"}, ctx)
    assert out.text.endswith("[30 pages in all; read on with pages=21-]")


@pytest.mark.parametrize(
    ("spec", "found"),
    [("3", [3]), ("1-3", [1, 2, 3]), ("2,2,1", [2, 1]), ("-2", [1, 2]), ("29-", [29, 30]),
     ("29-99", [29, 30]), (" 4 – 5 ", [4, 5])],
)  # fmt: skip
def test_page_numbers(spec: str, found: list[int]) -> None:
    assert wanted_pages(spec, 30, "a.pdf") == found


@pytest.mark.parametrize("spec", ["0", "31", "5-3", "a", "1-2-3", ",", "-", "1-21", "1.5", "٣x"])
def test_page_numbers_that_are_refused(spec: str) -> None:
    with pytest.raises(ToolFailure, match=r"read\.pdf_pages"):
        wanted_pages(spec, 30, "a.pdf")


@given(st.text(max_size=12), st.integers(0, 60))
def test_whatever_is_asked_for_is_bounded(spec: str, total: int) -> None:
    try:
        found = wanted_pages(spec, total, "a.pdf")
    except ToolFailure as failure:
        code = failure.code
    else:
        code = "read.pdf_pages"
        assert len(found) == len(set(found)) <= MAX_PAGES
        assert all(1 <= n <= total for n in found)
    assert code == "read.pdf_pages"


async def test_a_page_without_text_says_so(ctx: ToolContext, folder: Path) -> None:
    (folder / "a.pdf").write_bytes(make_pdf([b"0 0 10 10 re f", words("two")]))
    text = (await Read().run({"file_path": "a.pdf"}, ctx)).text
    assert "no text on this page" in text
    assert text.endswith("two")


async def test_a_password_is_told(ctx: ToolContext, folder: Path) -> None:
    import pypdf

    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pages(1)))
    writer.encrypt("secret", algorithm="RC4-128")
    writer.write(folder / "locked.pdf")
    with pytest.raises(ToolFailure, match=r"read\.pdf_encrypted"):
        await Read().run({"file_path": "locked.pdf"}, ctx)
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pages(1)))
    writer.encrypt("", owner_password="owner", algorithm="RC4-128")
    writer.write(folder / "open.pdf")
    assert "This is page 1" in (await Read().run({"file_path": "open.pdf"}, ctx)).text


@pytest.mark.parametrize("cut", [9, 40, 200])
async def test_damaged_files(ctx: ToolContext, folder: Path, cut: int) -> None:
    (folder / "a.pdf").write_bytes(pages(1)[:cut])
    with pytest.raises(ToolFailure, match=r"read\.pdf_broken") as caught:
        await Read().run({"file_path": "a.pdf"}, ctx)
    assert "a.pdf" in caught.value.message


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_random_damage_is_always_told(data: st.DataObject) -> None:
    raw = bytearray(pages(2))
    for _ in range(data.draw(st.integers(1, 12))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    try:
        found = asyncio.run(read_pdf(bytes(raw), None, "a.pdf", seconds=5))
    except ToolFailure as failure:
        told = failure.code
    else:
        assert isinstance(found, PdfText)
        told = "read.pdf_" + page_text(found).encode().decode()
    assert told.startswith("read.pdf_")


def _reading() -> bool:
    return any(thread.name == "pdf" for thread in threading.enumerate())


async def _until_quiet() -> None:
    limit = time.monotonic() + 10
    while _reading():
        assert time.monotonic() < limit, "the reading thread goes on"
        await asyncio.sleep(0.02)


async def test_what_takes_too_long_is_stopped() -> None:
    endless = make_pdf([b"BT /F1 12 Tf " + b"(x) Tj 1 0 Td " * 400_000 + b"ET"])
    began = time.monotonic()
    with pytest.raises(ToolFailure, match=r"read\.pdf_slow"):
        await read_pdf(endless, None, "a.pdf", seconds=0.3)
    assert time.monotonic() - began < 3
    await _until_quiet()


async def test_pages_that_were_ready_in_time_are_given() -> None:
    slow = b"BT /F1 12 Tf " + b"(x) Tj 1 0 Td " * 400_000 + b"ET"
    found = await read_pdf(make_pdf([words("one"), slow, words("three")]), None, "a.pdf", seconds=2)
    assert [n for n, _ in found.pages] == [1]
    assert found.left == (2, 3)
    assert page_text(found).endswith("[the time was over; read on with pages=2,3]")
    await _until_quiet()


async def test_cancelling_stops_the_reading() -> None:
    slow = make_pdf([b"BT /F1 12 Tf " + b"(x) Tj 1 0 Td " * 400_000 + b"ET"])
    task = asyncio.ensure_future(read_pdf(slow, None, "a.pdf"))
    while not _reading():
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await _until_quiet()
