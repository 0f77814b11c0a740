"""What a person attaches reaches the model: pictures in the message, other files by their path."""

from __future__ import annotations

import base64
from pathlib import Path

from desktop_app.core.agent.base import Attachment
from desktop_app.core.messages import Base64Source, DataBlock
from desktop_app.core.models.scripted import Call, Say, ScriptedModel
from tests.helpers.sessions import Bench, collect

CSV = b"week,tide\n1,4.0\n"


def attached(name: str, media_type: str, data: bytes) -> Attachment:
    source = Base64Source(data=base64.b64encode(data).decode(), media_type=media_type)
    return Attachment(name, media_type, data=DataBlock(source=source, name=name))


async def test_a_file_from_elsewhere_can_be_read_by_the_agent(tmp_path: Path) -> None:
    model = ScriptedModel([[Say("I see.")]], titles=[[Say("Tides")]])
    b = Bench(tmp_path, model)
    c = await b.open()
    await collect(c.send("What is in it?", [attached("it's tides.csv", "text/csv", CSV)]))
    [note] = [t for m in model.requests[0].messages for t in m.text().splitlines() if "path=" in t]
    assert "it's tides.csv" in note
    path = note.partition("path='")[2].partition("'")[0]
    assert (tmp_path / path).read_bytes() == CSV, "it was there before the model was asked"
    model._queues["reply"] = [[Call("Read", {"file_path": path})], [Say("4.0")]]
    await collect(c.send("Read it"))
    told = [r.text() for m in c.state.context for r in m.tool_results()]
    assert "1,4.0" in told[0]
    await c.close()
    await b.close()


async def test_a_picture_stays_in_the_message(tmp_path: Path) -> None:
    model = ScriptedModel([[Say("A dot.")]], titles=[[Say("Dot")]])
    b = Bench(tmp_path, model)
    c = await b.open()
    given = [attached("dot.png", "image/png", b"\x89PNG"), attached("a.bin", "x/y", b"\0\1")]
    await collect(c.send("Look", given))
    said = next(m for m in c.state.context if m.role == "user")
    assert [type(block).__name__ for block in said.content] == [
        "TextBlock",
        "DataBlock",
        "TextBlock",
    ]
    await c.close()
    c = await b.open()
    again = next(m for m in c.state.context if m.role == "user")
    assert again.model_dump() == said.model_dump()
    assert c.outbox.pending() == 0
    await c.close()
    await b.close()
