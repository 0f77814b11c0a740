"""A workspace in a sandbox: the real SDK against a cloud on this computer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import replace

import pytest

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.ids import now_us
from desktop_app.core.messages import Msg
from desktop_app.core.workspaces.e2b.account import Account
from desktop_app.core.workspaces.e2b.sandbox import listed, orphans
from desktop_app.core.workspaces.e2b.spec import E2BSpec
from desktop_app.core.workspaces.e2b.workspace import E2BWorkspace
from desktop_app.core.workspaces.remote.managed import Progress
from tests.helpers.e2b_cloud import Cloud, cloud_or_skip


@pytest.fixture(scope="module")
def module_cloud() -> Iterator[Cloud]:
    with cloud_or_skip() as made:
        yield made


@pytest.fixture
def cloud(module_cloud: Cloud) -> Cloud:
    module_cloud.call(module_cloud.reset)
    return module_cloud


@pytest.fixture
def account(cloud: Cloud) -> Account:
    return Account(cloud.key, api_url=cloud.url, sandbox_url=cloud.url)


@pytest.fixture
async def workspace(account: Account) -> AsyncIterator[E2BWorkspace]:
    made = a_workspace(account)
    await made.initialize()
    yield made
    await made.close()


def a_workspace(account: Account, workspace_id: str = "w1", **spec: object) -> E2BWorkspace:
    whole = replace(E2BSpec(env={"GREETING": "hello"}), **spec)
    return E2BWorkspace(whole, account, id=workspace_id, name="Täglich", trusted=True)


async def test_e2b_opening_makes_nothing_and_the_first_use_does(
    workspace: E2BWorkspace, cloud: Cloud
) -> None:
    told: list[Progress] = []
    workspace.watch_progress(told.append)
    assert (workspace.info.state, workspace.machine.status) == ("stopped", "absent")
    await workspace.offload_context("s1", [Msg.user("left the context")])
    assert workspace.info.state == "ready"
    assert [one.stage for one in told] == ["engine", "create", "connect"]
    assert cloud.counts["create"] == 1
    (box,) = cloud.boxes.values()
    assert box.body["metadata"] == {"slipway.workspace": "w1", "slipway.name": "Täglich"}
    assert box.body["autoPause"] is True
    assert (box.home / "workspace/.slipway/sessions/s1/context.jsonl").exists()


async def test_e2b_disk_is_as_it_was_after_a_pause_and_in_another_program(
    workspace: E2BWorkspace, account: Account, cloud: Cloud
) -> None:
    await workspace.start()
    await workspace.get_backend().write("notes/a.txt", b"kept")
    assert (await workspace.pause()).state == "paused"
    again = a_workspace(account)  # found by its metadata
    await again.initialize()
    assert again.info.state == "paused"
    assert [entry.path for entry in await again.list_offloads()] == []  # resumes it
    assert await again.get_backend().read_bytes("notes/a.txt") == b"kept"
    assert cloud.counts["create"] == 1
    await again.close()
    (box,) = cloud.boxes.values()
    assert box.state == "paused"


async def test_e2b_pause_holds_against_whoever_only_looks(
    workspace: E2BWorkspace, cloud: Cloud
) -> None:
    await workspace.start()
    for _ in range(5):
        looks = [asyncio.ensure_future(workspace.refresh()) for _ in range(4)]
        await asyncio.sleep(0)  # some are under way when it is put away
        paused, *_ = await asyncio.gather(workspace.pause(), *looks)
        assert paused.state == "paused"
        (box,) = cloud.boxes.values()
        assert box.state == "paused"
        await workspace.get_backend().write("notes/a.txt", b"use")
        assert (await workspace.refresh(), box.state)[1] == "running"


async def test_e2b_environment_reaches_every_process(workspace: E2BWorkspace) -> None:
    await workspace.start()
    result = await workspace.get_backend().exec(["sh", "-c", "echo $GREETING; pwd"])
    assert result.stdout == b"hello\n/home/user/workspace\n"


async def test_e2b_lease_that_ended_meanwhile_is_told_and_the_next_use_resumes(
    workspace: E2BWorkspace, cloud: Cloud
) -> None:
    await workspace.start()
    await workspace.get_backend().write("a.txt", b"kept")
    running = workspace.get_backend().run(["sleep", "60"])
    waiting = asyncio.ensure_future(anext(running))
    while not any(p.config.args for box in cloud.boxes.values() for p in box.processes.values()):
        await asyncio.sleep(0.01)
    cloud.expire()
    ended = (await asyncio.gather(waiting, return_exceptions=True))[0]
    assert isinstance(ended, WorkspaceError)
    assert (ended.code, ended.retryable) == ("backend.unreachable", True)
    assert await workspace.changed()
    assert (await workspace.refresh()).state == "paused"
    assert await workspace.list_offloads() == []
    assert await workspace.get_backend().read_bytes("a.txt") == b"kept"


async def test_e2b_sandbox_that_is_gone_is_told_and_made_anew(
    workspace: E2BWorkspace, account: Account, cloud: Cloud
) -> None:
    await workspace.start()
    (box_id,) = cloud.boxes
    workspace.set_spec(replace(workspace.spec, auto_pause=False))
    await workspace.remove()
    assert (await workspace.refresh()).state == "stopped"
    assert workspace.machine.status == "absent"
    await workspace.start()
    assert list(cloud.boxes) != [box_id]
    cloud.expire()  # without auto-pause its disk goes with it
    assert (await workspace.refresh()).state == "stopped"
    assert cloud.boxes == {}


async def test_e2b_never_makes_a_second_one_when_the_list_fails(
    workspace: E2BWorkspace, cloud: Cloud
) -> None:
    cloud.failing["list"] = [500] * 20
    with pytest.raises(WorkspaceError) as raised:
        await workspace.start()
    assert raised.value.code == "e2b.busy", "its own fault: it may be tried again"
    assert raised.value.retryable
    assert cloud.counts["create"] == 0
    assert workspace.info.state == "error"
    del cloud.failing["list"]
    assert (await workspace.start()).state == "ready"


async def test_e2b_never_makes_a_second_one_when_the_answer_was_lost(
    workspace: E2BWorkspace, account: Account, cloud: Cloud
) -> None:
    cloud.lost_answers.add("create")
    with pytest.raises(WorkspaceError):
        await workspace.start()
    cloud.lost_answers.clear()
    await workspace.start()
    assert len(cloud.boxes) == 1


async def test_e2b_makes_one_however_many_ask(workspace: E2BWorkspace, cloud: Cloud) -> None:
    infos = await asyncio.gather(*(workspace.start() for _ in range(10)))
    assert {info.state for info in infos} == {"ready"}
    assert cloud.counts["create"] == 1


async def test_e2b_lease_is_shown_and_extended(workspace: E2BWorkspace, cloud: Cloud) -> None:
    await workspace.start()
    left = (workspace.machine.ends_us - now_us()) / 1e6
    assert 3500 < left <= 3600
    await workspace.extend(7200)
    assert (workspace.machine.ends_us - now_us()) / 1e6 > 7000


async def test_e2b_lease_of_a_sandbox_in_use_does_not_run_out(
    account: Account, cloud: Cloud
) -> None:
    workspace = a_workspace(account, timeout=30)
    workspace.spec = workspace.sandbox.spec = replace(workspace.spec, timeout=2)
    await workspace.initialize()
    stream = workspace.get_backend().run(["sh", "-c", "sleep 3; echo through"])
    await workspace.start()
    async with aclosing(stream) as events:
        first = await anext(events)
    assert getattr(first, "data", b"") == b"through\n"
    assert cloud.counts["timeout"] >= 1
    await workspace.remove()
    await workspace.close()


async def test_e2b_measurements_are_the_control_planes(workspace: E2BWorkspace) -> None:
    await workspace.start()
    async with aclosing(workspace.usage()) as items:
        one = await anext(items)
    assert (one.cpu, one.memory_limit) == (0.5, 512 << 20)  # 25 % of two
    await workspace.get_backend().write("big", b"x" * 200_000)
    measured, kept = await workspace.loss()
    assert measured is not None
    assert (measured >= 200_000, kept) == (True, "")


async def test_e2b_sandboxes_without_an_owner_are_listed_page_by_page(
    account: Account, cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("desktop_app.core.workspaces.e2b.sandbox.PAGE", 2)
    made = [a_workspace(account, f"w{n}") for n in range(5)]
    for one in made:
        await one.initialize()
        await one.start()
    assert len(await listed(account)) == 5
    found = await orphans(account, {"w0", "w1", "w2"})
    assert sorted(one.workspace_id for one in found) == ["w3", "w4"]
    assert {one.metadata["slipway.name"] for one in found} == {"Täglich"}
    for one in made:
        await one.remove()
        await one.close()


async def test_e2b_without_a_key_or_with_a_wrong_one_says_so(cloud: Cloud, monkeypatch) -> None:
    monkeypatch.delenv("E2B_API_KEY", raising=False)

    async def none() -> str:
        return ""

    async def wrong() -> str:
        return "e2b_wrong"

    for key, code in ((none, "e2b.no_key"), (wrong, "e2b.key")):
        workspace = a_workspace(Account(key, api_url=cloud.url, sandbox_url=cloud.url))
        await workspace.initialize()
        assert workspace.info.state == "error"
        assert workspace.info.params["code"] == code
        await workspace.close()


async def test_e2b_that_cannot_be_reached_is_told(cloud: Cloud) -> None:
    workspace = a_workspace(Account(cloud.key, api_url="http://127.0.0.1:9", sandbox_url=cloud.url))
    await workspace.initialize()
    assert workspace.info.params["code"] == "e2b.unreachable"
    await workspace.close()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("template", "a b"),
        ("timeout", 5),
        ("timeout", 100_000),
        ("env", {"A B": ""}),
        ("price", -1),
    ],
)
def test_e2b_values_that_cannot_be_are_refused(name: str, value: object) -> None:
    with pytest.raises(WorkspaceError) as raised:
        replace(E2BSpec(), **{name: value}).check()
    assert (raised.value.code, raised.value.params["field"]) == ("e2b.spec", name)


def test_e2b_what_is_kept_has_no_value_of_the_environment_and_comes_back() -> None:
    spec = E2BSpec(template="py:2", env={"TOKEN": "secret-value"}, price=1)
    assert "secret-value" not in str(spec.kept())
    assert E2BSpec.of(spec.kept(), {"TOKEN": "secret-value"}) == replace(spec, price=1.0)
    assert E2BSpec.of({"timeout": "long", "auto_pause": 1, "later": 2}) == E2BSpec()
