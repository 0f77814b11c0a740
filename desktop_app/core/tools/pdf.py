"""Text out of PDF files, page by page, in bounded time.

The reader (pypdf) is plain Python: it runs in a thread of its own and is told to stop when its time
is over, by an exception raised in that thread (CPython, ``PyThreadState_SetAsyncExc``). So neither
a hostile file nor a large one holds a turn, or the end of the program.
"""

from __future__ import annotations

import asyncio
import ctypes
import io
import logging
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from desktop_app.core.errors import ToolFailure

T = TypeVar("T")

MAX_BYTES = 64 << 20
MAX_PAGES = 20  # of one reading
WHOLE = 10  # pages that are read without being asked for one by one
SECONDS = 20.0
_SPAN = re.compile(r"([0-9]{1,6})?\s*(-|–)?\s*([0-9]{1,6})?")


@dataclass(frozen=True, slots=True)
class PdfText:
    """What was read: (number from 1, text) of each page; ``left`` are pages for which the time did
    not suffice."""

    pages: tuple[tuple[int, str], ...]
    total: int
    left: tuple[int, ...] = ()


class _TimeIsOver(SystemExit):
    """Raised in the reading thread; no ``except Exception`` of the reader swallows it, and a thread
    that it reaches at its very end goes quietly."""


def wanted_pages(spec: str | None, total: int, shown: str) -> list[int]:
    """The page numbers that ``spec`` (``3``, ``1-5``, ``2,4-6``, ``8-``) names, in order.

    Raises ToolFailure ``read.pdf_pages`` for what names no page or too many.
    """

    def refuse(why: str) -> ToolFailure:
        text = f"{shown!r} has {total} pages. {why}"
        return ToolFailure("read.pdf_pages", text, path=shown, total=total, pages=spec or "")

    if not (spec or "").strip():
        if total > WHOLE:
            failure = refuse(f"Say which to read with pages, such as 1-{WHOLE}.")
            raise failure
        return list(range(1, total + 1))
    found: dict[int, None] = {}
    for part in str(spec).split(","):
        span = _SPAN.fullmatch(part.strip())
        if span is None or not (span[1] or span[3]):
            failure = refuse(f"{part.strip()!r} names no pages; write 3, 1-5 or 2,4-6.")
            raise failure
        first = int(span[1] or 1)
        last = int(span[3] or (total if span[2] else first))
        if not 1 <= first <= last or first > total:
            failure = refuse(f"There are no pages {part.strip()}.")
            raise failure
        found.update(dict.fromkeys(range(first, min(last, total) + 1)))
    if len(found) > MAX_PAGES:
        failure = refuse(f"At most {MAX_PAGES} pages come back at a time, not {len(found)}.")
        raise failure
    return list(found)


async def read_pdf(
    data: bytes, spec: str | None, shown: str, *, seconds: float = SECONDS
) -> PdfText:
    """The text of the pages that ``spec`` names. ToolFailure ``read.pdf_pages``,
    ``read.pdf_encrypted``, ``read.pdf_broken``, or ``read.pdf_slow`` when not one page was ready in
    time."""
    done: list[tuple[int, str]] = []
    asked: list[int] = []
    total: list[int] = []

    def work() -> None:
        reader = _open(data, shown)
        total.append(_guarded(lambda: len(reader.pages), shown))
        asked.extend(wanted_pages(spec, total[0], shown))
        for number in asked:
            text = _guarded(lambda n=number: reader.pages[n - 1].extract_text(), shown)
            done.append((number, _clean(str(text))))

    in_time = await _bounded(work, seconds)
    if not in_time and not done:
        raise ToolFailure(
            "read.pdf_slow",
            f"{shown!r} took longer than {seconds:.0f} s to read. Ask for fewer pages, or turn it "
            "into text with another program.",
            path=shown,
            seconds=round(seconds),
        )
    read = {number for number, _ in done}
    left = tuple(n for n in asked if n not in read)
    return PdfText(tuple(done), total[0], left)


def page_text(found: PdfText) -> str:
    """The pages with their marks, and what is left to read."""
    parts: list[str] = []
    for number, text in found.pages:
        parts.append(f"--- page {number} of {found.total} ---")
        parts.append(text or "(no text on this page: perhaps a scanned picture)")
    if found.left:
        left = ",".join(map(str, found.left))
        parts.append(f"[the time was over; read on with pages={left}]")
    elif found.pages and found.pages[-1][0] < found.total and len(found.pages) >= MAX_PAGES:
        parts.append(f"[{found.total} pages in all; read on with pages={found.pages[-1][0] + 1}-]")
    return "\n".join(parts) or "(the document has no pages)"


def _open(data: bytes, shown: str) -> Any:
    # Loaded when first used: about half a second, most of it for encryption.
    import pypdf
    from pypdf.errors import DependencyError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # what is odd in a file is no news
    reader = _guarded(lambda: pypdf.PdfReader(io.BytesIO(data), strict=False), shown)
    try:
        locked = reader.is_encrypted and not reader.decrypt("")
    except (DependencyError, NotImplementedError):
        locked = True
    except Exception as error:
        failure = _broken(shown, error)
        raise failure from error
    if locked:
        raise ToolFailure(
            "read.pdf_encrypted",
            f"{shown!r} is protected by a password. Ask the person for an unprotected copy.",
            path=shown,
        )
    return reader


def _guarded(work: Callable[[], T], shown: str) -> T:
    """Whatever the reader stumbles over means that the file is broken."""
    try:
        return work()
    except Exception as error:
        failure = _broken(shown, error)
        raise failure from error


def _broken(shown: str, error: Exception) -> ToolFailure:
    detail = f"{type(error).__name__}: {error}"[:200]
    text = (
        f"{shown!r} is no PDF that can be read ({detail}). It may be cut short or damaged; "
        "another program may be able to repair it."
    )
    return ToolFailure("read.pdf_broken", text, path=shown, detail=detail)


def _clean(text: str) -> str:
    """Without NULs, half surrogate pairs and blanks at the ends of lines."""
    text = text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")


async def _bounded(work: Callable[[], None], seconds: float) -> bool:
    """Run ``work`` in a thread of its own; False when it was stopped for its time. What it raises
    is raised here; cancelling stops it, too."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()

    def tell(error: BaseException | None) -> None:
        if ended.done():
            return
        if error is None or isinstance(error, _TimeIsOver):
            ended.set_result(None)
        else:
            ended.set_exception(error)

    def run() -> None:
        failure: BaseException | None = None
        try:
            try:
                work()
            except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
                failure = error
            loop.call_soon_threadsafe(tell, failure)
        except (_TimeIsOver, RuntimeError):
            pass  # told to stop just when it ended, or the loop is closed

    thread = threading.Thread(target=run, name="pdf", daemon=True)
    thread.start()
    try:
        await asyncio.wait_for(asyncio.shield(ended), seconds)
    except TimeoutError:
        return False
    finally:
        if not ended.done():
            ended.cancel()
            threading.Thread(target=_stop, args=(thread,), name="pdf-stop", daemon=True).start()
    return True


def _stop(thread: threading.Thread) -> None:
    # More than once: an exception that comes up in a finaliser is lost.
    while thread.ident is not None and thread.is_alive():
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident), ctypes.py_object(_TimeIsOver)
        )
        thread.join(0.05)
