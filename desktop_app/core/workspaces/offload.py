"""What leaves a context, written where the agent and the person find it again.

The files are AgentScope's: ``sessions/<id>/context.jsonl`` with one message a line,
``tool_result-<id>.txt`` with a whole result, ``data/<sha256 of the base64 text><ext>``. Lines are
appended and never rewritten, so the cost does not depend on what is there already.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import json
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from desktop_app.core.errors import WorkspaceError

from .backend import Backend
from .layout import Generation
from .paths import join, require_inside

if TYPE_CHECKING:  # opening a workspace needs no message; their models cost a third of a start
    from desktop_app.core.messages import (
        AnyBlock,
        DataBlock,
        Msg,
        TextBlock,
        ToolResultBlock,
    )

_COMPARE = 64 << 20  # a result that is longer than this is never compared, it gets a new name


@dataclass(frozen=True, slots=True)
class Payload:
    """Bytes for ``data/``: ``path`` is relative to the root, ``block`` points at it."""

    path: str
    data: bytes
    block: DataBlock


def extension(media_type: str) -> str:
    """AgentScope's rule: what ``mimetypes`` knows, else ``.bin``."""
    import mimetypes

    return mimetypes.guess_extension(media_type) or ".bin"


def payload_of(block: DataBlock, root: str, generation: Generation) -> Payload | None:
    """What an inline block becomes; None when it is a URL already.

    The name is the hash of the base64 text, white space left out first, so that equal bytes get one
    name. Generation A names the absolute path, as its programs do. WorkspaceError
    ``data.not_base64``."""
    from desktop_app.core.messages import Base64Source, URLSource

    source = block.source
    if not isinstance(source, Base64Source):
        return None
    text = "".join(source.data.split())
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise WorkspaceError("data.not_base64", block=block.id) from error
    name = hashlib.sha256(text.encode()).hexdigest() + extension(source.media_type)
    path = join("data", name)
    url = f"file://{join(root, path)}" if generation == "A" else f"workspace:///{path}"
    moved = block.model_copy(update={"source": URLSource(url=url, media_type=source.media_type)})
    return Payload(path, data, moved)


def externalise(
    msgs: Sequence[Msg], root: str, generation: Generation
) -> tuple[bytes, list[Payload]]:
    """The lines of ``context.jsonl`` and the payloads they refer to. Blocks that cannot be decoded
    stay inline as they are. The messages handed in are not changed."""
    from desktop_app.core.messages import DataBlock, HintBlock, ToolResultBlock

    payloads: dict[str, Payload] = {}

    def moved(block: DataBlock) -> DataBlock:
        try:
            payload = payload_of(block, root, generation)
        except WorkspaceError:
            return block
        if payload is None:
            return block
        payloads.setdefault(payload.path, payload)
        return payload.block

    def inner(parts: list[TextBlock | DataBlock]) -> list[TextBlock | DataBlock]:
        return [moved(part) if isinstance(part, DataBlock) else part for part in parts]

    def outer(block: AnyBlock) -> AnyBlock:
        if isinstance(block, DataBlock):
            return moved(block)
        if isinstance(block, ToolResultBlock) and isinstance(block.output, list):
            return block.model_copy(update={"output": inner(block.output)})
        if isinstance(block, HintBlock) and isinstance(block.hint, list):
            return block.model_copy(update={"hint": inner(block.hint)})
        return block

    lines: list[bytes] = []
    for msg in msgs:
        content = [outer(block) for block in msg.content]
        changed = any(new is not old for new, old in zip(content, msg.content, strict=True))
        whole = msg.model_copy(update={"content": content}) if changed else msg
        lines.append(_line(whole))
    return b"\n".join([*lines, b""]), list(payloads.values())


def _line(msg: Msg) -> bytes:
    """AgentScope takes a time that is missing, not one that is null (old messages have none)."""
    line = msg.to_json().encode("utf-8", "surrogatepass")
    if b'"created_at":null' not in line:
        return line
    value = json.loads(line)
    drop_missing_times(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )


def drop_missing_times(value: dict[str, Any]) -> None:
    """Take ``created_at`` out where it is null, of a message and the blocks in it."""
    if value.get("created_at", "") is None:
        del value["created_at"]
    for key in ("content", "output", "hint"):
        inner = value.get(key)
        if isinstance(inner, list):
            for item in cast(list[Any], inner):
                if isinstance(item, dict):
                    drop_missing_times(cast(dict[str, Any], item))


def result_text(
    result: ToolResultBlock, root: str, generation: Generation
) -> tuple[bytes, list[Payload]]:
    """A tool result as AgentScope writes it: texts verbatim, data as ``<data url=…/>``."""
    from desktop_app.core.messages import TextBlock, URLSource

    if isinstance(result.output, str):
        return result.output.encode("utf-8", "replace"), []
    parts: list[str] = []
    payloads: list[Payload] = []
    for part in result.output:
        if isinstance(part, TextBlock):
            parts.append(part.text)
            continue
        try:
            payload = payload_of(part, root, generation)
        except WorkspaceError:
            payload = None
        if payload is not None:
            payloads.append(payload)
        block = payload.block if payload is not None else part
        url = block.source.url if isinstance(block.source, URLSource) else ""
        media = block.source.media_type
        parts.append(f"<data url='{url}' name='{block.name}' media_type='{media}'/>")
    return "".join(parts).encode("utf-8", "replace"), payloads


class Files:
    """The three ways in which offloads reach a root; each may be done again without harm."""

    def __init__(self, backend: Backend, root: str) -> None:
        self._backend = backend
        self._root = root
        self._checked: set[str] = set()

    async def _directory(self, path: str) -> None:
        """Make a directory of ours, checked once to lie inside the root after links."""
        if path in self._checked:
            found = (await self._backend.stat_many([path]))[0]
            if found is not None and found.kind == "dir":
                return
        await require_inside(self._backend, path, self._root)
        await self._backend.mkdir(path)
        self._checked.add(path)

    async def append_lines(self, path: str, data: bytes, *, once: bool = False) -> bool:
        """Append whole lines to a file below the root. ``once``: look at its tail first and leave
        it alone when it ends with just these bytes (a delivery whose receipt was lost)."""
        target = join(self._root, path)
        await self._directory(target.rpartition("/")[0])
        if once and await self._ends_with(target, data):
            return False
        await self._require_plain(target)
        await self._backend.append(target, data)
        return True

    async def _ends_with(self, target: str, data: bytes) -> bool:
        found = (await self._backend.stat_many([target]))[0]
        if found is None or found.size < len(data):
            return False
        tail: list[bytes] = []
        start = found.size - len(data)
        async with aclosing(self._backend.read(target, offset=start)) as pieces:
            async for piece in pieces:
                tail.append(piece)
        return b"".join(tail) == data

    async def _require_plain(self, target: str) -> None:
        """A link planted at the file's name must not lead a write out of the root."""
        await require_inside(self._backend, target, self._root)

    async def place(self, path: str, data: bytes) -> str:
        """Write a new file; an equal one there is fine, a different one moves ours to the next
        free ``(n)``. Returns the path relative to the root."""
        await self._directory(join(self._root, path).rpartition("/")[0])
        stem, _, ending = path.rpartition(".")
        n = 0
        while True:
            name = path if n == 0 else f"{stem}({n}).{ending}"
            try:
                await self._backend.write(join(self._root, name), data, create=True)
                return name
            except WorkspaceError as error:
                if error.code not in ("file.exists", "file.is_dir", "file.special"):
                    raise
            if await self._same(join(self._root, name), data):
                return name
            n += 1

    async def _same(self, target: str, data: bytes) -> bool:
        found = await self._backend.stat(target, follow=False)
        if found.kind != "file" or found.size != len(data) or found.size > _COMPARE:
            return False
        return await self._backend.read_bytes(target, max_bytes=_COMPARE) == data

    async def put_data(self, path: str, data: bytes) -> None:
        """Write a payload named by its hash; one that is there whole is not written again."""
        target = join(self._root, path)
        await self._directory(target.rpartition("/")[0])
        found = (await self._backend.stat_many([target]))[0]
        if found is not None and found.kind == "file" and found.size == len(data):
            return
        await self._require_plain(target)
        await self._backend.write(target, data)


async def encode(
    msgs: Sequence[Msg], root: str, generation: Generation
) -> tuple[bytes, list[Payload]]:
    """``externalise`` in a thread: a long history takes a while."""
    return await asyncio.to_thread(externalise, list(msgs), root, generation)
