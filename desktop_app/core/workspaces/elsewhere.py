"""Offloads that go to an object of somebody else's: a database, an object store.

Any object with the methods of ``base.Offloader`` will do, or with the first two, which are all that
earlier protocols had. The outbox keeps its promises to it as to a workspace: journal first, in
order, again and again until it is done.

Names are ours and made before anything is sent, so that the prompt can hold them: the result of
call ``c1`` is ``sessions/<session>/tool_result-c1.txt`` and arrives as the result ``c1``; a second,
different one of that id arrives as ``c1(1)``. Beside what the protocol says each call gets

    path      the name in the prompt, relative
    number    of the promise in the journal: higher for later ones of a session, and the same when a
              delivery is repeated, because its receipt was lost in a crash

so that a store without appending can make one object of each delivery, and the same one again. What
the object returns stands in the journal as the place where it is.
"""

from __future__ import annotations

import asyncio
import base64
import json
import mimetypes
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from desktop_app.core.errors import SlipwayError, WorkspaceError

if TYPE_CHECKING:
    from desktop_app.core.messages import DataBlock, Msg

SECONDS = 120.0  # of one delivery; a store that hangs is tried again later
_PAYLOAD = re.compile(r"workspace:///(data/[0-9a-f]{64}\.\w+)")
SCHEME = "offload:"  # of names in the prompt: no file of the working directory


@dataclass(frozen=True, slots=True)
class Parcel:
    """One delivery: what was promised, and its number in the journal."""

    kind: Literal["messages", "tool_result", "data"]
    session_id: str
    path: str
    number: int


class Elsewhere:
    """Hands parcels to an offloader. WorkspaceError ``offload.refused`` for whatever it raises."""

    def __init__(self, offloader: Any, seconds: float = SECONDS) -> None:
        self._offloader = offloader
        self._seconds = seconds

    @property
    def name(self) -> str:
        """What a person may know it by: the name of its class."""
        return type(self._offloader).__name__

    @property
    def takes_data(self) -> bool:
        """Whether it has the third method: payloads are inside the messages otherwise."""
        return callable(getattr(self._offloader, "offload_data_block", None))

    @staticmethod
    def visible(path: str) -> str:
        return SCHEME + path

    async def deliver(self, parcel: Parcel, data: bytes, moved: Mapping[str, str]) -> str:
        """Where it is now, as the offloader says. ``moved`` tells where payloads that were
        delivered are: messages point there."""
        if parcel.kind == "messages":
            msgs = await asyncio.to_thread(_messages, data, moved)
            return await self._call("offload_context", parcel, msgs)
        if parcel.kind == "tool_result":
            return await self._call("offload_tool_result", parcel, _result(parcel, data, moved))
        block = await self._call("offload_data_block", parcel, _block(parcel.path, data))
        url = getattr(getattr(block, "source", None), "url", None)
        if not isinstance(url, str) or not url:
            raise _refused(parcel, "TypeError", "offload_data_block returned no URL")
        return url

    async def _call(self, name: str, parcel: Parcel, what: Any) -> Any:
        method = cast("Callable[..., Awaitable[Any]]", getattr(self._offloader, name))
        more: dict[str, Any] = {"path": parcel.path, "number": parcel.number}
        try:
            async with asyncio.timeout(self._seconds):
                if parcel.kind == "data":
                    return await method(what)
                return str(await method(parcel.session_id, what, **more))
        except TimeoutError as error:
            raise _refused(parcel, "TimeoutError", f"{self._seconds:g} s") from error
        except SlipwayError as error:
            raise _refused(parcel, error.code, str(error)) from error
        except Exception as error:
            raise _refused(parcel, type(error).__name__, str(error)) from error


def _refused(parcel: Parcel, error: str, detail: str) -> WorkspaceError:
    return WorkspaceError(
        "offload.refused", retryable=True, path=parcel.path, kind=error, detail=detail[:500]
    )


def _messages(data: bytes, moved: Mapping[str, str]) -> list[Msg]:
    from desktop_app.core.messages import Msg

    text = data.decode("utf-8", "surrogatepass")
    return [
        Msg.model_validate_json(_pointed(line, moved, _inside_json))
        for line in text.split("\n")
        if line
    ]


def _inside_json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _pointed(text: str, moved: Mapping[str, str], quote: Callable[[str], str] = str) -> str:
    """References to payloads as they were staged, to where these were brought. Their names are
    hashes: nothing else reads like one."""
    return _PAYLOAD.sub(lambda m: quote(moved[m[1]]) if m[1] in moved else m[0], text)


def _result(parcel: Parcel, data: bytes, moved: Mapping[str, str]) -> Any:
    from desktop_app.core.messages import ToolResultBlock

    name = parcel.path.rpartition("/")[2].removeprefix("tool_result-").removesuffix(".txt")
    text = _pointed(data.decode("utf-8", "replace"), moved)
    return ToolResultBlock(id=name, name="", output=text)


def _block(path: str, data: bytes) -> DataBlock:
    from desktop_app.core.messages import Base64Source, DataBlock

    name = path.rpartition("/")[2]
    media = mimetypes.guess_type(name)[0] or "application/octet-stream"
    source = Base64Source(data=base64.b64encode(data).decode(), media_type=media)
    return DataBlock(id=name.partition(".")[0], source=source, name=name)
