"""E2B on this computer, for the real SDK: its control plane and the envd of its sandboxes.

Served by the stubs of envd's protocol that the SDK ships, so framing, codecs and errors are the
protocol's own. A sandbox is a directory and a mount namespace in which that directory is
``/home/user``; pausing stops its processes, its disk stays. What cannot be here: users of their
own, other templates, real isolation. A mock in that sense, and in no other.

    with Cloud() as cloud:
        account = Account(cloud.key, api_url=cloud.url, sandbox_url=cloud.url)
"""

from __future__ import annotations

import asyncio
import atexit
import contextvars
import datetime as dt
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import urllib.parse
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import psutil
import uvicorn
from connectrpc.code import Code
from connectrpc.errors import ConnectError
from e2b.envd.filesystem import filesystem_connect, filesystem_pb
from e2b.envd.process import process_connect, process_pb
from protobuf import Oneof
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from desktop_app.core.workspaces.e2b.account import Account
from desktop_app.core.workspaces.e2b.channel import CommandChannel
from desktop_app.core.workspaces.e2b.sandbox import Sandbox
from desktop_app.core.workspaces.e2b.spec import E2BSpec
from desktop_app.core.workspaces.remote.backend import RemoteBackend

KEY = "e2b_" + "0" * 40
ENVD = "0.6.7"
# Its own mounts and processes; killed with their parent.
INSIDE = (
    'mount -t tmpfs none /home && mkdir -p /home/user && mount --bind "$1" /home/user '
    '&& cd "$2" && shift 2 && exec "$@"'
)
BOX: contextvars.ContextVar[Box] = contextvars.ContextVar("box")


@cache
def why_not() -> str:
    """Why no sandbox can be made here; empty when one can."""
    if shutil.which("unshare") is None:
        return "no unshare here"
    done = subprocess.run([*_unshare(), "true"], capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr.strip()


def _unshare() -> list[str]:
    root = [] if os.geteuid() == 0 else ["-r"]
    return ["unshare", *root, "-m", "-p", "-f", "--mount-proc", "--kill-child"]


def cloud_or_skip() -> Cloud:
    if why := why_not():
        import pytest  # not where `make tour` has a cloud

        pytest.skip(f"no sandbox can be made here: {why}")
    return Cloud()


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


class Box:
    """One sandbox. ``clock`` is how far the cloud's clock is ahead of this computer's."""

    clock = dt.timedelta(0)

    def __init__(self, root: Path, body: dict[str, Any]) -> None:
        self.id = "i" + secrets.token_hex(10)
        self.token = secrets.token_hex(16)
        self.body = body
        self.home = root / self.id
        self.home.mkdir()
        self.state = "running"
        self.started = _now()
        self.ends = self.started + dt.timedelta(seconds=body.get("timeout", 15))
        self.processes: dict[int, Process] = {}
        self.apart = True  # whether its home and processes are its own
        self.cut = asyncio.Event()  # set when what streams is over: paused, killed

    def created(self) -> dict[str, Any]:
        return {
            "templateID": self.body["templateID"],
            "sandboxID": self.id,
            "clientID": "c0",
            "envdVersion": ENVD,
            "envdAccessToken": self.token,
            "domain": None,
        }

    def listed(self) -> dict[str, Any]:
        return {
            **{name: self.created()[name] for name in ("templateID", "sandboxID", "clientID")},
            "alias": self.body["templateID"],
            "startedAt": (self.started + self.clock).isoformat(),
            "endAt": (self.ends + self.clock).isoformat(),
            "cpuCount": 2,
            "memoryMB": 512,
            "diskSizeMB": 1024,
            "state": self.state,
            "envdVersion": ENVD,
            "metadata": self.body.get("metadata") or {},
        }

    def host(self, path: str) -> Path:
        """Where a path of the sandbox is here; only its home is its own."""
        whole = os.path.normpath(os.path.join("/home/user", path))
        inside = os.path.relpath(whole, "/home/user")
        if inside.startswith(".."):
            raise ConnectError(Code.PERMISSION_DENIED, f"not in the home: {path}")
        return self.home / inside

    def signal(self, number: int) -> None:
        for process in list(self.processes.values()):
            try:
                tree = psutil.Process(process.real.pid)
                for one in [*tree.children(recursive=True), tree]:
                    one.send_signal(number)
            except psutil.NoSuchProcess:
                pass

    def pause(self) -> None:
        self.state = "paused"
        self.signal(signal.SIGSTOP)
        self.cut.set()

    def resume(self, seconds: float) -> None:
        if self.state == "paused":
            self.state, self.cut = "running", asyncio.Event()
            self.signal(signal.SIGCONT)
        self.ends = max(self.ends, _now() + dt.timedelta(seconds=seconds))

    def kill(self) -> None:
        self.state = "dead"
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGKILL)
        self.cut.set()
        shutil.rmtree(self.home, ignore_errors=True)


class Process:
    def __init__(self, real: asyncio.subprocess.Process, config: Any, tag: str | None) -> None:
        self.real = real
        self.config = config
        self.tag = tag
        self.readers: list[asyncio.Queue[Any]] = []
        self.task: asyncio.Task[None] | None = None

    def emit(self, event: Any) -> None:
        for reader in self.readers:
            reader.put_nowait(event)


def _event(kind: str, value: Any) -> Any:
    return process_pb.ProcessEvent(event=Oneof(kind, value))


class Processes:
    """envd's process service."""

    def _named(self, selector: Any) -> Process:
        wanted, box = selector.selector.value, BOX.get()
        found = box.processes.get(wanted)
        if found is None:
            found = next((p for p in box.processes.values() if p.tag == wanted), None)
        if found is None:
            raise ConnectError(Code.NOT_FOUND, f"process with pid {wanted} not found")
        return found

    async def list(self, _request: Any, _context: Any) -> Any:
        return process_pb.ListResponse(
            processes=[
                process_pb.ProcessInfo(config=p.config, pid=pid, tag=p.tag)
                for pid, p in BOX.get().processes.items()
            ]
        )

    async def start(self, request: Any, context: Any) -> AsyncIterator[Any]:
        box, config = BOX.get(), request.process
        cwd = config.cwd if config.has_field("cwd") else "/home/user"
        env = {
            "PATH": "/usr/local/bin:/usr/bin:/bin:" + os.environ["PATH"],
            "HOME": "/home/user",
            "USER": "user",
            "E2B_SANDBOX_ID": box.id,
            **(box.body.get("envVars") or {}),
            **config.envs,
        }
        words = [config.cmd, *(word for word in config.args if word != "-l")]
        if box.apart:
            words = [*_unshare(), "sh", "-c", INSIDE, "sh", str(box.home), cwd, *words]
        real = await asyncio.create_subprocess_exec(
            *words,
            env=env,
            start_new_session=True,
            stdin=asyncio.subprocess.PIPE if request.stdin else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        process = Process(real, config, request.tag if request.has_field("tag") else None)
        box.processes[real.pid] = process
        queue: asyncio.Queue[Any] = asyncio.Queue()
        process.readers.append(queue)
        process.task = asyncio.ensure_future(self._run(box, process))
        yield process_pb.StartResponse(
            event=_event("start", process_pb.ProcessEvent.StartEvent(pid=real.pid))
        )
        async for event in self._stream(box, queue, context):
            yield process_pb.StartResponse(event=event)

    async def connect(self, request: Any, context: Any) -> AsyncIterator[Any]:
        process, queue = self._named(request.process), asyncio.Queue[Any]()
        process.readers.append(queue)
        pid = process.real.pid
        yield process_pb.ConnectResponse(
            event=_event("start", process_pb.ProcessEvent.StartEvent(pid=pid))
        )
        async for event in self._stream(BOX.get(), queue, context):
            yield process_pb.ConnectResponse(event=event)

    async def _run(self, box: Box, process: Process) -> None:
        async def pump(stream: asyncio.StreamReader | None, name: str) -> None:
            assert stream is not None
            while data := await stream.read(1 << 15):
                output = process_pb.ProcessEvent.DataEvent(output=Oneof(name, data))
                process.emit(_event("data", output))

        real = process.real
        await asyncio.gather(pump(real.stdout, "stdout"), pump(real.stderr, "stderr"))
        code = await real.wait()
        box.processes.pop(real.pid, None)
        status = f"exit status {code}" if code >= 0 else f"signal: {-code}"
        end = process_pb.ProcessEvent.EndEvent(
            exit_code=code if code >= 0 else 128 - code,
            exited=code >= 0,
            status=status,
            error=status if code else None,
        )
        process.emit(_event("end", end))

    async def _stream(
        self, box: Box, queue: asyncio.Queue[Any], context: Any
    ) -> AsyncIterator[Any]:
        pause = float(context.request_headers.get("keepalive-ping-interval", "50"))
        cut = asyncio.ensure_future(box.cut.wait())
        try:
            while True:
                following = asyncio.ensure_future(queue.get())
                await asyncio.wait(
                    [following, cut], timeout=pause, return_when=asyncio.FIRST_COMPLETED
                )
                if not following.done():
                    following.cancel()
                    if cut.done():
                        raise ConnectError(
                            Code.UNAVAILABLE,
                            f"the connection to sandbox {box.id} ended before the stream completed",
                        )
                    yield _event("keepalive", process_pb.ProcessEvent.KeepAlive())
                    continue
                event = following.result()
                yield event
                if event.event.field == "end":
                    return
        finally:
            cut.cancel()

    async def send_input(self, request: Any, _context: Any) -> Any:
        stdin = self._named(request.process).real.stdin
        assert stdin is not None
        stdin.write(request.input.input.value)
        await stdin.drain()
        return process_pb.SendInputResponse()

    async def stream_input(self, requests: AsyncIterator[Any], _context: Any) -> Any:
        stdin = None
        async for message in requests:
            if message.event.field == "start":
                stdin = self._named(message.event.value.process).real.stdin
            elif message.event.field == "data" and stdin is not None:
                stdin.write(message.event.value.input.input.value)
                await stdin.drain()
        return process_pb.StreamInputResponse()

    async def close_stdin(self, request: Any, _context: Any) -> Any:
        stdin = self._named(request.process).real.stdin
        assert stdin is not None
        stdin.close()
        return process_pb.CloseStdinResponse()

    async def send_signal(self, request: Any, _context: Any) -> Any:
        os.killpg(self._named(request.process).real.pid, request.signal.value)
        return process_pb.SendSignalResponse()

    async def update(self, _request: Any, _context: Any) -> Any:
        return process_pb.UpdateResponse()


class Files:
    """The part of envd's filesystem service that Slipway uses: it makes its working directory."""

    async def make_dir(self, request: Any, _context: Any) -> Any:
        path = BOX.get().host(request.path)
        if path.is_dir():
            raise ConnectError(Code.ALREADY_EXISTS, f"directory already exists: {request.path}")
        path.mkdir(parents=True)
        entry = filesystem_pb.EntryInfo(
            name=path.name, type=filesystem_pb.FileType.DIRECTORY, path=request.path
        )
        return filesystem_pb.MakeDirResponse(entry=entry)

    async def _absent(self, *_: Any) -> Any:
        raise ConnectError(Code.UNIMPLEMENTED, "not of this cloud")

    stat = move = list_dir = remove = watch_dir = _absent
    create_watcher = get_watcher_events = remove_watcher = _absent


Handler = Callable[[Request], Awaitable[Response]]


class Cloud:
    """The control plane and its edge. With ``apart`` false processes see this computer as it is,
    for a suite that looks at them from outside. ``failing`` maps a route's name (``list create
    connect pause kill timeout metrics info``) to the statuses that its next requests are answered
    with; ``counts`` are requests by name."""

    def __init__(self, *, apart: bool = True) -> None:
        self._apart = apart
        self.boxes: dict[str, Box] = {}
        self.failing: dict[str, list[int]] = {}
        self.counts: Counter[str] = Counter()
        self.lost_answers: set[str] = set()  # routes that do their work and answer 502
        self._made_by: dict[str, Box] = {}
        self._root = Path(tempfile.mkdtemp(prefix="slipway-e2b-"))
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        config = uvicorn.Config(self._app, interface="asgi3", log_level="error", lifespan="off")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready = threading.Event()
        self._processes = process_connect.ProcessASGIApplication(Processes())
        self._files = filesystem_connect.FilesystemASGIApplication(Files())
        self._control = Starlette(routes=list(self._routes()))

    async def key(self) -> str:
        return KEY

    # -- its life --------------------------------------------------------------------------------

    def __enter__(self) -> Cloud:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self.call(self._end)
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(10)
        self._socket.close()
        shutil.rmtree(self._root, ignore_errors=True)

    def _serve(self) -> None:
        async def run() -> None:
            self._loop = asyncio.get_running_loop()
            watching = asyncio.ensure_future(self._watch())
            self._ready.set()
            await self._server.serve(sockets=[self._socket])
            watching.cancel()

        asyncio.run(run())

    def call(self, work: Callable[[], Any]) -> Any:
        """Do something in the cloud's own thread, from a test's."""

        async def inside() -> Any:
            return work()

        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(inside(), self._loop).result(10)

    def _end(self) -> None:
        for box in self.boxes.values():
            box.kill()

    def reset(self) -> None:
        """As new: for the next test. Called in the cloud's thread."""
        self._end()
        self.boxes.clear()
        self.failing.clear()
        self.counts.clear()
        self.lost_answers.clear()

    def expire(self, box_id: str = "") -> None:
        """The lease of one (or all) is over now."""
        for box in self.boxes.values():
            if not box_id or box.id == box_id:
                box.ends = _now()
        self.call(self._expired)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(0.05)
            self._expired()

    def _expired(self) -> None:
        for box in list(self.boxes.values()):
            if box.state == "running" and box.ends <= _now():
                if box.body.get("autoPause"):
                    box.pause()
                else:
                    box.kill()
                    del self.boxes[box.id]

    # -- control plane ---------------------------------------------------------------------------

    def _routes(self) -> Iterator[Route]:
        one = "/sandboxes/{id}"
        table: list[tuple[str, str, str, Handler]] = [
            ("create", "POST", "/v2/sandboxes", self._create),
            ("list", "GET", "/v2/sandboxes", self._list),
            ("info", "GET", one, self._info),
            ("kill", "DELETE", one, self._kill),
            ("pause", "POST", f"{one}/pause", self._pause),
            ("connect", "POST", f"/v2{one}/connect", self._connect),
            ("timeout", "POST", f"{one}/timeout", self._timeout),
            ("metrics", "GET", f"{one}/metrics", self._metrics),
        ]
        for name, method, path, handler in table:
            yield Route(path, self._guarded(name, handler), methods=[method])

    def _guarded(self, name: str, handler: Handler) -> Handler:
        async def guarded(request: Request) -> Response:
            self.counts[name] += 1
            if request.headers.get("x-api-key") != KEY:
                return _error(401, "Invalid API key")
            if statuses := self.failing.get(name):
                return _error(statuses.pop(0), "as the test wants", retry=False)
            box_id = request.path_params.get("id")
            if box_id is not None and box_id not in self.boxes:
                return _error(404, f"sandbox {box_id} not found")
            answer = await handler(request)
            return _error(502, "lost", retry=False) if name in self.lost_answers else answer

        return guarded

    async def _create(self, request: Request) -> Response:
        key = request.headers.get("idempotency-key")
        box = self._made_by.get(key) if key else None
        if box is None:
            box = Box(self._root, await request.json())
            box.apart = self._apart
            self.boxes[box.id] = box
            if key:
                self._made_by[key] = box
        return JSONResponse(box.created(), status_code=201)

    async def _list(self, request: Request) -> Response:
        query = request.query_params
        found = sorted(self.boxes.values(), key=lambda box: box.started, reverse=True)
        for name, value in urllib.parse.parse_qsl(query.get("metadata", "")):
            name, value = urllib.parse.unquote(name), urllib.parse.unquote(value)
            found = [b for b in found if (b.body.get("metadata") or {}).get(name) == value]
        if "state" in query:
            found = [box for box in found if box.state in query["state"].split(",")]
        start, limit = int(query.get("nextToken") or 0), int(query.get("limit", 100))
        more = {"x-next-token": str(start + limit)} if start + limit < len(found) else {}
        return JSONResponse([box.listed() for box in found[start : start + limit]], headers=more)

    def _box(self, request: Request) -> Box:
        return self.boxes[request.path_params["id"]]

    async def _info(self, request: Request) -> Response:
        box = self._box(request)
        return JSONResponse({**box.listed(), "envdAccessToken": box.token, "domain": None})

    async def _kill(self, request: Request) -> Response:
        self._box(request).kill()
        del self.boxes[request.path_params["id"]]
        return Response(status_code=204)

    async def _pause(self, request: Request) -> Response:
        box = self._box(request)
        if box.state == "paused":
            return _error(409, "already paused")
        box.pause()
        return Response(status_code=204)

    async def _connect(self, request: Request) -> Response:
        box, body = self._box(request), await request.json()
        was = box.state
        box.resume(body.get("timeout", 15))
        return JSONResponse(box.created(), status_code=201 if was == "paused" else 200)

    async def _timeout(self, request: Request) -> Response:
        seconds = (await request.json())["timeout"]
        self._box(request).ends = _now() + dt.timedelta(seconds=seconds)
        return Response(status_code=204)

    async def _metrics(self, request: Request) -> Response:
        now, used = _now(), sum(f.stat().st_size for f in self._box(request).home.rglob("*"))
        return JSONResponse(
            [
                {
                    "timestamp": now.isoformat(),
                    "timestampUnix": int(now.timestamp()),
                    "cpuCount": 2,
                    "cpuUsedPct": 25.0,
                    "memTotal": 512 << 20,
                    "memUsed": 99 << 20,
                    "memCache": 0,
                    "diskTotal": 1 << 30,
                    "diskUsed": used,
                }
            ]
        )

    # -- the edge: to the control plane, or to a sandbox's envd -----------------------------------

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        headers = {name.decode().lower(): value.decode() for name, value in scope["headers"]}
        box_id = headers.get("e2b-sandbox-id")
        if box_id is None:
            await self._control(scope, receive, send)
            return
        box = self.boxes.get(box_id)
        if box is None or box.state != "running":
            said = {"sandboxId": box_id, "message": "The sandbox was not found", "code": 502}
            await JSONResponse(said, status_code=502)(scope, receive, send)
            return
        if scope["path"] == "/health":
            await Response(status_code=204)(scope, receive, send)
            return
        if headers.get("x-access-token") != box.token:
            await _error(401, "unauthorized")(scope, receive, send)
            return
        BOX.set(box)
        app = self._files if scope["path"].startswith("/filesystem.") else self._processes
        await app(scope, receive, send)


@cache
def contract_cloud() -> Cloud:
    """The cloud of the contract suite, until the tests end."""
    cloud = Cloud(apart=False).__enter__()
    atexit.register(cloud.__exit__)
    return cloud


class ContractBackend(RemoteBackend):
    """``RemoteBackend`` in a sandbox of its own, for the suite that every backend passes."""

    def __init__(self, cwd: Path) -> None:
        cloud = contract_cloud()
        account = Account(cloud.key, api_url=cloud.url, sandbox_url=cloud.url)
        self._sandbox = Sandbox(account, cwd.as_posix(), cwd.name, E2BSpec())
        super().__init__("e2b", str(cwd), self._open)

    async def _open(self) -> CommandChannel:
        await self._sandbox.ensure()
        channel = CommandChannel()
        await channel.open(await self._sandbox.live())
        return channel

    async def close(self) -> None:
        await super().close()
        await self._sandbox.kill()


def _error(status: int, message: str, *, retry: bool = True) -> Response:
    headers = {} if retry else {"Should-Retry": "false"}
    return JSONResponse({"code": status, "message": message}, status, headers=headers)
