"""The container of one workspace: found by its label, made once, started, stopped, watched."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.ids import now_us
from desktop_app.core.workspaces.remote.managed import Machine, Status, Usage

from .engine import Engine, told
from .spec import WORKDIR, DockerSpec, host_user

LABEL = "slipway.workspace"
# AgentScope's labels (2.0.0 to 2.0.11): which of the engine's containers it made, and whose.
THEIRS, THEIRS_ID = "agentscope.workspace=true", "agentscope.workspace.id"
GATEWAY_PORT = 5600
STOP_SECONDS = 5
PIECE = 1 << 20
STATUS: dict[str, Status] = {
    "running": "running",
    "restarting": "running",
    "paused": "paused",
    "created": "stopped",
    "exited": "stopped",
    "dead": "stopped",
    "removing": "absent",
}


class Container:
    """The container of workspace ``workspace_id``, made as ``spec`` says. Methods raise what
    ``engine.told`` names; ``docker.gone`` when there is none."""

    def __init__(self, engine: Engine, workspace_id: str, name: str, spec: DockerSpec) -> None:
        self.engine = engine
        self.spec = spec
        self._id = workspace_id
        slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:30] or "workspace"
        self._name = f"slipway-{slug}-{workspace_id[-8:].lower()}"
        self._found = ""  # its id at the engine

    async def find(self) -> dict[str, Any] | None:
        """What the engine knows of it; None when there is none."""
        client = await self.engine.client()
        try:
            if self._found:
                try:
                    return cast(
                        dict[str, Any], await client.containers.container(self._found).show()
                    )
                except Exception as error:
                    if getattr(error, "status", 0) != 404:
                        raise
                    self._found = ""
            ours = [f"{LABEL}={self._id}"]
            theirs = [THEIRS, f"{THEIRS_ID}={self.spec.theirs}"]
            wanted = theirs if self.spec.theirs else ours
            listed = await client.containers.list(all=True, filters=json.dumps({"label": wanted}))
            if not listed:
                return None
            self._found = listed[0].id
            return cast(dict[str, Any], await listed[0].show())
        except Exception as error:
            if getattr(error, "status", 0) == 404:  # removed between the two
                return None
            raise told(error, self.engine) from error

    async def machine(self) -> Machine:
        """Its state; never raises."""
        where = self.engine.endpoint.url
        try:
            found = await self.find()
        except WorkspaceError as error:
            return Machine("failed", where, code=error.code, params=error.params)
        return Machine("absent", where) if found is None else machine_of(found, where)

    async def create(self, image: str) -> None:
        """Make it, stopped. One that somebody made meanwhile is taken as it is: never replaced."""
        client = await self.engine.client()
        config = self._config(image, self.spec.user or await self._person())
        try:
            made = await client.containers.create(config, name=self._name)
            self._found = made.id
        except Exception as error:
            if getattr(error, "status", 0) == 409 and await self._comes():
                return
            raise told(error, self.engine) from error

    async def _comes(self) -> bool:
        """Whether the one that holds the name is ours; its name is taken before it is listed."""
        for _ in range(100):
            if await self.find() is not None:
                return True
            await asyncio.sleep(0.05)
        return False

    async def _person(self) -> str:
        """Who owns in a mounted folder what the container makes: the person. An engine that runs
        without root shows them as root inside."""
        client = await self.engine.client()
        try:
            options: list[str] = (await client.system.info()).get("SecurityOptions") or []
        except Exception as error:
            raise told(error, self.engine) from error
        return "0:0" if any("rootless" in option for option in options) else host_user()

    def _config(self, image: str, user: str) -> dict[str, Any]:
        """The engine's request (Docker Engine API, ContainerCreate)."""
        spec, port = self.spec, f"{GATEWAY_PORT}/tcp"
        host: dict[str, Any] = {
            "Init": spec.init,
            "NanoCpus": int(spec.cpus * 1e9),
            "Memory": spec.memory << 20,
            "MemorySwap": spec.memory << 20,
            "PidsLimit": spec.pids,
            "CapDrop": ["ALL"],
            "CapAdd": list(spec.capabilities),
            "SecurityOpt": [] if spec.new_privileges else ["no-new-privileges"],
            "Binds": [f"{spec.mount}:{WORKDIR}:rw"] if spec.mount else [],
            "RestartPolicy": {"Name": "no"},
        }
        if spec.network:
            host["PortBindings"] = {port: [{"HostIp": "127.0.0.1", "HostPort": ""}]}
        else:
            host["NetworkMode"] = "none"
        return {
            "Image": image,
            "Labels": {LABEL: self._id},
            "User": user,
            "WorkingDir": WORKDIR,
            "Env": [f"{name}={value}" for name, value in spec.env.items()],
            "ExposedPorts": {port: {}} if spec.network else {},
            "StopTimeout": STOP_SECONDS,
            "HostConfig": host,
        }

    async def _do(self, method: str, **arguments: Any) -> None:
        found = await self.find()
        if found is None:
            raise WorkspaceError("docker.gone", detail=self._name)
        client = await self.engine.client()
        try:
            await getattr(client.containers.container(found["Id"]), method)(**arguments)
        except Exception as error:
            if getattr(error, "status", 0) == 304:  # it already is
                return
            raise told(error, self.engine) from error

    async def start(self) -> None:
        await self._do("start")

    async def unpause(self) -> None:
        await self._do("unpause")

    async def pause(self) -> None:
        await self._do("pause")

    async def stop(self) -> None:
        await self._do("stop", t=STOP_SECONDS)

    async def remove(self) -> None:
        await self._do("delete", force=True, v=True)
        self._found = ""

    async def owner(self) -> tuple[int, int]:
        """Uid and gid that it runs as."""
        found = await self.find()
        user = str((found or {}).get("Config", {}).get("User") or "0:0")
        uid, _, gid = user.partition(":")
        return int(uid), int(gid or uid)

    async def put(self, folder: str, tar: AsyncGenerator[bytes]) -> None:
        """Unpack a tar into a directory, by the engine itself."""
        client, found = await self.engine.client(), await self.find()
        if found is None:
            raise WorkspaceError("docker.gone", detail=self._name)
        try:
            await client.containers.container(found["Id"]).put_archive(folder, tar)
        except Exception as error:
            raise told(error, self.engine) from error

    async def get(self, path: str) -> AsyncGenerator[bytes]:
        """A directory as tar, by the engine itself, in pieces as they come (the library's own call
        keeps all of it in memory)."""
        found = await self.find()
        if found is None:
            raise WorkspaceError("docker.gone", detail=self._name)
        async with self._answer(f"containers/{found['Id']}/archive", path=path) as response:
            async for piece in response.content.iter_chunked(PIECE):
                yield piece

    async def written(self) -> int | None:
        """Bytes in the container's own layer: what goes when it is removed; 0 without one."""
        found = await self.find()
        if found is None:
            return 0
        client = await self.engine.client()
        try:
            sized = await client.containers.container(found["Id"]).show(size=1)
        except Exception as error:
            raise told(error, self.engine) from error
        size: Any = sized.get("SizeRw")
        return int(size) if isinstance(size, int) else None

    async def gateway_port(self) -> int | None:
        """The port of this computer that leads to the gateway; None when none is published."""
        found = await self.find()
        ports: Any = (found or {}).get("NetworkSettings", {}).get("Ports") or {}
        bound: Any = ports.get(f"{GATEWAY_PORT}/tcp")
        return int(bound[0]["HostPort"]) if bound else None

    async def logs(self, *, lines: int, follow: bool) -> AsyncGenerator[str]:
        """Lines of what its main process wrote."""
        client, found = await self.engine.client(), await self.find()
        if found is None:
            return
        one = client.containers.container(found["Id"])
        try:
            if not follow:
                for line in await one.log(stdout=True, stderr=True, tail=lines):
                    yield str(line).rstrip("\n")
                return
            stream = one.log(stdout=True, stderr=True, follow=True, tail=lines)
            async with aclosing(stream) as items:
                async for line in items:
                    yield str(line).rstrip("\n")
        except Exception as error:
            raise told(error, self.engine) from error

    async def usage(self) -> AsyncGenerator[Usage]:
        """Measurements about once a second until it stops."""
        found = await self.find()
        if found is None:
            return
        async with self._answer(f"containers/{found['Id']}/stats", stream="1") as response:
            async for line in response.content:  # one item a line
                if line.strip() and (usage := usage_of(json.loads(line))) is not None:
                    yield usage

    @asynccontextmanager
    async def _answer(self, place: str, **params: str) -> AsyncGenerator[Any]:
        """An answer that is read as it comes."""
        client = await self.engine.client()
        plain = {"Accept-Encoding": "identity"}  # packing would cost the engine more than sending
        try:
            async with client._query(place, "GET", params=params, headers=plain) as response:
                yield response
        except Exception as error:
            raise told(error, self.engine) from error


@dataclass(frozen=True, slots=True)
class Theirs:
    """A container that AgentScope made: the id of its workspace there, and what it is. ``mount`` is
    the folder of this computer at its working directory; empty without one."""

    id: str
    name: str
    image: str
    running: bool
    started_us: int
    mount: str


async def listed_theirs(engine: Engine) -> list[Theirs]:
    """Containers of AgentScope's at an engine, running or not; none of them is touched."""
    client = await engine.client()
    try:
        listed = await client.containers.list(all=True, filters=json.dumps({"label": [THEIRS]}))
    except Exception as error:
        raise told(error, engine) from error
    return [found for one in listed if (found := _theirs(one._container)) is not None]


def _theirs(raw: dict[str, Any]) -> Theirs | None:
    """From one item of ``GET /containers/json``; None when it does not name a workspace."""
    labels: dict[str, str] = raw.get("Labels") or {}
    mounts: list[dict[str, Any]] = raw.get("Mounts") or []
    at = [one for one in mounts if one.get("Destination") == WORKDIR and one.get("Type") == "bind"]
    return (
        Theirs(
            labels[THEIRS_ID],
            str((raw.get("Names") or [""])[0]).lstrip("/"),
            str(raw.get("Image", "")),
            raw.get("State") == "running",
            int(raw.get("Created") or 0) * 1_000_000,
            str(at[0].get("Source", "")) if at else "",
        )
        if labels.get(THEIRS_ID)
        else None
    )


def machine_of(found: dict[str, Any], engine: str) -> Machine:
    """From ``GET /containers/{id}/json``."""
    state, host = found["State"], found["HostConfig"]
    status = STATUS.get(state.get("Status", ""), "stopped")
    stopped = status == "stopped"
    return Machine(
        status,
        engine,
        str(found.get("Name", "")).lstrip("/"),
        str(found.get("Config", {}).get("Image", "")),
        _us(state.get("StartedAt", "")),
        0,
        (host.get("NanoCpus") or 0) / 1e9,
        host.get("Memory") or 0,
        state.get("ExitCode") if stopped else None,
        bool(state.get("OOMKilled")),
        volatile=_in_memory(found),
    )


def _in_memory(found: dict[str, Any]) -> bool:
    """Whether the working directory is below a tmpfs: the mount that is nearest above it says."""
    mounts: list[dict[str, Any]] = found.get("Mounts") or []
    kinds = {str(one.get("Destination")): str(one.get("Type")) for one in mounts}
    kinds |= dict.fromkeys(_part(found["HostConfig"], "Tmpfs"), "tmpfs")
    above = [at for at in kinds if f"{WORKDIR}/".startswith(at.rstrip("/") + "/")]
    return bool(above) and kinds[max(above, key=len)] == "tmpfs"


def _us(text: str) -> int:
    """RFC 3339 with nanoseconds to microseconds since 1970; the engine's zero time is 0."""
    found = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)", text)
    if found is None or text.startswith("0001"):
        return 0
    zone = "+00:00" if found[3] == "Z" else found[3]
    part = int(((found[2] or ".")[1:] + "000000")[:6])
    return int(datetime.fromisoformat(found[1] + zone).timestamp()) * 1_000_000 + part


def usage_of(raw: dict[str, Any]) -> Usage | None:
    """From one item of ``GET /containers/{id}/stats``, as ``docker stats`` reckons it: the share of
    the system's CPU time since the item before, times the CPUs; memory without the page cache that
    the kernel would give back. None for an item without figures (the container is down)."""
    cpu, before, memory = (_part(raw, f"{name}_stats") for name in ("cpu", "precpu", "memory"))
    if "usage" not in memory or "system_cpu_usage" not in cpu:
        return None
    used = cpu["cpu_usage"]["total_usage"] - _part(before, "cpu_usage").get("total_usage", 0)
    system = cpu["system_cpu_usage"] - before.get("system_cpu_usage", 0)
    share = used / system if system > 0 and "system_cpu_usage" in before else 0.0
    detail = _part(memory, "stats")
    cache = detail.get("total_inactive_file", detail.get("inactive_file", 0))
    networks: list[Any] = list(_part(raw, "networks").values())
    return Usage(
        now_us(),
        max(0.0, share * (cpu.get("online_cpus") or 1)),
        max(0, memory["usage"] - cache),
        memory.get("limit", 0),
        _part(raw, "pids_stats").get("current"),
        None,
        sum(one["rx_bytes"] for one in networks) if networks else None,
        sum(one["tx_bytes"] for one in networks) if networks else None,
    )


def _part(raw: dict[str, Any], name: str) -> dict[str, Any]:
    value: Any = raw.get(name)
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
