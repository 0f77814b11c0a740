"""The sandbox of one workspace: found by its metadata, made once, connected, paused, extended."""

from __future__ import annotations

import logging
import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.ids import now_us
from desktop_app.core.workspaces.remote.managed import Machine, Status

from .account import CLOCK_SECONDS, Account, told
from .spec import E2BSpec

log = logging.getLogger(__name__)

LABEL = "slipway.workspace"
NAME = "slipway.name"
THEIRS = "agentscope.workspace.id"
PAGE = 100


@dataclass(frozen=True, slots=True)
class Found:
    """A sandbox as the control plane lists it. Times are microseconds since 1970."""

    id: str
    template: str
    running: bool
    started_us: int
    ends_us: int
    cpus: int
    memory: int
    metadata: dict[str, str]

    @property
    def workspace_id(self) -> str:
        return self.metadata.get(LABEL, "")


class Sandbox:
    """The sandbox of workspace ``workspace_id``. Never a second one for an id: one is made only
    after a list that was answered and named none. Methods raise what ``account.told`` names."""

    def __init__(self, account: Account, workspace_id: str, name: str, spec: E2BSpec) -> None:
        self.account = account
        self.spec = spec
        self._id = workspace_id
        self._name = name
        self._live: Any = None  # e2b.AsyncSandbox, connected
        self._intent = uuid.uuid4().hex  # of the next creation: asked for twice, made once

    async def find(self) -> Found | None:
        """The sandbox of this workspace, running or paused; the one that runs, or else the newest,
        should there be several."""
        theirs = self.spec.theirs
        wanted = {THEIRS: theirs} if theirs else {LABEL: self._id}
        found = await listed(self.account, wanted)
        if len(found) > 1:
            log.warning("%d sandboxes say that they are workspace %s", len(found), self._id)
        found.sort(key=lambda one: (one.running, one.started_us))
        return found[-1] if found else None

    async def machine(self) -> Machine:
        """Its state; never raises."""
        try:
            found = await self.find()
        except WorkspaceError as error:
            return Machine("failed", self.account.where, code=error.code, params=error.params)
        if found is None:
            return Machine("absent", self.account.where)
        status: Status = "running" if found.running else "paused"
        return Machine(
            status,
            self.account.where,
            found.id,
            found.template,
            found.started_us - self.account.ahead_us,
            found.ends_us - self.account.ahead_us if found.running else 0,
            float(found.cpus),
            found.memory,
        )

    async def live(self) -> Any:
        """``e2b.AsyncSandbox``, connected. WorkspaceError ``e2b.not_running`` for a paused one:
        connecting resumes it, which only ``ensure`` is to do."""
        if self._live is None:
            found = await self.find()
            if found is None:
                raise WorkspaceError("e2b.gone", detail=self._name)
            if not found.running:
                raise WorkspaceError("e2b.not_running", retryable=True, detail=self._name)
            await self._connect(found.id)
        return self._live

    async def attach(self) -> Any:
        """``e2b.AsyncSandbox`` of one that runs, without a request that would resume it or touch
        its lease, as the library's own ``connect`` would. WorkspaceError ``e2b.not_running``."""
        if self._live is None:
            found = await self.find()
            if found is None:
                raise WorkspaceError("e2b.gone", detail=self._name)
            if not found.running:
                raise WorkspaceError("e2b.not_running", retryable=True, detail=found.id)
            try:
                self._live = await attached(found.id, await self.account.options())
            except Exception as error:
                raise told(error) from error
        return self._live

    async def _connect(self, sandbox_id: str) -> None:
        options = await self.account.options()
        import e2b

        try:
            self._live = await e2b.AsyncSandbox.connect(
                sandbox_id, timeout=self.spec.timeout, **options
            )
        except Exception as error:
            raise told(error) from error

    async def ensure(self) -> None:
        """Make it run: connect to the one there is, or make it."""
        self._live = None
        found = await self.find()
        if found is not None:
            await self._connect(found.id)
            return
        if self.spec.theirs:
            raise WorkspaceError("e2b.gone", detail=self._name)
        options = await self.account.options()
        import e2b

        try:
            self._live = await e2b.AsyncSandbox.create(
                self.spec.template,
                timeout=self.spec.timeout,
                metadata={LABEL: self._id, NAME: self._name},
                envs=dict(self.spec.env),
                allow_internet_access=self.spec.internet,
                lifecycle={"on_timeout": "pause" if self.spec.auto_pause else "kill"},
                idempotency_key=self._intent,
                **options,
            )
        except Exception as error:
            raise told(error) from error
        self._intent = uuid.uuid4().hex
        await self._compare_clocks(self.spec.timeout)

    async def extend(self, seconds: int) -> None:
        """The lease ends ``seconds`` from now."""
        await self._do("set_timeout", seconds)
        await self._compare_clocks(seconds)

    async def _compare_clocks(self, seconds: int) -> None:
        """A lease that was just asked for tells how E2B's clock differs from ours: times of a list
        are by theirs, and what is left of a lease is reckoned by ours."""
        try:
            found = await self.find()
        except WorkspaceError as error:
            log.info("E2B's clock is not known: %s", error)
            return
        if found is not None and found.running:
            ahead = found.ends_us - now_us() - seconds * 1_000_000
            self.account.ahead_us = ahead if abs(ahead) > CLOCK_SECONDS * 1e6 else 0

    async def pause(self) -> None:
        await self._do("pause")
        self._live = None

    async def kill(self) -> None:
        """End it for ever, with its disk."""
        try:
            await self._do("kill")
        except WorkspaceError as error:
            if error.code != "e2b.gone":
                raise
        self._live = None

    async def _do(self, method: str, *arguments: Any) -> None:
        found = await self.find()
        if found is None:
            raise WorkspaceError("e2b.gone", detail=self._name)
        options = await self.account.options()
        import e2b

        try:
            await getattr(e2b.AsyncSandbox, method)(found.id, *arguments, **options)
        except Exception as error:
            raise told(error) from error

    async def metrics(self) -> Any:
        """The newest measurement of the control plane, or None."""
        found = await self.find()
        if found is None or not found.running:
            return None
        options = await self.account.options()
        import e2b

        try:
            measured = await e2b.AsyncSandbox.get_metrics(found.id, **options)
        except Exception as error:
            raise told(error) from error
        return measured[-1] if measured else None

    def forget(self) -> None:
        """The connection is of no use any more: the next use makes a new one."""
        self._live = None


async def listed(account: Account, metadata: dict[str, str] | None = None) -> list[Found]:
    """All sandboxes of the account, running and paused, with this metadata; every page."""
    options = await account.options()
    import e2b

    query = e2b.SandboxQuery(metadata=metadata) if metadata else None
    found: list[Found] = []
    try:
        pages = e2b.AsyncSandbox.list(query=query, limit=PAGE, **options)
        while pages.has_next:
            found += [_found(one) for one in await pages.next_items()]
    except Exception as error:
        raise told(error) from error
    return found


async def orphans(account: Account, known: set[str]) -> list[Found]:
    """Sandboxes of ours whose workspace this program does not know."""
    every = await listed(account)
    return [one for one in every if one.workspace_id and one.workspace_id not in known]


async def end(account: Account, sandbox_id: str) -> None:
    """End a sandbox of the account for ever."""
    options = await account.options()
    import e2b

    try:
        await e2b.AsyncSandbox.kill(sandbox_id, **options)
    except Exception as error:
        raise told(error) from error


async def attached(sandbox_id: str, options: dict[str, Any]) -> Any:
    """``e2b.AsyncSandbox`` from what the control plane tells of a sandbox (``GET /sandboxes/{id}``
    names the token of its helper), as the library's ``_cls_connect_sandbox`` makes it."""
    import e2b
    from e2b.api.client.api.sandboxes import get_sandboxes_sandbox_id
    from e2b.api.client_async import (
        get_api_client,  # pyright: ignore[reportUnknownVariableType]
    )
    from e2b.connection_config import ConnectionConfig
    from packaging.version import Version

    asked = await get_sandboxes_sandbox_id.asyncio_detailed(
        sandbox_id, client=get_api_client(ConnectionConfig(**options))
    )
    detail: Any = asked.parsed
    if asked.status_code >= 300 or not hasattr(detail, "envd_version"):
        raise WorkspaceError("e2b.gone", detail=sandbox_id)
    headers = {"E2b-Sandbox-Id": sandbox_id, "E2b-Sandbox-Port": str(ConnectionConfig.envd_port)}
    token = detail.envd_access_token
    if isinstance(token, str):
        headers["X-Access-Token"] = token
    domain = detail.domain if isinstance(detail.domain, str) else None
    return e2b.AsyncSandbox(
        sandbox_id=sandbox_id,
        sandbox_domain=domain,
        envd_version=Version(detail.envd_version),
        envd_access_token=token if isinstance(token, str) else None,
        traffic_access_token=None,
        connection_config=ConnectionConfig(extra_sandbox_headers=headers, **options),
    )


def _found(one: Any) -> Found:
    return Found(
        one.sandbox_id,
        one.name or one.template_id,
        one.state.value == "running",
        _us(one.started_at),
        _us(one.end_at),
        one.cpu_count,
        one.memory_mb << 20,
        dict(one.metadata or {}),
    )


def _us(at: datetime) -> int:
    return int(at.timestamp() * 1_000_000)
