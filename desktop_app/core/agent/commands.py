"""The background commands of one session: started, kept, told of, ended.

They live in the journal (``command.started``, ``command.ended``) and, while they run, in a task of
this process each. They outlive turns and end with the session; what a killed program left running
is found by its mark and ended when the session is opened again.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

from desktop_app.core import events as ev
from desktop_app.core.errors import SlipwayError, ToolFailure, WorkspaceError
from desktop_app.core.ids import new_id, now_us
from desktop_app.core.messages import HintBlock
from desktop_app.core.sessions.base import NewRecord, Record
from desktop_app.core.tasks import Tasks
from desktop_app.core.tools.background import Command, Ending, Printed, Wanted, Why, notice
from desktop_app.core.tools.shell_output import Live, readable
from desktop_app.core.workspaces.backend import Backend, ProcessExit
from desktop_app.core.workspaces.base import Workspace
from desktop_app.core.workspaces.paths import join

from .closing import closing
from .finding import op_of
from .log import SessionLog
from .spool import Spool, read_file

logger = logging.getLogger(__name__)

AT_ONCE = 16  # commands of one session that may run beside each other
QUICK_SECONDS = 0.3  # one that ends within it is told of as ended: a typing error, a port taken
MAX_PRINTED = 1 << 30  # bytes; who prints more is not going to be read
SHOWN = 64 << 10  # bytes of output that the window is given


@dataclass(slots=True)
class _Running:
    """A command that runs in this process; ``why`` is set by whoever ends it."""

    command: Command
    spool: Spool
    why: Why = "exit"
    over: bool = False
    task: asyncio.Task[None] | None = None

    def halt(self, why: Why) -> None:
        """End it, once: a second cancellation would break into the killing of its tree."""
        if self.why == "exit" and self.task is not None:
            self.why = why
            self.task.cancel()


class SessionCommands:
    """Implements ``core.tools.background.Commands`` for one opened session."""

    def __init__(
        self,
        log: SessionLog,
        workspace: Workspace,
        tasks: Tasks,
        emit: Callable[[ev.Event], None],
    ) -> None:
        self._log = log
        self._workspace = workspace
        self._tasks = tasks
        self._emit = emit
        self._running: dict[str, _Running] = {}
        self._taken = 0
        self._reminded = 0  # the compaction after which the model was told of what runs

    def _backend(self) -> Backend:
        return self._workspace.get_backend()

    # -- what there is -----------------------------------------------------------------------

    def get(self, command_id: str) -> Command | None:
        return self._log.now.commands.get(command_id)

    def all(self) -> Sequence[Command]:
        return tuple(self._log.now.commands.values())

    def running(self) -> int:
        return len(self._running)

    def changed_by(self, records: Iterable[Record]) -> list[ev.CommandChanged]:
        """What records of another process of ours mean to whoever watches."""
        ids = [str(r.body()["id"]) for r in records if r.kind.startswith("command.")]
        found = [self.get(command_id) for command_id in dict.fromkeys(ids)]
        return [ev.CommandChanged(replace(c)) for c in found if c is not None]

    async def text(self, command_id: str) -> str:
        """The newest part of what a command printed, for people. WorkspaceError where it is gone
        from the workspace."""
        command = self.get(command_id)
        if command is None:
            return ""
        if (running := self._running.get(command_id)) is not None:
            data = running.spool.newest(SHOWN)
        else:
            # One that runs in another process of ours has no size but its file's.
            size = command.ended.bytes if command.ended else await self._size(command)
            at = max(0, size - SHOWN)
            data = await read_file(self._backend(), command.at, at, SHOWN)
        return (await asyncio.to_thread(readable, data))[0]

    # -- running -----------------------------------------------------------------------------

    async def start(self, wanted: Wanted) -> Command:
        if len(self._running) >= AT_ONCE:
            raise ToolFailure(
                "shell.too_many",
                f"{AT_ONCE} commands run in the background already: stop one with BashStop.",
                n=AT_ONCE,
            )
        self._taken = max(self._taken, len(self._log.now.commands)) + 1
        command_id = f"bg{self._taken}"
        session_id = self._log.journal.info.key.session_id
        path = await self._workspace.command_file(session_id, command_id)
        at = join(self._workspace.info.root, path)
        body = {
            "id": command_id,
            "op_id": wanted.op_id,
            "command": wanted.command,
            "started_us": now_us(),
            "mark": new_id(),
            "path": self._workspace.visible(path),
            "at": at,
        }
        # Before anything runs: a process that nobody knows of must not be left behind.
        await self._log.append(NewRecord("command.started", body, ignorable=True), draft=None)
        command = self._log.now.commands[command_id]
        running = _Running(command, Spool(self._backend(), at))
        self._running[command_id] = running
        self._emit(ev.CommandChanged(replace(command)))
        running.task = self._tasks.start(
            self._keep(running, wanted), name=f"background {command_id}"
        )
        try:
            await asyncio.wait([running.task], timeout=QUICK_SECONDS)
        except asyncio.CancelledError:
            running.halt("person")
            raise
        return command

    async def _keep(self, running: _Running, wanted: Wanted) -> None:
        """Run a command to its end and put the end into the journal, whatever it is."""
        command, spool = running.command, running.spool
        writer = self._tasks.start(spool.write(), name=f"output {command.id}")
        started = time.monotonic()
        ended, error = ProcessExit(-9, False, 0.0), ""
        try:
            ended = await self._run(running, wanted)
        except asyncio.CancelledError:
            if running.why == "exit":
                running.why = "closed"
        except SlipwayError as failure:
            running.why, error = "failed", failure.code
        spool.finish()
        await asyncio.wait([writer])
        why: Why = "timeout" if running.why == "exit" and ended.timed_out else running.why
        code = ended.code if why == "exit" else None
        seconds = round(time.monotonic() - started, 3)
        try:
            await self._end(command, Ending(why, code, seconds, spool.total, error or spool.error))
        finally:
            del self._running[command.id]
            running.over = True
            spool.grown.set()

    async def _run(self, running: _Running, wanted: Wanted) -> ProcessExit:
        command, spool = running.command, running.spool
        live = Live(lambda _stream, text: self._emit(ev.CommandOutput(command.id, text)))
        missing: WorkspaceError | None = None
        for argv in wanted.argvs:
            stream = self._backend().run(
                argv, env=wanted.env, timeout=wanted.timeout, mark=command.mark
            )
            try:
                async with closing(stream) as events:
                    async for event in events:
                        if isinstance(event, ProcessExit):
                            return event
                        live.add("stdout", event.data)
                        await spool.add(event.data)
                        if spool.total > MAX_PRINTED:
                            running.why = "flood"
                            return ProcessExit(-9, False, 0.0)
            except WorkspaceError as failure:
                if failure.code != "exec.missing":
                    raise
                missing = failure
            finally:
                live.flush()
        raise missing or WorkspaceError("exec.missing", program="sh")

    async def _end(self, command: Command, ended: Ending) -> None:
        body: dict[str, Any] = {
            "id": command.id,
            "why": ended.why,
            "code": ended.code,
            "seconds": ended.seconds,
            "bytes": ended.bytes,
            "error": ended.error,
        }
        record = NewRecord("command.ended", body, ignorable=True)
        try:
            await self._log.append(record, draft=None, keep=True)
        except SlipwayError as error:
            # The process is gone all the same; a later opening will say that its end is unknown.
            logger.warning("the end of a background command could not be saved: %s", error)
            command.ended = ended
        self._emit(ev.CommandChanged(replace(command)))

    # -- reading and ending --------------------------------------------------------------------

    async def read(self, command: Command, *, limit: int) -> Printed:
        if (running := self._running.get(command.id)) is not None:
            return running.spool.read(command.read_to, limit)
        end = command.ended.bytes if command.ended is not None else command.read_to
        first = max(command.read_to, end - limit)
        data = b""
        with suppress(WorkspaceError):
            if command.at and first < end:
                data = await read_file(self._backend(), command.at, first, end - first)
        return Printed(data, first, end, first - command.read_to)

    async def wait(self, command: Command, seconds: float, until: str = "") -> None:
        running = self._running.get(command.id)
        if running is None:
            return
        wanted = until.encode()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not running.over:
                    running.spool.grown.clear()
                    if wanted and wanted in running.spool.unread(command.read_to):
                        return
                    await running.spool.grown.wait()

    async def stop(self, command_id: str, by: Literal["agent", "person"]) -> None:
        running = self._running.get(command_id)
        if running is None or running.task is None:
            return
        running.halt(by)
        await asyncio.wait([running.task])

    async def close(self) -> None:
        """End all of them; their ends are in the journal afterwards."""
        ending = list(self._running.values())
        for running in ending:
            running.halt("closed")
        if tasks := [r.task for r in ending if r.task is not None]:
            await asyncio.wait(tasks)

    # -- what must not be forgotten --------------------------------------------------------------

    async def recover(self) -> int:
        """End what a program that died left running, and say of each that its end is unknown; how
        many there were."""
        left = [c for c in self._log.now.commands.values() if c.ended is None]
        if not left:
            return 0
        try:
            await self._backend().end_marked([c.mark for c in left if c.mark])
        except SlipwayError as error:
            logger.warning("background commands of a dead program were not looked for: %s", error)
        for command in left:
            await self._end(command, Ending("lost", bytes=await self._size(command)))
        return len(left)

    async def _size(self, command: Command) -> int:
        if not command.at:
            return 0
        try:
            return (await self._backend().stat(command.at)).size
        except SlipwayError:
            return 0

    async def tell(self, reply_id: str, name: str) -> None:
        """Put before the model, as a hint in its reply, what ended since it was told last, and what
        runs yet and was started in a part of the conversation that a compaction took away: else it
        would be started once more."""
        ended = [c for c in self._log.now.commands.values() if c.ended is not None and not c.told]
        forgotten = self._forgotten() if self._running else []
        if not ended and not forgotten:
            return
        body = {
            "reply_id": reply_id,
            "name": name,
            "blocks": [HintBlock(hint=notice([*ended, *forgotten]), source="slipway").model_dump()],
            "finish": "hint",
            "commands": {c.id: {"told": True} for c in ended},
        }
        await self._log.append(NewRecord("assistant.message", body))

    def _forgotten(self) -> list[Command]:
        """Once for each compaction: what runs and whose beginning is not in the context."""
        gen = max((c.gen for c in self._log.now.compactions), default=0)
        if gen <= self._reminded:
            return []
        self._reminded = gen
        calls = [call for msg in self._log.now.state.context for call in msg.tool_calls()]
        live = {op_of(call) for call in calls}
        found = (self.get(command_id) for command_id in self._running)
        return [c for c in found if c is not None and c.ended is None and c.op_id not in live]
