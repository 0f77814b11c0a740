"""The table over every backend: rows from the catalogue, figures of what is watched."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from subprocess import DEVNULL

import pytest

from desktop_app.core import overview as overview_module
from desktop_app.core.catalog import WorkspacesChanged, WorkspaceSummary
from desktop_app.core.errors import SlipwayError
from desktop_app.core.ids import now_us
from desktop_app.core.overview import Overview
from desktop_app.core.overview_row import OverviewRow, engine_name, spent
from desktop_app.core.paths import paths
from desktop_app.core.service import Slipway
from desktop_app.core.spending import HOUR_US, month_start_us
from desktop_app.core.workspaces.docker.discovery import Endpoint
from desktop_app.core.workspaces.docker.engines import Engines, Tried
from desktop_app.core.workspaces.docker.spec import DockerSpec
from desktop_app.core.workspaces.e2b.spec import E2BSpec
from desktop_app.core.workspaces.mcp_write import NewServer
from desktop_app.core.workspaces.remote.managed import looking
from tests.helpers.docker import base_image, engine_or_skip, remove_leftovers
from tests.helpers.e2b_cloud import cloud_or_skip


@pytest.fixture
async def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Slipway]:
    monkeypatch.setenv("SLIPWAY_KEYRING", "none")
    made = await Slipway.open(paths(tmp_path / "home"))
    yield made
    ids = [row.id for row in await made.db.workspaces() if row.backend == "docker"]
    assert await made.close(30) == []
    for workspace_id in ids:
        await asyncio.to_thread(remove_leftovers, workspace_id)


@pytest.fixture
async def overview(service: Slipway) -> AsyncIterator[Overview]:
    made = Overview(service, service.servers_up)
    yield made
    await made.close()


async def until(done: Callable[[], object], seconds: float = 20) -> None:
    async with asyncio.timeout(seconds):
        while not done():
            await asyncio.sleep(0.02)


async def docker(*words: str) -> None:
    """What somebody else does with a container."""
    done = await asyncio.create_subprocess_exec("docker", *words, stdout=DEVNULL)
    assert await done.wait() == 0


class Relay:
    """A socket that leads to another, and can be cut."""

    def __init__(self, target: str, path: Path) -> None:
        self._target, self.path = target, path
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Relay:
        await self.mend()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.cut()

    async def mend(self) -> None:
        self._server = await asyncio.start_unix_server(self._serve, self.path)

    async def cut(self) -> None:
        """Nothing answers any more, and what is open breaks."""
        assert self._server is not None
        self._server.close()
        self.path.unlink(missing_ok=True)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            there, back = await asyncio.open_unix_connection(self._target)
            try:
                ways = (_carry(reader, back), _carry(there, writer))
                await asyncio.gather(*ways)
            finally:
                back.transport.abort()
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()
            self._tasks.discard(task)


async def _carry(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while data := await source.read(1 << 16):
        target.write(data)
        await target.drain()
    if target.can_write_eof():
        target.write_eof()


async def a_folder(service: Slipway, place: Path, name: str) -> str:
    (place / name).mkdir()
    return (await service.add_folder(str(place / name), trusted=True)).id


async def test_rows_follow_what_happens(
    service: Slipway, overview: Overview, tmp_path: Path
) -> None:
    told: list[tuple[list[str], list[str]]] = []
    overview.listen(lambda rows, gone: told.append(([row.name for row in rows], gone)))
    first = await a_folder(service, tmp_path, "one")
    assert [row.name for row in await overview.load()] == ["one"]
    second = await a_folder(service, tmp_path, "two")
    await until(lambda: overview.row(second))
    await service.new_session(first)
    await until(lambda: (row := overview.row(first)) and row.sessions == 1)
    assert told[-1] == (["one"], []), "only what changed is told"
    await service.forget_workspace(second)
    await until(lambda: told[-1] == ([], [second]))
    (tmp_path / "one").rename(tmp_path / "elsewhere")
    overview.watch([first])
    await until(lambda: (row := overview.row(first)) and row.state == "missing")


async def test_what_is_watched_is_counted_and_nothing_else(
    service: Slipway, overview: Overview, tmp_path: Path
) -> None:
    seen = await a_folder(service, tmp_path, "seen")
    unseen = await a_folder(service, tmp_path, "unseen")
    for workspace_id in (seen, unseen):
        workspace = await service.workspace(workspace_id)
        skill = Path(workspace.info.root) / "skills" / "default" / "greet"
        await asyncio.to_thread(skill.mkdir, parents=True)
        (skill / "SKILL.md").write_text("---\nname: greet\ndescription: Says hello.\n---\nHello.\n")
        await workspace.mcp_writer().add(("", ""), NewServer("one", command=("true",)))
        await workspace.refresh()
    await overview.load()
    overview.watch([seen])
    await until(lambda: (row := overview.row(seen)) and row.skills is not None)
    row = overview.row(seen)
    assert row is not None
    assert (row.skills, row.servers, row.servers_up, row.offloaded) == (1, 1, 0, 0)
    other = overview.row(unseen)
    assert other is not None
    assert other.skills is None


async def test_a_workspace_that_left_while_it_was_looked_at_stays_out(
    service: Slipway, overview: Overview, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look at a machine takes as long as its engine does."""
    (tmp_path / "one").mkdir()
    info = await service.add_folder(str(tmp_path / "one"), trusted=True)
    await overview.load()
    gone: list[str] = []
    overview.listen(lambda _rows, left: gone.extend(left))
    looking_, seen, go = service.summary, asyncio.Event(), asyncio.Event()

    async def slow(workspace_id: str) -> WorkspaceSummary | None:
        found = await looking_(workspace_id)
        if found is not None:
            seen.set()
            await go.wait()
        return found

    monkeypatch.setattr(service, "summary", slow)
    service.tell(WorkspacesChanged(info.id))
    await asyncio.wait_for(seen.wait(), 20)
    await service.forget_workspace(info.id)
    await until(lambda: gone)  # a look that began later came first
    go.set()
    await until(lambda: len(overview._tasks) == 0)
    assert overview.row(info.id) is None


async def test_a_docker_container_that_runs_is_measured_while_it_is_watched(
    service: Slipway, overview: Overview
) -> None:
    await engine_or_skip().close()
    spec = DockerSpec(base_image=base_image(), network=False, cpus=1.0, memory=256)
    info = await service.machines.create("a box", spec)
    (row,) = await overview.load()
    assert (row.kind, row.state, row.cpus, row.memory_limit) == (
        *("docker", "stopped", 1.0, 256 << 20),
    )
    overview.watch([info.id])
    await asyncio.sleep(0.3)
    assert (await service.workspace(info.id)).info.state == "stopped", "looking starts nothing"
    await service.machines.do(info.id, "start")
    await until(lambda: (row := overview.row(info.id)) and row.memory)
    row = overview.row(info.id)
    assert row is not None
    await until(lambda: (row := overview.row(info.id)) and "://" not in row.engine)
    await until(lambda: (row := overview.row(info.id)) and row.disk is not None)
    assert overview.points(info.id)[0].memory > 0
    overview.watch([])
    assert not overview._streams
    await service.machines.do(info.id, "stop")
    await until(lambda: (row := overview.row(info.id)) and row.state == "stopped")
    row = overview.row(info.id)
    assert row is not None
    assert row.cpu is row.memory is None


async def test_a_docker_engine_tells_of_a_container_that_somebody_else_paused(
    service: Slipway, overview: Overview, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By events alone: nobody looks. And by looking again when the engine went and came back."""
    found = engine_or_skip()
    socket = found.endpoint.url.removeprefix("unix://")
    await found.close()
    if not Path(socket).is_socket():
        pytest.skip("the engine is not behind a socket of this computer")
    monkeypatch.setattr(overview_module, "LOOK_SECONDS", 3600.0)
    async with Relay(socket, tmp_path / "engine.sock") as relay:
        endpoint = Endpoint(f"unix://{relay.path}", "chosen")
        service.places.engines = Engines(look=lambda _chosen: [endpoint])
        spec = DockerSpec(base_image=base_image(), network=False)
        info = await service.machines.create("a box", spec)
        await service.machines.do(info.id, "start")
        await overview.load()
        overview.watch([info.id])
        await until(lambda: overview._hearing.on, 60)
        workspace = await service.machines.of(info.id)
        assert workspace is not None
        container = workspace.machine.name

        def state() -> str:
            row = overview.row(info.id)
            return row.state if row is not None else ""

        await docker("pause", container)
        await until(lambda: state() == "paused", 60)
        assert service.happenings.of(info.id)[0].params == {"elsewhere": True}
        await docker("unpause", container)
        await until(lambda: state() == "ready", 60)
        await relay.cut()
        await until(lambda: not overview._hearing.on and state() == "error", 60)
        await docker("pause", container)
        await relay.mend()
        await until(lambda: overview._hearing.on and state() == "paused", 60)
        await docker("unpause", container)
        overview.watch([])
        await service.machines.do(info.id, "remove")


async def test_an_e2b_sandbox_costs_what_the_person_said(
    service: Slipway, overview: Overview
) -> None:
    with cloud_or_skip() as cloud:
        account = service.places.e2b
        account.api_url = account.sandbox_url = cloud.url
        account._key = cloud.key
        info = await service.machines.create("in the cloud", E2BSpec(price=0.2))
        await service.machines.do(info.id, "start")
        (row,) = await overview.load()
        assert row.up
        assert row.ends_us > row.started_us > 0
        assert row.cost(row.started_us + 1_800_000_000) == pytest.approx(0.1)
        overview.watch([info.id])
        await until(lambda: (row := overview.row(info.id)) and row.disk is not None)
        overview.watch([])
        await service.machines.do(info.id, "pause")
        await until(lambda: (row := overview.row(info.id)) and row.state == "paused")
        row = overview.row(info.id)
        assert row is not None
        assert row.ends_us == row.spent_us == 0
        spent_then = row.cost(row.used_us)
        assert spent_then, "what it cost stays"
        assert row.cost(row.used_us + HOUR_US) == spent_then, "paused it costs no more"
        await service.machines.do(info.id, "remove")


async def test_looking_never_resumes_an_e2b_sandbox_that_was_just_paused(
    service: Slipway, overview: Overview
) -> None:
    """A list that counts may still think that it runs: a paused one costs nothing, and stays so."""
    with cloud_or_skip() as cloud:
        account = service.places.e2b
        account.api_url = account.sandbox_url = cloud.url
        account._key = cloud.key
        info = await service.machines.create("in the cloud", E2BSpec())
        await service.machines.do(info.id, "start")
        await overview.load()
        workspace = await service.machines.of(info.id)
        assert workspace is not None
        (box,) = cloud.boxes.values()
        await workspace.sandbox.pause()  # type: ignore[attr-defined] - elsewhere, unknown to us
        await workspace.remote.hang_up()
        assert workspace.info.state == "ready"
        for _ in range(2):  # what is known only now, and what is known already
            with looking(), pytest.raises(SlipwayError):
                await workspace.list_skills(agent_id="default")
            await workspace.refresh()
        assert workspace.info.state == "paused"
        overview.watch([info.id])
        await until(lambda: (row := overview.row(info.id)) and row.state == "paused")
        assert box.state == "paused"
        await workspace.list_skills(agent_id="default")  # a use does what looking does not
        assert box.state == "running"
        await service.machines.do(info.id, "remove")


def test_an_engine_is_named_in_short() -> None:
    plain, rootless = Endpoint("unix:///a", "default"), Endpoint("unix:///b", "rootless")
    community = Tried(plain, "Docker Engine - Community", "29.1.3")
    assert engine_name(community) == "Docker 29.1"
    assert engine_name(Tried(rootless, "Engine", "20.10.24+dfsg1")) == "Docker 20.10 · rootless"
    assert engine_name(Tried(plain, "Podman Engine", "5.2.1")) == "Podman 5.2"


def test_what_has_no_price_costs_nothing_that_is_known() -> None:
    row = OverviewRow("a", "a", "e2b", "ready", spent_us=1, price=0.0)
    assert row.cost(5) is None
    priced = replace(row, price=1.0)
    stopped = replace(priced, state="stopped", spent=0.5)
    assert spent([row, priced, stopped], 1 + HOUR_US) == pytest.approx(1.5)


async def test_this_months_cost_goes_on_with_what_runs_now(overview: Overview) -> None:
    began = month_start_us(now_us())
    row = OverviewRow("a", "a", "e2b", "ready", price=1.0, spent_us=began - HOUR_US)
    overview._rows = {"a": row, "b": replace(row, id="b", state="paused", spent_us=0)}
    assert overview.month_cost(began + 2 * HOUR_US) == pytest.approx(2.0), "not of last month"
    overview._shelf.spending.see("gone", running=True, price=3.0, at_us=began)
    overview._shelf.spending.see("gone", running=False, price=3.0, at_us=began + HOUR_US)
    assert overview.month_cost(began + 2 * HOUR_US) == pytest.approx(5.0)
