"""One connection to a far end: requests out, their answers back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from typing import Any

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.tasks import Tasks

from .channel import Channel, Decoder, encode

log = logging.getLogger(__name__)

PIECE = 1 << 18
AHEAD = 8  # pieces of input that are under way before the far end used one
PING_SECONDS = 15.0  # the far end gives up after QUIET without a word
UNANSWERED = 3  # pings in a row: then nobody is there, the machine was frozen, the way is cut
SETTLE_SECONDS = 5.0


class Call:
    """A request that waits for its answers ``(what, value, body)``: ``end`` or ``error`` last."""

    def __init__(self) -> None:
        self.answers: asyncio.Queue[tuple[str, Any, bytes]] = asyncio.Queue()
        self.room = asyncio.Semaphore(AHEAD)
        self.over = False
        self.taken = 0  # bytes of parts that were taken and not yet acknowledged
        self.telling = False
        self.quiet = False  # goes on for as long as the machine runs: no use of it

    def heard(self, what: str, value: Any, body: bytes = b"") -> None:
        if what == "took":
            self.room.release()
            return
        self.over = what != "part"
        self.answers.put_nowait((what, value, body))
        if self.over:
            self.room.release()  # whoever waits to send more need not


class Line:
    """A connection from its first frame to its end. ``follow`` and ``ping`` run as tasks."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self._calls: dict[int, Call] = {}
        self._number = 0
        self._sending = asyncio.Lock()
        self.hello: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.broken: WorkspaceError | None = None
        self._unanswered = 0
        self.ended = asyncio.Event()
        self._tasks = Tasks(lambda name, error: log.info("%s: %r", name, error))

    @property
    def busy(self) -> bool:
        """Whether a request waits for its end, other than quiet ones."""
        return not all(call.quiet for call in self._calls.values())

    async def follow(self) -> None:
        """Hand on what comes until the connection ends."""
        decoder = Decoder(self.channel.text)
        why = unreachable()
        try:
            while data := await self.channel.receive():
                self._unanswered = 0
                for head, body in decoder.feed(data):
                    self._heard(head, body)
        except WorkspaceError as error:
            why = error
        except ValueError as error:  # something else speaks there
            why = unreachable(str(error))
        finally:
            self._end(why)
            await self.drop()

    async def ping(self) -> None:
        """Ask now and then whether the far end is there; one that says nothing is given up, so that
        nobody waits for ever. Counted, not timed: a computer that slept is not silent."""
        while self.broken is None:
            asked = asyncio.get_running_loop().time()
            with suppress(TimeoutError):  # a full pipe takes nothing either
                async with asyncio.timeout(PING_SECONDS):
                    await self._try({"op": "ping", "id": 0})
            with suppress(TimeoutError):
                async with asyncio.timeout_at(asked + PING_SECONDS):
                    await self.ended.wait()
            self._unanswered += self.hello.done()
            if self.broken is None and self._unanswered >= UNANSWERED:
                self._end(unreachable("no answer of the helper"))
                await self.drop()

    async def bye(self) -> None:
        """Ask the far end to end everything it started, and wait for it."""
        with suppress(TimeoutError):
            async with asyncio.timeout(SETTLE_SECONDS):
                await self._try({"op": "bye", "id": 0})
                await self.ended.wait()
        await self.drop()

    async def drop(self) -> None:
        with suppress(WorkspaceError):
            await self.channel.close()

    def _end(self, why: WorkspaceError) -> None:
        self.broken = why
        if not self.hello.done():
            self.hello.set_exception(why)
            self.hello.exception()  # heard here, should nobody wait for it
        for call in self._calls.values():
            call.heard("error", ["backend.unreachable", {"path": ""}, True])
        self.ended.set()

    def _heard(self, head: dict[str, Any], body: bytes) -> None:
        if "hello" in head:
            if not self.hello.done():
                self.hello.set_result(head)
            return
        call = self._calls.get(head.get("id", 0))
        if call is None:  # a ping's answer, or one of a request that nobody waits for any more
            return
        for what in ("part", "took", "end", "error"):
            if what in head:
                call.heard(what, head[what], body)

    async def send(self, head: dict[str, Any], body: bytes = b"") -> None:
        if self.broken is not None:
            raise self.broken
        async with self._sending:
            await self.channel.send(encode(head, body, self.channel.text))

    async def _try(self, head: dict[str, Any]) -> None:
        with suppress(WorkspaceError):
            await self.send(head)

    async def stream(
        self, op: str, source: AsyncIterator[bytes] | None, body: bytes = b"", **head: Any
    ) -> AsyncGenerator[tuple[str, Any, bytes]]:
        """One request: its parts as they come, at last ``end``. ``source`` is fed to the far end
        meanwhile; what it raises is raised here. A piece is acknowledged when the consumer comes
        back for more. Left early, the request is cancelled, and over when this returns."""
        self._number += 1
        number, call = self._number, Call()
        call.quiet = bool(head.pop("quiet", False))
        self._calls[number] = call
        feeding: asyncio.Task[None] | None = None
        ended = False
        try:
            await self.send({"id": number, "op": op, **head}, body)
            if source is not None:
                feeding = self._tasks.start(self._feed(number, call, source), name="feed")
            while not ended:
                what, value, data = await call.answers.get()
                if what == "failed":
                    raise value
                ended = what != "part"
                if what == "error":
                    code, params, retryable = value
                    raise WorkspaceError(str(code), retryable=bool(retryable), **params)
                yield what, value, data
                if data:
                    self._taken(number, call, len(data))
        finally:
            if feeding is not None:
                feeding.cancel()
                await asyncio.wait([feeding])
            if not ended:
                await self._try({"id": number, "op": "cancel"})
                await self._settle(call)
            self._calls.pop(number, None)

    def _taken(self, number: int, call: Call, size: int) -> None:
        """Acknowledge parts beside the consumer: a channel may need a round trip for each frame."""
        call.taken += size
        if not call.telling:
            call.telling = True
            self._tasks.start(self._acknowledge(number, call), name="acknowledge")

    async def _acknowledge(self, number: int, call: Call) -> None:
        try:
            while call.taken and not call.over:
                size, call.taken = call.taken, 0
                await self._try({"id": number, "op": "ack", "bytes": size})
        finally:
            call.telling = False

    async def _feed(self, number: int, call: Call, source: AsyncIterator[bytes]) -> None:
        try:
            async for piece in source:
                for at in range(0, len(piece), PIECE):
                    await call.room.acquire()
                    if call.over:
                        return
                    await self.send({"id": number, "op": "data"}, piece[at : at + PIECE])
            await self.send({"id": number, "op": "data"})
        except Exception as error:  # noqa: BLE001 - raised where the answer is waited for
            call.answers.put_nowait(("failed", error, b""))

    async def _settle(self, call: Call) -> None:
        """Wait until the far end is through with a cancelled request: its processes are ended, its
        temporary file is gone."""
        try:
            async with asyncio.timeout(SETTLE_SECONDS):
                while not call.over:
                    await call.answers.get()
        except TimeoutError:
            log.warning("the far end did not end a cancelled request in time")

    async def ask(
        self, op: str, source: AsyncIterator[bytes] | None, body: bytes = b"", **head: Any
    ) -> Any:
        """A request with one answer."""
        result: Any = None
        stream = self.stream(op, source, body, **head)
        try:
            async for what, value, _ in stream:
                if what == "end":
                    result = value
        finally:
            await stream.aclose()
        return result


def unreachable(detail: str = "") -> WorkspaceError:
    return WorkspaceError("backend.unreachable", retryable=True, path="", detail=detail)
