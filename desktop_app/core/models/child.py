"""The models process: the providers' SDKs, away from the window's interpreter.

Importing the SDKs holds an interpreter for seconds, building a request and parsing an answer for
up to hundreds of milliseconds; here nobody waits for it. The program starts this process at the
first need (``process.py``), hands it calls over standard input and ends it by closing that; keys
come the same way, never by command line or environment. What libraries print goes to standard
error, which the program reads.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Coroutine
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn, cast

from desktop_app.core.errors import ModelError
from desktop_app.core.log import MaskingFormatter, hide, mask
from desktop_app.core.messages import Msg
from desktop_app.core.tasks import Tasks

from . import frames
from .base import Finish
from .batches import Batches
from .definitions import ModelDefinition
from .frames import Frame
from .prompts import Held

if TYPE_CHECKING:
    from .services import Services

logger = logging.getLogger(__name__)

GRACE = 2.0  # seconds that calls have to end in


@dataclass
class Asked:
    """A call as far as it has arrived."""

    frame: Frame
    messages: list[Msg] = field(default_factory=list[Msg])
    task: asyncio.Task[Any] | None = None
    batches: Batches | None = None


class Child:
    """The process's one object. ``serve`` ends with the input."""

    def __init__(self, source: BinaryIO, sink: BinaryIO, idle: float) -> None:
        self._source = source
        self._sink = sink
        self._idle = idle
        self._calls: dict[int, Asked] = {}
        self._prompts = Held()
        self._tasks = Tasks(lambda name, error: logger.error("%s failed", name, exc_info=error))
        self._services: Services | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._ended = asyncio.Event()

    async def serve(self) -> None:
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=(loop,), name="input", daemon=True).start()
        self._rest()
        await self._ended.wait()
        await self._tasks.close(GRACE)
        if self._services is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._services.close(), GRACE)

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            while (frame := frames.read(self._source)) is not None:
                loop.call_soon_threadsafe(self._take_or_end, frame)
        except (OSError, ValueError) as error:
            logger.error("the input cannot be read: %s", error)
        loop.call_soon_threadsafe(self._ended.set)
        time.sleep(GRACE * 3)
        os._exit(1)  # something holds the loop

    def _send(self, frame: Frame) -> None:
        try:
            self._sink.write(frames.pack(frame))
            self._sink.flush()
        except OSError:  # the program is gone
            self._ended.set()

    # -- calls -------------------------------------------------------------------------------

    def _take_or_end(self, frame: Frame) -> None:
        """A frame that cannot be followed ends the process: its calls fail and are tried anew."""
        try:
            self._take(frame)
        except Exception:
            logger.exception("a frame could not be followed")
            self._ended.set()

    def _take(self, frame: Frame) -> None:
        number = int(frame.get("call", 0))
        asked = self._calls.get(number)
        match frame.get("do"):
            case "stream":
                known = self._prompts.beginning(frame["slot"], frame["keep"])
                self._calls[number] = Asked(frame, known)
            case "messages" if asked is not None:
                asked.messages += [Msg.model_validate(m) for m in frame["messages"]]
                if frame["last"]:
                    self._prompts.note(asked.frame["slot"], asked.messages)
                    self._begin(number, asked, self._stream(number, asked))
            case "list":
                asked = self._calls[number] = Asked(frame)
                self._begin(number, asked, self._list(frame))
            case "efforts":
                asked = self._calls[number] = Asked(frame)
                self._begin(number, asked, self._efforts(frame))
            case "warm":
                asked = self._calls[number] = Asked(frame)
                self._begin(number, asked, self._warm(frame))
            case "took" if asked is not None and asked.batches is not None:
                asked.batches.took(int(frame["size"]))
            case "cancel" if asked is not None:
                if asked.task is None:
                    self._forget(number)
                else:
                    asked.task.cancel()
            case _:
                pass

    def _begin(self, number: int, asked: Asked, work: Coroutine[Any, Any, Any]) -> None:
        hide(str(asked.frame.get("key", "")))
        asked.task = self._tasks.start(self._answer(number, work), name=f"call {number}")
        asked.task.add_done_callback(lambda _: self._forget(number))

    def _forget(self, number: int) -> None:
        self._calls.pop(number, None)
        self._rest()

    def _rest(self) -> None:
        """Nothing to do for a while: the program is asked whether this process is needed."""
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._idle, self._rested)

    def _rested(self) -> None:
        if not self._calls:
            self._send({"did": "idle"})

    async def _answer(self, number: int, work: Coroutine[Any, Any, Any]) -> None:
        """The last frame of a call: what it gives, or why it gives nothing."""
        end: Frame = {"did": "end", "call": number}
        try:
            end["value"] = await work
        except ModelError as error:
            end["error"] = frames.error_out(error)
        except Exception as error:
            logger.exception("a call failed in an unforeseen way")
            detail = f"{type(error).__name__}: {mask(str(error))[:200]}"
            end["error"] = frames.error_out(ModelError("model.failed", model="", detail=detail))
        self._send(end)

    def services(self) -> Services:
        if self._services is None:
            from .services import Services

            self._services = Services()
        return self._services

    async def _stream(self, number: int, asked: Asked) -> None:
        frame, one = asked.frame, frames.definition_in(asked.frame["definition"])
        batches = asked.batches = Batches(self._send, number)
        begun = False
        try:
            request = frames.request_in(frame["request"], asked.messages)
            asked.messages = []
            parts = self.services().stream(one, frame["key"], request, frame["route"])
            async with aclosing(cast(Any, parts)) as stream:
                async for part in stream:
                    begun = begun or not isinstance(part, Finish)
                    await batches.put(part)
        except Exception as error:
            raise await mapped(error, one, frame["route"], begun=begun) from error
        finally:
            batches.flush()

    async def _list(self, frame: Frame) -> list[Any]:
        one = frames.definition_in(frame["definition"])
        try:
            return await self.services().list_models(one, frame["key"], frame["route"])
        except Exception as error:
            raise await mapped(error, one, frame["route"], begun=False) from error

    async def _efforts(self, frame: Frame) -> bool:
        one = frames.definition_in(frame["definition"])
        return await self.services().efforts(one, frame["route"])

    async def _warm(self, frame: Frame) -> None:
        """Import what a format's calls need, so that the first of them begins at once."""
        from .services import load

        await asyncio.to_thread(load, frame["wire"])


async def mapped(
    error: Exception, one: ModelDefinition, route: Frame, *, begun: bool
) -> ModelError:
    """``error`` as ours, and in the log. A certificate that is not trusted is looked at."""
    from .wire_errors import to_model_error

    proxy = route.get("proxy") or ""
    found = to_model_error(error, one.name, one.base, proxy, begun=begun)
    if found.code == "model.certificate":
        found = await _look_at_certificate(found, one.base, proxy, route)
    logger.info("a call of %s failed: %s", one.id, found, exc_info=error)
    return found


async def _look_at_certificate(
    found: ModelError, address: str, proxy: str, route: Frame
) -> ModelError:
    """Say whose certificate it is, the proxy's or the provider's, which, and whether the person
    trusts another one there: ``model.certificate_changed``."""
    from dataclasses import asdict

    from .certificate import proxy_is_trusted, seen_at
    from .network import shown
    from .trusting import way_in

    of, by, pin, params = address, proxy, "pin", dict(found.params)
    if proxy.startswith("https:") and not await proxy_is_trusted(proxy, way_in(route, "proxy_pin")):
        of, by, pin, params["host"] = proxy, "", "proxy_pin", shown(proxy)
    if (seen := await seen_at(of, by)) is not None:
        params |= {"certificate": seen.line(), "seen": asdict(seen)}
        if route.get(pin) and route[pin] != seen.mark:
            return ModelError("model.certificate_changed", **params)
    return ModelError("model.certificate", **params)


# -- the process ----------------------------------------------------------------------------------


def main(idle: float) -> NoReturn:
    """Serve until standard input ends, and end the process. ``idle`` in seconds without a call."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the program, which then ends us
    source = os.fdopen(os.dup(0), "rb")
    sink = os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)  # nothing that a library prints gets between the frames
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(MaskingFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    for noisy in ("httpx", "httpx2", "httpcore2", "google_genai"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    asyncio.run(_serve(source, sink, idle))
    raise AssertionError("not reached")


async def _serve(source: BinaryIO, sink: BinaryIO, idle: float) -> None:
    """Ends the process at once, without the interpreter's orderly end: a thread may be in an
    import, a look-up of a name or a read for longer than the program waits."""
    code = 1
    try:
        await Child(source, sink, idle).serve()
        code = 0
    except Exception:
        logger.exception("the models process fails")
    finally:
        logging.shutdown()
        os._exit(code)
