"""What a server asks, taken from the SDK and answered in its shapes. Runs on the runner's loop.

Whatever a server asks belongs to one of its calls under way: a person decides about a thing that
the agent is doing, not about a server that wants something out of the blue. A call that ends takes
back what it asked.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from desktop_app.core.messages import Base64Source, DataBlock, Msg, TextBlock

from .asks import Ask, Asker, Form, Reply, Sampling, Visit, What
from .forms import BadForm, fields_of
from .loopback import SignInNeeded

if TYPE_CHECKING:
    from mcp_types import ErrorData

log = logging.getLogger(__name__)
SCOPES = 50  # names of rights that a person is shown
SIGN_IN_SECONDS = 300.0  # for the person in the browser
AT_ONCE = 8  # what one call may have open; more is refused
MAX_TOKENS = 1_000_000
MESSAGE_CHARS = 8_000


@dataclass(eq=False, slots=True)
class Flight:
    """A call under way. ``asks(n)`` is called when something was asked or answered, with how much
    is open: the person's time is none of the server's. ``refused`` is what the person did not
    allow, if anything."""

    tool: str
    op_id: str
    asks: Callable[[int], None]
    asked: set[asyncio.Future[Any]] = field(default_factory=set[asyncio.Future[Any]])
    refused: str = ""
    held: int = 0  # it waits for what another call asks

    def changed(self) -> None:
        """Something was asked or answered."""
        self.asks(len(self.asked) + self.held)


_mine: ContextVar[Flight | None] = ContextVar("mcp_call", default=None)


class Asking:
    """The callbacks of one server's client. ``ask`` reaches the person; without it nobody is there
    to be asked, and the server is told that we can do neither. ``note`` is told what is refused
    because no call runs."""

    def __init__(
        self,
        server: str,
        home: asyncio.AbstractEventLoop,
        ask: Asker | None,
        note: Callable[[str], None],
    ) -> None:
        self._server = server
        self._home = home
        self._ask = ask
        self._note = note
        self._flights: list[Flight] = []

    def callbacks(self) -> dict[str, Any]:
        """For the SDK's client. What is not there is not offered to the server."""
        if self._ask is None:
            return {}
        return {"sampling_callback": self.sampling, "elicitation_callback": self.elicitation}

    @contextmanager
    def flight(self, tool: str, op_id: str, asks: Callable[[int], None]) -> Generator[Flight]:
        """Around one call; leaving it takes back what is still being asked."""
        flight = Flight(tool, op_id, asks)
        self._flights.append(flight)
        token = _mine.set(flight)
        try:
            yield flight
        finally:
            _mine.reset(token)
            self._flights.remove(flight)
            for future in list(flight.asked):
                future.cancel()

    def _whose(self) -> Flight | None:
        """The call that a request belongs to. In the newest protocol it is answered inside the
        call; the older ones do not say, so it is the newest call."""
        mine = _mine.get()
        if mine in self._flights:
            return mine
        return self._flights[-1] if self._flights else None

    async def sampling(self, context: Any, params: Any) -> Any:
        """``sampling/createMessage``."""
        if params.tools:
            return _error("This client's sampling has no tools.")
        messages = tuple(m for raw in params.messages if (m := _message(raw)) is not None)
        if not messages:
            return _error("There is no message to answer.")
        what = Sampling(
            messages,
            params.system_prompt or "",
            max(1, min(int(params.max_tokens), MAX_TOKENS)),
            tuple(s for s in params.stop_sequences or () if s)[:16],
        )
        reply = await self._put(what)
        if isinstance(reply, str):
            return _error(reply)
        return _sampled(reply)

    async def elicitation(self, context: Any, params: Any) -> Any:
        """``elicitation/create``, in both modes."""
        from mcp_types import ElicitResult

        message = str(params.message)[:MESSAGE_CHARS]
        if params.mode == "url":
            what: What = Visit(message, params.url)
            if not _is_web(params.url):
                return _error("Only addresses of https:// and http:// are opened.")
        else:
            try:
                what = Form(message, fields_of(params.requested_schema))
            except BadForm as error:
                return _error(f"The requested schema cannot be shown: {error}.")
        reply = await self._put(what)
        if isinstance(reply, str) or reply.action == "failed":
            return ElicitResult(action="cancel")
        content = reply.content if reply.action == "accept" and isinstance(what, Form) else None
        return ElicitResult(action=reply.action, content=content)

    async def visit_first(self, flight: Flight, listed: list[Any]) -> bool:
        """Addresses that a server wants visited before a call (its error -32042); whether the
        person agreed to all."""
        for params in listed:
            if not _is_web(str(params.url)):
                return False
            reply = await self._put(Visit(str(params.message)[:MESSAGE_CHARS], str(params.url)))
            if isinstance(reply, str) or reply.action != "accept":
                return False
        return True

    async def authorize(
        self, url: str, scopes: tuple[str, ...], back: asyncio.Future[dict[str, str]]
    ) -> dict[str, str] | None:
        """Ask the person to let the server do more, for the call under way, and wait for what the
        browser brings ``back``. None when they do not want that, take too long, or the call ends.
        All calls of the server wait meanwhile, and so do their clocks."""
        if (flight := self._whose()) is None:
            return None
        with self._held():
            reply = await self._put(Visit("", url, scopes[:SCOPES]))
            if isinstance(reply, str) or reply.action != "accept":
                return None
            flight.asked.add(back)  # ends with the call
            try:
                async with asyncio.timeout(SIGN_IN_SECONDS):
                    return await back
            except (TimeoutError, SignInNeeded):
                return None
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if task is None or task.cancelling():
                    raise
                return None
            finally:
                flight.asked.discard(back)

    @contextmanager
    def _held(self) -> Generator[None]:
        """The clocks of all calls stand still."""
        flights = list(self._flights)
        for flight in flights:
            flight.held += 1
            flight.changed()
        try:
            yield
        finally:
            for flight in flights:
                flight.held -= 1
                if flight in self._flights:
                    flight.changed()

    async def _put(self, what: What) -> Reply | str:
        """Ask at home; words for the server when that is not possible."""
        flight = self._whose()
        if flight is None or self._ask is None:
            self._note(f"(asked for {type(what).__name__.lower()} while no call ran: refused)")
            return "Requests are answered only while a call of this server runs."
        if len(flight.asked) >= AT_ONCE:
            return "Too many requests at once."
        ask = Ask(self._server, flight.tool, flight.op_id, what)
        future = asyncio.wrap_future(
            asyncio.run_coroutine_threadsafe(_awaited(self._ask, ask), self._home)
        )
        flight.asked.add(future)
        flight.changed()
        try:
            reply = await future
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():  # taken back by the server, or with the call
                raise
            return "The call that this belonged to has ended."
        except Exception as error:  # the server must hear something, and the log what it was
            log.exception("a request of an MCP server could not be answered")
            return f"The client failed: {type(error).__name__}."
        finally:
            flight.asked.discard(future)
            flight.changed()
        if reply.action in ("decline", "failed"):
            flight.refused = type(what).__name__.lower()
        return reply


async def _awaited(ask: Asker, what: Ask) -> Reply:
    return await ask(what)


def _message(raw: Any) -> Msg | None:
    """A message as our models take it; what they cannot be sent is named in its place."""
    blocks: list[Any] = []
    for block in raw.content_as_list:
        match block.type:
            case "text":
                blocks.append(TextBlock(text=block.text))
            case "image":
                source = Base64Source(data=block.data, media_type=block.mime_type)
                blocks.append(DataBlock(source=source))
            case kind:
                blocks.append(TextBlock(text=f"[{kind}, which is not sent]"))
    if not blocks:
        return None
    return Msg(name=raw.role, role=raw.role, content=blocks)


def _sampled(reply: Reply) -> Any:
    from mcp_types import CreateMessageResult, ErrorData, TextContent

    match reply.action:
        case "accept":
            return CreateMessageResult(
                role="assistant",
                content=TextContent(text=reply.text),
                model=reply.model,
                stop_reason=reply.stop,
            )
        case "failed":
            return _error(reply.why or "The model did not answer.")
        case _:
            # -1: the code that the specification gives for a person who says no.
            return ErrorData(code=-1, message="The person refused the request.")


def _error(message: str) -> ErrorData:
    from mcp_types import INVALID_REQUEST, ErrorData

    return ErrorData(code=INVALID_REQUEST, message=message)


def _is_web(url: str) -> bool:
    return url.startswith(("https://", "http://"))
