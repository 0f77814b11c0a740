"""The program's side of the models process (``child.py``): starts it, hands it calls, ends it.

The process is started by the first call and ends when nothing was asked for ``IDLE`` seconds, when
the program closes it, and when the program itself ends however that happens: its input is a pipe
of ours. A process that dies fails the calls it had with ``model.process``, which may be tried
again; the next call starts a new one.
"""

from __future__ import annotations

import asyncio
import collections
import logging
import queue
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import IO, Any, cast

from desktop_app.core.errors import ModelError
from desktop_app.core.log import mask
from desktop_app.core.messages import Msg

from . import frames
from .base import ModelEvent
from .frames import Frame
from .prompts import Sent

logger = logging.getLogger(__name__)

IDLE = 1800.0  # seconds without a call until the process ends and its memory is free again
OPTION = "--models-process"  # of the program's command line
SLICE = 0.003  # seconds of encoding before the loop has its turn
PIECE = 256_000  # bytes of messages in one frame
LINES, WIDTH = 20, 500  # of standard error: kept for a report, and characters of each
LOGGED = 1_000  # lines of standard error that one process gets into the log

# The folder of our package is put first so that the process runs the very code that we are; ``-P``
# keeps the folder that we were started in off its path.
_BOOT = (
    "import sys; root = sys.argv.pop(1); root in sys.path or sys.path.insert(0, root); "
    "from desktop_app.cli import main; raise SystemExit(main())"
)


def command(idle: float) -> list[str]:
    """How the process is started: our interpreter again, or the frozen program itself."""
    if getattr(sys, "frozen", False):
        return [sys.executable, OPTION, str(idle)]
    root = str(Path(__file__).resolve().parents[3])
    return [sys.executable, "-P", "-c", _BOOT, root, OPTION, str(idle)]


class Call:
    """One call as its asker sees it: ``frames`` in order, the last one being the end."""

    def __init__(self, number: int, owner: Running) -> None:
        self.number = number
        self.owner = owner
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[Frame | None] = asyncio.Queue()

    def deliver(self, frame: Frame | None) -> None:
        """From the reading thread; None when the process is gone."""
        try:
            self._loop.call_soon_threadsafe(self._queue.put_nowait, frame)
        except RuntimeError:  # the asker's loop is closed: nobody waits any more
            pass

    async def next(self) -> Frame:
        """The next frame. ModelError ``model.process`` when the process died."""
        frame = await self._queue.get()
        if frame is None:
            raise ModelError("model.process", retryable=True, detail=self.owner.last_words())
        return frame


class Running:
    """One started process with its three threads: to it, from it, and what it complains of."""

    def __init__(self, argv: Sequence[str], ended: Callable[[Running], None]) -> None:
        hidden = subprocess.CREATE_NO_WINDOW if sys.platform == "win32" else 0
        self.process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            creationflags=hidden,
        )
        self._ended = ended
        self._lock = threading.Lock()
        self._calls: dict[int, Call] = {}
        self._numbers = 0
        self.sent = Sent()
        self.closing = False  # takes no more calls
        self._complaints: collections.deque[str] = collections.deque(maxlen=LINES)
        self._out: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        # The listening one first: the reading one waits for it at the end.
        self.threads = [
            threading.Thread(target=work, name=f"models {name}", daemon=True)
            for name, work in (("log", self._listen), ("out", self._write), ("in", self._read))
        ]
        for thread in self.threads:
            thread.start()

    def open_call(self) -> Call | None:
        """A new call; None when this process takes none any more."""
        with self._lock:
            if self.closing:
                return None
            self._numbers += 1
            call = self._calls[self._numbers] = Call(self._numbers, self)
            return call

    def forget(self, call: Call) -> None:
        """Nothing more is wanted of a call; one that still runs is cancelled."""
        with self._lock:
            known = self._calls.pop(call.number, None)
        if known is not None:
            self.send({"do": "cancel", "call": call.number})

    def send(self, frame: Frame | bytes) -> None:
        """Hand a frame to the writing thread: a full pipe holds nobody else."""
        self._out.put(frame if isinstance(frame, bytes) else frames.pack(frame))

    def close(self) -> None:
        """No more calls; the process ends with its input."""
        with self._lock:
            self.closing = True
        self._out.put(None)

    def last_words(self) -> str:
        """The last line that it complained with."""
        return self._complaints[-1] if self._complaints else ""

    # -- threads -----------------------------------------------------------------------------

    def _write(self) -> None:
        pipe = cast("IO[bytes]", self.process.stdin)
        try:
            while (data := self._out.get()) is not None:
                pipe.write(data)
                if self._out.empty():
                    pipe.flush()
        except OSError:
            pass  # it is gone; the reading thread says so
        finally:
            try:
                pipe.close()
            except OSError:
                pass

    def _read(self) -> None:
        pipe = cast("IO[bytes]", self.process.stdout)
        try:
            while (frame := frames.read(cast(Any, pipe))) is not None:
                self._take(frame)
        except (OSError, ValueError) as error:
            logger.error("the models process cannot be understood: %s", error)
            self.process.kill()
        code = self.process.wait()
        self.threads[0].join(1.0)  # its last words
        with self._lock:
            wanted, self.closing = self.closing, True
            left, self._calls = list(self._calls.values()), {}
        self._out.put(None)
        pipe.close()
        level = logging.INFO if wanted else logging.WARNING
        logger.log(level, "the models process ended with %s, %d calls open", code, len(left))
        for call in left:
            call.deliver(None)
        self._ended(self)

    def _take(self, frame: Frame) -> None:
        if frame.get("did") == "idle":
            with self._lock:
                self.closing = done = not self._calls
            if done:
                self._out.put(None)
            return
        number = frame.get("call")
        with self._lock:
            call = self._calls.get(cast(int, number))
            if call is not None and frame.get("did") == "end":
                del self._calls[call.number]
        if call is not None:
            call.deliver(frame)

    def _listen(self) -> None:
        pipe = cast("IO[bytes]", self.process.stderr)
        logged = 0
        with pipe:
            while line := pipe.readline(WIDTH):
                text = mask(line.decode("utf-8", "replace").rstrip())
                if text:
                    self._complaints.append(text)
                if text and logged < LOGGED:
                    logged += 1
                    logger.info("%s", text)


class ModelsProcess:
    """The process, whether it runs now or not. Usable from any loop; ``argv`` says how it is
    started."""

    def __init__(self, idle: float = IDLE, argv: Sequence[str] | None = None) -> None:
        self._argv = list(argv or command(idle))
        self._lock = threading.Lock()
        self._running: Running | None = None

    @property
    def pid(self) -> int | None:
        """Of the process, while there is one."""
        running = self._running
        return None if running is None else running.process.pid

    def _start(self) -> Running:
        """The running process, started when there is none. Blocks."""
        with self._lock:
            if self._running is None or self._running.closing:
                try:
                    self._running = Running(self._argv, self._gone)
                except OSError as error:
                    detail = error.strerror or str(error)
                    raise ModelError("model.process", detail=detail) from error
            return self._running

    def _gone(self, running: Running) -> None:
        with self._lock:
            if self._running is running:
                self._running = None

    async def _open(self) -> Call:
        said = ""
        for _ in range(3):
            running = self._running or await asyncio.to_thread(self._start)
            if (call := running.open_call()) is not None:
                return call
            said = running.last_words()
            self._gone(running)
        raise ModelError("model.process", retryable=True, detail=said)

    async def ask(self, frame: Frame) -> Any:
        """One question, one answer. Raises ModelError."""
        call = await self._open()
        try:
            call.owner.send({**frame, "call": call.number})
            return _ended(await call.next())
        finally:
            call.owner.forget(call)

    async def stream(self, frame: Frame, messages: Sequence[Msg]) -> AsyncIterator[ModelEvent]:
        """The parts of an answer. Raises ModelError; closing the iterator cancels the call."""
        call = await self._open()
        send, number = call.owner.send, call.number
        try:
            await _send_prompt(call, frame, messages)
            while (answer := await call.next()).get("did") == "parts":
                for part in answer["parts"]:
                    yield frames.part_in(part)
                send({"do": "took", "call": number, "size": answer["size"]})
            _ended(answer)
        finally:
            call.owner.forget(call)

    async def close(self, seconds: float = 1.0) -> None:
        """End the process and what it does; idempotent. One that does not end by itself in so many
        seconds is killed: there is nothing in it to lose. A later call starts a new one."""
        with self._lock:
            running, self._running = self._running, None
        if running is not None:
            await asyncio.to_thread(_end, running, seconds)


def _end(running: Running, seconds: float) -> None:
    running.close()
    try:
        running.process.wait(seconds)
    except subprocess.TimeoutExpired:
        running.process.kill()
    for thread in running.threads:
        thread.join(seconds)


def _ended(frame: Frame) -> Any:
    if (error := frame.get("error")) is not None:
        raise frames.error_in(error)
    return frame.get("value")


async def _send_prompt(call: Call, frame: Frame, messages: Sequence[Msg]) -> None:
    """What the process does not have yet, encoded in pieces: a long prompt takes milliseconds, and
    the loop has its turn between."""
    send, sent, number = call.owner.send, call.owner.sent, call.number
    with sent.lock:
        slot, keep = sent.place(messages)
        send({**frame, "do": "stream", "call": number, "slot": slot, "keep": keep})
    piece: list[bytes] = []
    size, began = 0, time.perf_counter()
    for msg in messages[keep:]:
        piece.append(encoded := frames.message_bytes(msg))
        size += len(encoded)
        late = time.perf_counter() - began > SLICE
        if late or size > PIECE:
            send(frames.messages_frame(number, piece, last=False))
            piece, size = [], 0
        if late:
            await asyncio.sleep(0)
            began = time.perf_counter()
    with sent.lock:  # the last frame makes the prompt whole
        send(frames.messages_frame(number, piece, last=True))
        sent.note(slot, messages)
