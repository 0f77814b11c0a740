"""What the client makes of answers that come in any pieces, or are none: something else may have
been put in a gateway's place in its machine."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import pytest

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.gateway import client as module
from desktop_app.core.gateway.client import Called, GatewayClient, GatewayError

HEAD = (200, {"Content-Type": "application/x-ndjson"})


class Says:
    """A way whose other end says ``pieces`` to whatever it is asked, and then hangs up."""

    def __init__(self, *pieces: bytes) -> None:
        self.pieces = pieces
        self.left = 0

    async def http(
        self, *_asked: Any, **_more: Any
    ) -> AsyncGenerator[tuple[int, dict[str, str]] | bytes]:
        try:
            yield HEAD
            for piece in self.pieces:
                yield piece
        finally:
            self.left += 1


def line(said: Any) -> bytes:
    return json.dumps(said).encode() + b"\n"


async def call(*pieces: bytes, told: list[Any] | None = None) -> Called:
    way = Says(*pieces)
    progress = (lambda *one: told.append(one)) if told is not None else None
    try:
        return await GatewayClient(way, "").call("s", "t", {}, seconds=5, progress=progress)
    finally:
        assert way.left == 1


def cut(data: bytes, size: int) -> Sequence[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


@pytest.mark.parametrize("size", [1, 7, 1000, 1_000_000])
async def test_an_answer_comes_in_any_pieces(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONG", 300)  # the last is read beside the loop
    told: list[Any] = []
    said = [{"progress": [1, 2, "half"]}, {"progress": [2, None, None]}]
    done = {"chunk": {"content": []}, "result": {"text": "x" * 500}}
    made = await call(*cut(b"".join(map(line, [*said, done])), size), told=told)
    assert told == [(1.0, 2.0, "half"), (2.0, None, None)]
    assert made == Called(done["chunk"], done["result"])


@pytest.mark.parametrize(
    "said",
    [b"<html>\n", b"[1]\n", line({}), line({"chunk": 1}), b"[" * 100_000 + b"\n", b"\xff\n"],
)
async def test_what_is_no_answer_is_said_to_be_none(said: bytes) -> None:
    with pytest.raises(GatewayError) as raised:
        await call(said)
    assert raised.value.status == 502


async def test_odd_progress_is_no_end_of_a_call() -> None:
    told: list[Any] = []
    done = line({"chunk": {}})
    await call(line({"progress": ["a", [], 3]}), line({"progress": []}), done, told=told)
    assert told == [(0.0, None, None)] * 2


async def test_a_line_without_an_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BODY_BYTES", 10_000)
    with pytest.raises(GatewayError) as raised:
        await call(*[b"x" * 1000] * 100)
    assert raised.value.status == 502
    with pytest.raises(GatewayError) as raised:
        async for _ in GatewayClient(Says(*[b"x" * 1000] * 100), "").watch("s"):
            pass
    assert raised.value.status == 502


async def test_an_answer_that_is_cut_may_be_tried_again() -> None:
    with pytest.raises(WorkspaceError) as raised:
        await call(line({"progress": [1, 2, ""]}), b'{"chunk"')
    assert raised.value.code == "http.failed"
    assert raised.value.retryable
