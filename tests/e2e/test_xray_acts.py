"""What a tile of the X-ray can do, done in the real program: the figures follow."""

from __future__ import annotations

import base64
import struct
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from desktop_app.core.agent.base import Attachment
from desktop_app.core.messages import Base64Source, DataBlock
from desktop_app.core.models.base import ModelRequest
from desktop_app.core.models.scripted import SCRIPTED, Call, Say, ScriptedModel
from desktop_app.ui.chat.inspector.xray import Xray
from tests.helpers.program import Driver


def model() -> ScriptedModel:
    def play(request: ModelRequest) -> list[Any]:
        if request.purpose == "title":
            return [Say("Prices")]
        if request.messages[-1].tool_results():
            return [Say("Read.")]
        return [Call("Read", {"file_path": "long.txt"})]

    return ScriptedModel([play] * 30, info=replace(SCRIPTED, window=131_072))


def press(driver: Driver, category: str, ref: str, words: str) -> None:
    """Choose a tile, and press the button under the map that says ``words``."""
    xray: Xray = driver.window.inspector.context.xray

    def button() -> Any:
        if not xray.map.choose(category, ref):
            return None
        return next((b for b in xray.buttons if b.text() == words and b.isEnabled()), None)

    driver.until(lambda: button() is not None)
    button().click()


def tile(driver: Driver, category: str) -> str:
    """The ref of the first item of a category."""
    driver.until(lambda: driver.vm.breakdown is not None)
    items = driver.vm.breakdown.items  # type: ignore[union-attr]
    return next(i.ref for i in items if i.category == category)


def png(path: Path) -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        crc = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + crc

    head = struct.pack(">IIBBBBB", 1024, 768, 8, 2, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\1\2\3" * 1024) * 768)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + body)


def test_offload_pin_drop_and_switch_off(driver: Driver, folder: Path) -> None:
    (folder / "long.txt").write_text("".join(f"line {n} with words\n" for n in range(1500)))
    png(folder / "shot.png")
    driver.start(model()).open_folder(folder)
    picture = base64.b64encode((folder / "shot.png").read_bytes()).decode()
    source = Base64Source(data=picture, media_type="image/png")
    shot = DataBlock(id="shot", source=source, name="shot.png")
    driver.window.chat.composer.chips.add(Attachment("shot.png", "image/png", data=shot))
    driver.until(lambda: driver.window.chat.composer.attachments())
    driver.ask("Read the long file and compare it with the picture.")
    driver.until_idle()
    driver.window.inspector.show_tab("context")

    result = tile(driver, "result")
    press(driver, "result", result, "Pin")
    driver.until(lambda: any(t.pin for t in driver.tools()))
    press(driver, "result", result, "Unpin")
    driver.until(lambda: not any(t.pin for t in driver.tools()))
    before = driver.vm.breakdown.parts["result"]  # type: ignore[union-attr]
    press(driver, "result", result, "Offload now")
    driver.until(lambda: driver.vm.breakdown.parts["result"] < before / 2)  # type: ignore[union-attr]
    assert [c.trigger for c in driver.vm.compactions] == ["item"]

    press(driver, "images", tile(driver, "images"), "Drop image")
    driver.until(lambda: driver.vm.breakdown.parts["images"] == 0)  # type: ignore[union-attr]
    driver.vm.undo_compaction()
    driver.until(lambda: driver.vm.breakdown.parts["images"] > 0)  # type: ignore[union-attr]

    tools = driver.vm.breakdown.parts["tools"]  # type: ignore[union-attr]
    press(driver, "tools", "Bash", "Disable tool")
    driver.until(lambda: driver.vm.breakdown.parts["tools"] < tools)  # type: ignore[union-attr]
