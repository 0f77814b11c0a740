"""One server, connected and kept connected.

``Connection`` is used from the program's loop; what it does runs on the runner's. The server is
started, its tools are listed once and again only when it says that they changed, and when it goes
away it is started again, after a growing pause and not for ever.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from desktop_app.core.errors import SecretsError, ToolFailure
from desktop_app.core.models.network import Route
from desktop_app.core.secrets import Place, Secrets
from desktop_app.core.tools.base import ToolOutcome

from .asking import Asking
from .asks import Asker
from .calling import Call, Progress, make_call
from .listing import RemoteTool, list_tools
from .oauth import SECONDS, OAuth, SignIn, Storage, secret_name
from .reasons import died, flood_of, not_running, reason_of
from .ring import Ring
from .runner import Runner
from .shell_path import login_path
from .spec import ServerSpec
from .transport import Wire, found_program, quiet, transport
from .ways import RouteOf, looked_at

if TYPE_CHECKING:
    from mcp import Client

log = logging.getLogger(__name__)

State = Literal["off", "starting", "ok", "waiting", "failed", "stopped"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds, and how often. ``start``: until the server must have answered. ``call``: of one
    call without a sign of progress. ``pauses``: before each further try; then it is ``failed``."""

    start: float = 60.0
    call: float = 300.0
    pauses: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0, 15.0)
    steady: float = 60.0  # a server that lived so long starts counting anew
    wait: float = 20.0  # a call waits so long for a server that is starting


@dataclass(frozen=True, slots=True)
class Status:
    """How a server is. ``code`` says why it is not ``ok`` (or what is wrong although it is);
    ``bad`` are listed tools that cannot be used, with a code that says why. ``retry`` is the pause
    before the next try, in seconds. ``knows_folder``: it asked for its roots and was told the
    working directory. ``signed_in``: where the tokens lie that it was given. ``program``: where
    its program was found."""

    state: State = "off"
    code: str = ""
    params: dict[str, Any] = field(default_factory=dict[str, Any])
    tools: tuple[RemoteTool, ...] = ()
    bad: tuple[tuple[str, str], ...] = ()
    version: str = ""
    retry: float = 0.0
    knows_folder: bool = False
    signed_in: Place | None = None
    program: str = ""


class Connection:
    """See the module. ``on_change(status)`` is called on the loop that made this object, ``ask``
    awaited there when the server asks for something."""

    def __init__(
        self,
        spec: ServerSpec,
        runner: Runner,
        cwd: str,
        on_change: Callable[[Status], None],
        limits: Limits | None = None,
        ask: Asker | None = None,
        secrets: Secrets | None = None,
        route: RouteOf | None = None,
    ) -> None:
        self.spec = spec
        self.status = Status()
        self.ring = Ring()
        self.listings = 0  # how often tools/list was asked for
        self._runner = runner
        self._cwd = cwd
        self._on_change = on_change
        self._limits = limits or Limits()
        self._home = asyncio.get_running_loop()
        self._secrets = secrets or Secrets(lambda: None)
        self._route = route
        self._signing: SignIn | None = None
        self._asking = Asking(spec.name, self._home, ask, self.ring.note)
        self._work: concurrent.futures.Future[None] | None = None
        # of the runner's loop from here on
        self._now = Status()
        self._begun = 0  # tries
        self._client: Client | None = None
        self._again = asyncio.Event()
        self._moved = asyncio.Event()
        self._wire: Wire | None = None
        self._task: asyncio.Task[Any] | None = None
        self._stopping = False
        self._oauth: OAuth | None = None

    # -- from the program's loop ---------------------------------------------------------------

    def start(self) -> None:
        """Begin; ``status`` tells how it goes. Idempotent."""
        if self._work is None or self._work.done():
            self.status = replace(self.status, state="starting", code="", params={})
            self._work = self._runner.start(self._supervise())
            self._work.add_done_callback(self._ended)

    def restart(self) -> None:
        """Try again now, whatever the pause."""
        if self._work is None or self._work.done():
            self.start()
        else:
            self._runner.post(self._kick)

    def sign_in(self, how: SignIn) -> None:
        """Connect anew, and ask the person to sign in when the server wants it."""
        self._signing = how
        self.restart()

    def cancel_sign_in(self) -> None:
        """Give up waiting for the person; the server is ``failed`` until somebody signs in."""
        self._runner.post(self._cancel_signing)

    async def sign_out(self) -> None:
        """Forget the tokens, and connect without."""
        await self._secrets.remove(secret_name(self.spec.url))
        self.restart()

    async def stop(self) -> None:
        """End the server: its input is closed, then its process tree is killed."""
        work, self._work = self._work, None
        if work is not None:
            stopped = asyncio.Event()
            work.add_done_callback(lambda _: self._tell_home(stopped.set))
            if not work.done():
                self._runner.post(self._cancel_supervisor)
            await stopped.wait()
        self.status = replace(Status("stopped"), version=self.status.version)

    async def call(
        self,
        tool: str,
        args: dict[str, Any],
        *,
        images: bool,
        progress: Progress,
        op_id: str = "",
    ) -> ToolOutcome:
        """One call, which is our operation ``op_id``. ToolFailure ``mcp.not_running`` and those of
        ``make_call``. A cancellation cancels this request alone."""

        def told(text: str) -> None:
            self._tell_home(lambda: progress(text))

        async def work() -> ToolOutcome:
            seconds = self.spec.call_seconds or self._limits.call
            job = Call(
                self.spec.name, tool, op_id, seconds, self.spec.call_seconds is not None, told
            )
            return await make_call(await self._ready(), job, args, self._asking, images=images)

        self.start()
        try:
            return await self._runner.run(work())
        except ToolFailure as error:
            if error.code == "mcp.died" and self._work is None:
                raise died(self.spec.name, tool, ended=True) from error
            raise

    async def ready(self) -> None:
        """Wait a bounded time until it runs; a server that is down is tried again for it.
        ToolFailure ``mcp.not_running`` with the reason."""
        self.start()
        await self._runner.run(self._ready())

    def _tell_home(self, call: Callable[[], None]) -> None:
        try:
            self._home.call_soon_threadsafe(call)
        except RuntimeError:  # the program's loop is gone; nobody is left to be told
            pass

    def _ended(self, work: concurrent.futures.Future[None]) -> None:
        if not work.cancelled() and (error := work.exception()) is not None:
            log.error("the supervisor of an MCP server failed", exc_info=error)

    def _hear(self, status: Status) -> None:
        if self._work is not None:
            self.status = status
            self._on_change(status)

    # -- on the runner's loop --------------------------------------------------------------------

    def _set(self, **fields: Any) -> None:
        self._now = now = replace(self._now, **fields)
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()
        self._tell_home(lambda: self._hear(now))

    def _kick(self) -> None:
        self._again.set()
        if self._now.state == "ok" and self._wire is not None:
            self._wire.end()

    def _cancel_signing(self) -> None:
        if self._oauth is not None:
            self._oauth.cancel()

    def _cancel_supervisor(self) -> None:
        self._stopping = True
        if self._task is not None:
            self._task.cancel()

    async def _supervise(self) -> None:
        self._task = asyncio.current_task()
        tries = 0
        try:
            while not self._stopping:
                self._again = asyncio.Event()
                self._begun += 1
                self._set(state="starting", retry=0.0)
                began = time.monotonic()
                wire = self._wire = Wire(self.ring)
                try:
                    await self._live(wire)
                    code, params, final = "mcp.ended", {"detail": self.ring.last_line()}, False
                    if wire.flood:
                        code, params, final = flood_of(self.spec, wire)
                except Exception as error:  # noqa: BLE001 - whatever a server can do to us
                    code, params, final = reason_of(error, self.spec, wire)
                    code, params = await looked_at(code, params, self.spec.url, wire.route)
                self._client = self._wire = None
                if time.monotonic() - began > self._limits.steady:
                    tries = 0
                if final or tries >= len(self._limits.pauses):
                    self._set(state="failed", code=code, params=params, retry=0.0, tools=())
                    await self._again.wait()
                    tries = 0
                    continue
                pause = self._limits.pauses[tries]
                tries += 1
                self._set(state="waiting", code=code, params=params, retry=pause)
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await self._again.wait()
        finally:
            self._client = self._task = None
            self._stopping = False
            self._set(state="stopped", tools=())

    async def _live(self, wire: Wire) -> None:
        """Connect, list, and stay until the other side ends."""
        quiet()
        path = await login_path() if self.spec.transport == "stdio" else ""
        found = await asyncio.to_thread(found_program, self.spec, path)
        self._now = replace(self._now, program=found)  # told with what comes of it
        seconds = self._limits.start + (SECONDS if self._signing is not None else 0)
        try:
            await self._connected(wire, path, seconds)
        finally:
            if self._oauth is not None:
                await self._oauth.settle()
                self._oauth = None

    async def _connected(self, wire: Wire, path: str, seconds: float) -> None:
        from mcp import Client

        auth = await self._authorization(wire)
        wire.route = await self._way()
        client = Client(
            transport(self.spec, wire, self._cwd, path, auth),
            list_roots_callback=self._roots,
            message_handler=self._heard,
            client_info=_ourselves(),
            cache=None,
            **self._asking.callbacks(),
        )
        async with asyncio.timeout(seconds) as limit:
            async with client:
                if self._oauth is not None:
                    await self._oauth.settle()
                    self._set(signed_in=self._oauth.place)
                await self._list(client, wire)
                self._client = client
                limit.reschedule(None)
                async with asyncio.TaskGroup() as group:
                    listening = group.create_task(self._listen(client))
                    await self._stay(client, wire)
                    listening.cancel()
                self._client = None

    async def _way(self) -> Route | None:
        """The way to a server over HTTP; None where nobody says one."""
        if self._route is None or self.spec.transport == "stdio":
            return None
        return await self._route(self.spec.url)

    async def _authorization(self, wire: Wire) -> Any:
        """What signs requests, when there are tokens or the person is to sign in; None without.
        A declaration with an ``Authorization`` of its own is left alone."""
        signing, self._signing = self._signing, None
        keyed = any(name.lower() == "authorization" for name in self.spec.headers)
        if self.spec.transport == "stdio" or keyed:
            return None
        storage = Storage(self._secrets, secret_name(self.spec.url))
        await storage.load()
        if storage.kept.tokens is None and signing is None:
            self._set(signed_in=None)
            if storage.unread:
                raise SecretsError(storage.unread)
            return None
        self._oauth = OAuth(
            self.spec.url, storage, wire, signing, self._visited, self._asking.authorize
        )
        return await self._oauth.auth(self._home)

    def _visited(self, host: str) -> None:
        self._set(code="mcp.signing_in", params={"host": host})

    async def _stay(self, client: Client, wire: Wire) -> None:
        while True:
            await wire.wake.wait()
            wire.wake.clear()
            if wire.ended:
                return
            if wire.stale:
                wire.stale = False
                async with asyncio.timeout(self._limits.start):
                    await self._list(client, wire)

    async def _list(self, client: Client, wire: Wire) -> None:
        """Read the tools again."""
        self._set(state="ok", retry=0.0, **await list_tools(client, wire, self._page_asked))

    def _page_asked(self) -> None:
        self.listings += 1

    async def _listen(self, client: Client) -> None:
        """Servers of the newest protocol tell changes on a stream that is asked for."""
        from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
        from mcp.shared.exceptions import MCPError

        tools = client.server_capabilities.tools
        if tools is None or not tools.list_changed:
            return
        try:
            async with client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    self._changed()
        except (ListenNotSupportedError, SubscriptionLost, MCPError, TimeoutError):
            return

    async def _heard(self, message: Any) -> None:
        if isinstance(message, Exception):
            self.ring.note("(a line on standard output that is no message)")
        elif getattr(message, "method", "") == "notifications/tools/list_changed":
            self._changed()

    def _changed(self) -> None:
        if self._wire is not None:
            self._wire.change()

    async def _roots(self, context: Any) -> Any:
        """The workspace's folder: a trusted workspace's servers may know where they work."""
        from pathlib import Path

        from mcp_types import ListRootsResult, Root
        from pydantic import FileUrl

        folder = Path(self._cwd)
        if not self._now.knows_folder:
            self._set(knows_folder=True)
        return ListRootsResult(roots=[Root(uri=FileUrl(folder.as_uri()), name=folder.name)])

    async def _ready(self) -> Client:
        """The client, once there is one; a server that is down is tried again for it."""
        begun = self._begun
        if self._now.state in ("waiting", "failed"):
            self._again.set()
            begun += 1
        try:
            async with asyncio.timeout(self._limits.wait):
                while self._client is None:
                    if self._now.state == "failed" and self._begun >= begun:
                        break
                    await self._moved.wait()
        except TimeoutError:
            pass
        if self._client is None:
            now = self._now
            raise not_running(self.spec.name, now.state, now.code, now.params)
        return self._client


def _ourselves() -> Any:
    from importlib.metadata import PackageNotFoundError, version

    from mcp_types import Implementation

    try:
        number = version("slipway")
    except PackageNotFoundError:
        number = "0"
    return Implementation(name="slipway", title="Slipway", version=number)
