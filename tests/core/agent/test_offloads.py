"""What a session offloaded is listed and read out of its own journal, whichever store keeps it."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from desktop_app.core.agent.policy import Policy
from desktop_app.core.errors import SessionError
from desktop_app.core.messages import Base64Source, DataBlock, Msg, ToolResultBlock, URLSource
from tests.helpers.filling import fill, long_session
from tests.helpers.sessions import Bench, collect

PNG = base64.b64encode(b"\x89PNG not really").decode()


class Vault:
    """A store of a person's own."""

    def __init__(self) -> None:
        self.works = True

    async def offload_context(self, session_id: str, msgs: list[Msg], **kwargs: Any) -> str:
        return self._place(f"{session_id}/{kwargs['number']}")

    async def offload_tool_result(
        self, session_id: str, tool_result: ToolResultBlock, **kwargs: Any
    ) -> str:
        return self._place(f"{session_id}/{tool_result.id}")

    async def offload_data_block(self, block: DataBlock) -> DataBlock:
        url = self._place(f"data/{block.id}")
        return DataBlock(id=block.id, source=URLSource(url=url, media_type="image/png"))

    def _place(self, name: str) -> str:
        if not self.works:
            raise OSError("the vault is shut")
        return f"vault://{name}"


def bench(folder: Path, offloader: Any = None) -> Bench:
    made = long_session(folder, 20, window=131_072)  # no turn compacts by itself
    made.policy = Policy("remind")
    made.offloader = offloader
    return made


async def test_a_store_of_ones_own_is_named_with_the_place_it_gave(tmp_path: Path) -> None:
    world = bench(tmp_path, vault := Vault())
    c = await world.open()
    await fill(c, 3)
    [result, *_] = [b for m in c.state.context for b in m.content if b.type == "tool_result"]
    whole = await c.whole_result(result.id)
    await c.offload_now(result.id)
    vault.works = False
    record = await c.accept_compaction(await c.propose_compaction())
    await c.outbox.deliver()
    newest, *rest = await c.offloads()
    assert (newest.kind, newest.place, newest.store) == ("messages", "", ""), "still on its way"
    assert newest.why is not None
    assert newest.why[0] == "offload.refused"
    assert newest.items >= len(record.covered_ids) > 0
    said = (await c.offload_content(newest.id)).decode()
    assert said.count("\n") == newest.items, "read all the same: the journal has it"
    vault.works = True
    await c.outbox.deliver()
    arrived = (await c.offloads())[0]
    assert arrived.place.startswith("vault://s1/")
    assert (arrived.store, arrived.why) == ("Vault", None)
    one = next(k for k in rest if k.name.endswith(f"tool_result-{result.id}.txt"))
    assert (one.label, one.place, one.store) == (result.name, f"vault://s1/{result.id}", "Vault")
    assert (await c.offload_content(one.id)).decode() == whole
    await c.close()
    await world.close()


async def test_the_same_list_where_the_workspace_keeps_them(tmp_path: Path) -> None:
    world = bench(tmp_path)
    c = await world.open()
    await fill(c, 2)
    await c.accept_compaction(await c.propose_compaction())
    await c.outbox.deliver()
    found = await c.offloads()
    assert {k.store for k in found} == {""}
    assert found[0].place == "sessions/s1/context.jsonl"
    assert [k.ts_us for k in found] == sorted((k.ts_us for k in found), reverse=True)
    for kept in found:
        assert len(await c.offload_content(kept.id)) == kept.bytes
    await c.close()
    again = await world.open()
    assert await again.offloads() == found, "after a restart too"
    with pytest.raises(SessionError, match=r"offload\.unknown"):
        await again.offload_content("nothing")
    await again.close()
    await world.close()


async def test_an_image_is_listed_beside_the_message_that_held_it(tmp_path: Path) -> None:
    world = bench(tmp_path, Vault())
    c = await world.open()
    image = DataBlock(id="i", source=Base64Source(data=PNG, media_type="image/png"))
    staged = await c.outbox.stage_messages(
        "s1", [Msg(id="m", name="u", role="user", content=[image])]
    )
    c.outbox.add(await c.log.journal.append(staged.records, draft=None))
    await c.outbox.deliver()
    messages, data = await c.offloads()
    assert (data.kind, data.store) == ("data", "Vault")
    assert await c.offload_content(data.id) == base64.b64decode(PNG)
    assert messages.place.startswith("vault://")
    await collect(c.send("Hello."))
    await c.close()
    await world.close()
