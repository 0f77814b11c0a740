"""A sandbox whose time was over while the program was not there: real SDK, a cloud on this
computer, a real conversation."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from desktop_app.core.agent.conversation import SessionConversation
from desktop_app.core.events import Event, RunFinished, ToolFinished
from desktop_app.core.messages import Msg
from desktop_app.core.models.scripted import Call, Say, ScriptedModel
from desktop_app.core.paths import paths
from desktop_app.core.service import Slipway
from desktop_app.core.sessions.base import SessionKey
from desktop_app.core.workspaces.e2b.spec import E2BSpec
from tests.helpers.e2b_cloud import Cloud, cloud_or_skip
from tests.helpers.sessions import collect, of

WRITE = [Call("Bash", {"command": "echo begun > begun.txt; echo written"})]
READ = [Call("Bash", {"command": "cat begun.txt || echo nothing there"})]


async def opened(home: Path, cloud: Cloud, *turns: object) -> Slipway:
    service = await Slipway.open(paths(home))
    account = service.places.e2b
    account.api_url = account.sandbox_url = cloud.url
    account._key = cloud.key
    model = ScriptedModel(list(turns), titles=[[Say("A title")]])
    service.models.add(model.info, lambda: model)
    service.default_model = model.info.id
    return service


async def turn(service: Slipway, key: SessionKey) -> str:
    """One turn; what its call gave."""
    conversation = await service.conversation(key)
    assert isinstance(conversation, SessionConversation)
    await conversation.set_mode("bypass")
    events: list[Event] = await collect(conversation.send("Go on"))
    assert of(events, RunFinished)[0].reason == "completed"
    return json.dumps(of(events, ToolFinished)[0].result.model_dump()["output"])


@pytest.mark.parametrize("pauses", [True, False], ids=["paused", "gone"])
async def test_e2b_sandbox_that_expired_while_the_window_was_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pauses: bool
) -> None:
    monkeypatch.setenv("SLIPWAY_KEYRING", "none")
    with cloud_or_skip() as cloud:
        service = await opened(tmp_path / "home", cloud, WRITE, [Say("Done.")])
        info = await service.machines.create("in the cloud", E2BSpec(auto_pause=pauses))
        key = await service.new_session(info.id)
        assert "written" in await turn(service, key)
        await (await service.workspace(info.id)).offload_context("s1", [Msg.user("left")])
        copy, _ = await service.machines.rescue(info.id)
        assert await service.close() == []
        (box,) = cloud.boxes.values()
        cloud.call(lambda: box.resume(60))  # a program that was killed does not pause it
        cloud.expire()
        assert (len(cloud.boxes), box.state) == ((1, "paused") if pauses else (0, "dead"))

        service = await opened(tmp_path / "home", cloud, READ, [Say("I see.")])
        await service.refresh_workspace(info.id)
        (shown,) = await service.list_workspaces()
        assert shown.info.state == ("paused" if pauses else "stopped"), "said in the list"
        gone = {"code": "workspace.machine_gone", "machine": box.id}
        assert shown.info.params == ({} if pauses else gone)
        assert [one.key for one in shown.sessions] == [key], "the session is kept"
        assert await service.machines.rescued(info.id) == str(copy)
        said = await turn(service, key)  # the one step that leads on
        assert ("begun" if pauses else "nothing there") in said
        assert cloud.counts["create"] == (1 if pauses else 2)
        history = (await (await service.conversation(key)).history(limit=100)).entries
        assert len(history) >= 4, "both turns are in it"
        (shown,) = await service.list_workspaces()
        assert (shown.info.state, shown.info.params) == ("ready", {})
        await service.machines.do(info.id, "remove")
        (shown,) = await service.list_workspaces()
        assert shown.info.params == {}, "who removed it knows"
        assert await service.close() == []


async def test_e2b_sandbox_is_listed_and_put_away_where_the_catalogue_takes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A newer program made the catalogue: it is read, and nobody may write in it."""
    monkeypatch.setenv("SLIPWAY_KEYRING", "none")
    with cloud_or_skip() as cloud:
        service = await opened(tmp_path / "home", cloud)
        info = await service.machines.create("in the cloud", E2BSpec())
        assert await service.close() == []
        with sqlite3.connect(service.paths.data / "app.db") as raw:
            raw.execute("PRAGMA user_version=99")
        raw.close()
        service = await opened(tmp_path / "home", cloud)
        await service.machines.do(info.id, "start")
        (shown,) = await service.list_workspaces()
        assert shown.info.state == "ready"
        assert await service.close() == []
        (box,) = cloud.boxes.values()
        assert box.state == "paused"
