"""An image taken out of the prompt by hand: a line stays, the bytes are in the workspace."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path

import pytest

from desktop_app.core.agent.base import Attachment
from desktop_app.core.errors import ContextError
from desktop_app.core.messages import Base64Source, DataBlock
from desktop_app.core.models.scripted import Say, ScriptedModel
from desktop_app.core.sessions.sqlite import SqliteJournalStore
from tests.helpers.sessions import Bench, collect

# What a decoder looks at first: the signature and the header with width and height.
PNG = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + struct.pack(">II", 800, 600) + b"\x08\x02\0\0\0"


def picture(name: str) -> Attachment:
    source = Base64Source(
        data=base64.b64encode(PNG + name.encode()).decode(), media_type="image/png"
    )
    return Attachment(name, "image/png", data=DataBlock(id=name, name=name, source=source))


async def test_one_of_two_goes_and_comes_back(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    model = ScriptedModel([[Say("I see.")]], titles=[[Say("T")]], forever=True)
    b = Bench(folder, model, store=SqliteJournalStore(tmp_path / "journals"))
    c = await b.open()
    await collect(c.send("Look at these.", [picture("cat.png"), picture("dog.png")]))
    before = [m.model_dump() for m in c.engine.prompt().messages]
    full = (await c.breakdown()).parts["images"]
    record = await c.drop_image("cat.png")
    assert record.tier == 1
    assert record.after < record.before
    assert (await c.breakdown()).parts["images"] == full // 2
    sent = json.dumps([m.model_dump() for m in c.engine.prompt().messages])
    assert "[image cat.png 800\\u00d7600: taken out of the context" in sent
    assert base64.b64encode(PNG + b"cat.png").decode() not in sent
    assert base64.b64encode(PNG + b"dog.png").decode() in sent
    with pytest.raises(ContextError, match=r"context\.(not_live|nothing_to_offload)"):
        await c.drop_image("cat.png")
    with pytest.raises(ContextError, match=r"context\.not_live"):
        await c.drop_image("nobody")
    # The bytes are where the line says.
    assert await c.outbox.deliver()
    kept = {p.read_bytes() for p in (folder / ".slipway" / "data").iterdir()}
    assert PNG + b"cat.png" in kept
    await c.close()
    c = await b.open()
    assert (await c.breakdown()).parts["images"] == full // 2
    await c.undo_compaction()
    assert [m.model_dump() for m in c.engine.prompt().messages] == before
    assert (await c.breakdown()).parts["images"] == full
    await c.close()
    await b.close()
