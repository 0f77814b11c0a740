"""Our own search through any backend, where ripgrep is not."""

from __future__ import annotations

import asyncio
import codecs
from collections.abc import AsyncIterator

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.workspaces.backend import FileInfo

from . import ignore, paths, textfile
from .base import ToolContext
from .grep_across import across
from .grep_scan import Matcher, Scanner
from .grep_wanted import BINARY, Hit, Wanted, enter
from .plain import closing
from .walk import Budget, Walk

SMALL = 16 << 10  # bytes that are searched on the spot; more goes to a thread
MAX_MULTILINE = 8 << 20


async def search(
    ctx: ToolContext, start: paths.Resolved, is_file: bool, wanted: Wanted, budget: Budget
) -> AsyncIterator[Hit]:
    """The hits below ``start``, by path and line."""
    matcher = await asyncio.to_thread(Matcher, wanted, budget)
    if is_file:
        async with closing(_file(ctx, start.real, "", wanted, matcher, budget)) as hits:
            async for hit in hits:
                yield hit
        return
    async with closing(_files(ctx, start, wanted, budget)) as files:
        async for path, info in files:
            async with closing(_file(ctx, info.path, path, wanted, matcher, budget)) as hits:
                async for hit in hits:
                    yield hit


async def own_root(ctx: ToolContext, start: paths.Resolved) -> str:
    """The workspace's own root relative to ``start`` when it lies strictly below, else ""."""
    root = await ctx.backend.realpath(ctx.root)
    below = root != start.real and paths.within(start.real, root)
    return root[len(start.real.rstrip("/")) + 1 :] if below else ""


async def honours(ctx: ToolContext, start: paths.Resolved) -> bool:
    """Whether ignore files are obeyed: not below the workspace's own root, which ignores itself
    but is where offloads are to be found again."""
    root = await ctx.backend.realpath(ctx.root)
    cwd = await ctx.backend.realpath(ctx.backend.cwd)
    return root == cwd or not paths.within(root, start.real)


async def _files(
    ctx: ToolContext, start: paths.Resolved, wanted: Wanted, budget: Budget
) -> AsyncIterator[tuple[str, FileInfo]]:
    own = await own_root(ctx, start)
    honour = await honours(ctx, start)
    above: tuple[ignore.IgnoreFile, ...] = ()
    inside = start.zone == "cwd" and start.shown != "."
    if honour and inside:
        above = await _above(ctx)
    walk = Walk(
        ctx.backend,
        start.real,
        budget,
        lambda path, name: enter(name) and path != own,
        honour=honour,
        above=above,
        keep=lambda path: bool(wanted.by_glob(path)),
        prefix=f"{start.shown}/" if inside else "",
    )
    async with closing(walk.entries()) as entries:
        async for path, info, ignored in entries:
            if info.kind != "file" or info.name in ignore.ALWAYS:
                continue
            chosen = wanted.by_glob(path)
            out = chosen is False or (ignored and chosen is None)
            if out or not wanted.by_type(path):
                continue
            if wanted.secret(path):
                wanted.skipped_secret += 1
                continue
            yield path, info


async def _above(ctx: ToolContext) -> tuple[ignore.IgnoreFile, ...]:
    try:
        data = await ctx.backend.read_bytes(
            f"{ctx.backend.cwd.rstrip('/')}/.gitignore", max_bytes=ignore.MAX_IGNORE_BYTES
        )
    except WorkspaceError:
        return ()
    return (ignore.parse(data, ""),)


class _Text:
    """Pieces of a file as text. One that was found on the way (not ``named`` by the caller) ends
    at its first NUL, and has no text at all when that is near its beginning."""

    def __init__(self, *, named: bool) -> None:
        self._named = named
        self._decoder: codecs.IncrementalDecoder | None = None
        self.binary = self.ended = False

    def feed(self, data: bytes) -> str:
        if self._decoder is None:
            encoding = textfile.sniff(data, whole=False)
            # Two or four bytes a character, as a mark says: zeros are part of the text.
            self._named = self._named or (bool(encoding.bom) and encoding.name != "utf-8")
            self.binary = not self._named and b"\0" in data[:BINARY]
            self._decoder = codecs.getincrementaldecoder(encoding.name)("replace")
            data = data[len(encoding.bom) :]
        nul = -1 if self._named else data.find(b"\0")
        self.ended = nul >= 0
        return self._decoder.decode(data[:nul] if self.ended else data)

    def rest(self) -> str:
        return self._decoder.decode(b"", True) if self._decoder is not None else ""


async def _file(
    ctx: ToolContext, real: str, path: str, wanted: Wanted, matcher: Matcher, budget: Budget
) -> AsyncIterator[Hit]:
    """The hits of one file; one that cannot be read or is binary has none."""
    scanner = Scanner(path, wanted, matcher, budget)
    text = _Text(named=not path)
    whole: list[str] = []
    size = 0
    try:
        async with closing(ctx.backend.read(real)) as pieces:
            async for piece in pieces:
                part = text.feed(piece)
                if text.binary:
                    return
                if wanted.multiline:
                    size += len(piece)
                    if size > MAX_MULTILINE:
                        break
                    whole.append(part)
                else:
                    for hit in await _feed(scanner, part):
                        yield hit
                    if budget.spent():
                        return
                if text.ended:
                    break
    except WorkspaceError as error:
        if error.retryable or not path:
            raise
        return
    rest = text.rest()
    if wanted.multiline:
        found = await asyncio.to_thread(
            across, path, "".join([*whole, rest]), wanted, matcher, budget
        )
    else:
        found = await asyncio.to_thread(scanner.feed, rest, last=True)
    for hit in found:
        yield hit


async def _feed(scanner: Scanner, text: str) -> list[Hit]:
    if len(text) <= SMALL:
        return scanner.feed(text)
    return await asyncio.to_thread(scanner.feed, text)
