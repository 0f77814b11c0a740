"""The manager of opened workspaces: one opening an id, policy, use, time to live, closing."""

from __future__ import annotations

import asyncio
import time

import pytest

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.workspaces.manager import Isolation, WorkspaceManager


class Place:
    def __init__(self, name: str) -> None:
        self.name = name
        self.closed = 0

    async def close(self) -> None:
        await asyncio.sleep(0)
        self.closed += 1


class Rig:
    """Counts openings; an id in ``slow`` waits for its event; one in ``broken`` fails."""

    def __init__(self, **options: float | None) -> None:
        self.now = 0.0
        self.made: list[Place] = []
        self.slow: dict[str, asyncio.Event] = {}
        self.broken: set[str] = set()
        self.cancelled: list[str] = []
        self.manager = WorkspaceManager(self.open, clock=lambda: self.now, **options)  # type: ignore[arg-type]

    async def open(self, workspace_id: str) -> Place:
        try:
            if workspace_id in self.slow:
                await self.slow[workspace_id].wait()
        except asyncio.CancelledError:
            self.cancelled.append(workspace_id)
            raise
        if workspace_id in self.broken:
            raise WorkspaceError("docker.build", command="x", detail="y")
        self.made.append(Place(workspace_id))
        return self.made[-1]


async def test_a_hundred_who_ask_for_one_id_get_one() -> None:
    rig = Rig()
    rig.slow["a"] = asyncio.Event()
    asking = [asyncio.ensure_future(rig.manager.get_workspace("a")) for _ in range(100)]
    await asyncio.sleep(0)
    rig.slow["a"].set()
    assert {id(place) for place in await asyncio.gather(*asking)} == {id(rig.made[0])}
    assert len(rig.made) == 1


async def test_a_slow_build_delays_nobody_else() -> None:
    rig = Rig()
    rig.slow["slow"] = asyncio.Event()
    building = asyncio.ensure_future(rig.manager.get_workspace("slow"))
    await asyncio.sleep(0)
    used = time.thread_time()
    assert (await rig.manager.get_workspace("other")).name == "other"
    assert time.thread_time() - used < 0.005  # of this thread: the wall belongs to the machine
    assert not building.done()
    rig.slow["slow"].set()
    await building


async def test_a_failed_opening_fails_all_who_wait_and_the_next_tries_again() -> None:
    rig = Rig()
    rig.broken.add("a")
    results = await asyncio.gather(
        *(rig.manager.get_workspace("a") for _ in range(3)), return_exceptions=True
    )
    assert [getattr(one, "code", None) for one in results] == ["docker.build"] * 3
    rig.broken.clear()
    assert (await rig.manager.get_workspace("a")).name == "a"


async def test_who_gives_up_ends_the_opening_only_when_nobody_else_waits() -> None:
    rig = Rig()
    rig.slow["a"] = asyncio.Event()
    first, second = (asyncio.ensure_future(rig.manager.get_workspace("a")) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait([first])
    assert not rig.cancelled
    second.cancel()
    await asyncio.wait([second])
    await asyncio.sleep(0)
    assert rig.cancelled == ["a"]
    rig.slow["a"].set()
    assert (await rig.manager.get_workspace("a")).name == "a"


async def test_what_is_used_is_never_closed_under_its_user() -> None:
    rig = Rig(ttl=10.0)
    async with rig.manager.use("a") as place:
        rig.now = 100.0
        assert await rig.manager.sweep() == []
        closing = asyncio.ensure_future(rig.manager.close("a"))
        await asyncio.sleep(0)
        assert (place.closed, closing.done()) == (0, False)
    await closing
    assert place.closed == 1


async def test_the_time_to_live_counts_from_the_last_use() -> None:
    rig = Rig(ttl=10.0)
    place = await rig.manager.get_workspace("a")
    rig.now = 9.0
    async with rig.manager.use("a"):
        rig.now = 18.0
    rig.now = 27.0
    assert await rig.manager.sweep() == []
    rig.now = 28.0
    assert await rig.manager.sweep() == ["a"]
    assert place.closed == 1
    assert await rig.manager.get_workspace("a") is not place


async def test_without_a_time_to_live_nothing_is_swept() -> None:
    rig = Rig(ttl=None)
    await rig.manager.get_workspace("a")
    rig.now = 1e9
    assert await rig.manager.sweep() == []
    assert rig.manager.opened() == {"a": rig.made[0]}


async def test_closing_all_ends_openings_too_and_refuses_more() -> None:
    rig = Rig()
    place = await rig.manager.get_workspace("a")
    rig.slow["b"] = asyncio.Event()
    opening = asyncio.ensure_future(rig.manager.get_workspace("b"))
    await asyncio.sleep(0)
    await rig.manager.close_all()
    assert place.closed == 1
    assert rig.cancelled == ["b"]
    assert isinstance((await asyncio.gather(opening, return_exceptions=True))[0], BaseException)
    with pytest.raises(WorkspaceError) as raised:
        await rig.manager.get_workspace("c")
    assert raised.value.code == "backend.closed"


async def test_one_that_does_not_close_does_not_keep_the_others_open() -> None:
    rig = Rig()
    bad, good = await rig.manager.get_workspace("bad"), await rig.manager.get_workspace("good")

    async def fail() -> None:
        raise WorkspaceError("docker.failed", status=500, detail="")

    bad.close = fail  # type: ignore[method-assign]
    await rig.manager.close_all()
    assert good.closed == 1


@pytest.mark.parametrize(
    ("share", "same", "other"),
    [
        ("user", ("u", "b", "2"), ("v", "a", "1")),
        ("agent", ("u", "a", "2"), ("u", "b", "1")),
        ("session", ("u", "a", "1"), ("u", "a", "2")),
    ],
)
async def test_the_policy_says_who_shares(share, same, other) -> None:
    policy = Isolation(share)
    mine = policy.workspace_id("u", "a", "1")
    assert policy.workspace_id(*same) == mine
    assert policy.workspace_id(*other) != mine


def test_no_id_is_a_path_and_no_two_keys_meet() -> None:
    policy = Isolation("session")
    hostile = policy.workspace_id("../../evil", "a/b", "..")
    assert len(hostile) == 32
    assert int(hostile, 16) >= 0
    assert policy.workspace_id("ab", "c", "") != policy.workspace_id("a", "bc", "")
