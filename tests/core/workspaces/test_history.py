"""Reading context.jsonl as it may really be: torn, glued, repeated, split."""

from __future__ import annotations

import json
from contextlib import aclosing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_app.core.messages import DataBlock, Msg, TextBlock, URLSource
from desktop_app.core.workspaces import history as history_module
from desktop_app.core.workspaces.history import (
    ContextFile,
    Damage,
    Fold,
    Line,
    index_lines,
    parse_line,
    read_history,
    read_lines,
)
from desktop_app.core.workspaces.local import LocalBackend

SAMPLES = Path(__file__).parents[2] / "data" / "samples"


def line(n: int, *texts: str) -> bytes:
    blocks = [
        {"type": "text", "text": t, "id": f"b{n}{t}", "created_at": "2026-01-01T00:00:00"}
        for t in texts
    ]
    return json.dumps({"name": "u", "content": blocks, "role": "user", "id": f"m{n}"}).encode()


async def history(tmp_path: Path, data: bytes):
    (tmp_path / "context.jsonl").write_bytes(data)
    return await read_history(LocalBackend(tmp_path), "context.jsonl")


@pytest.mark.parametrize(
    ("name", "session", "count"),
    [("gen-a-2.0.4", "s1", 2), ("gen-b-2.0.6", "s1", 2), ("gen-c-2.0.11", "session-abc", 4)],
)
async def test_samples(name: str, session: str, count: int) -> None:
    backend = LocalBackend(SAMPLES / name)
    read = await read_history(backend, f"sessions/{session}/context.jsonl")
    assert len(read.messages) == count
    made = {b.created_at for m in read.messages for b in m.content}
    assert made == {None} if name == "gen-a-2.0.4" else None not in made  # never the time of now
    assert not read.damaged
    data = [b for m in read.messages for b in m.content if isinstance(b, DataBlock)]
    assert isinstance(data[0].source, URLSource)


async def test_thinking_extras_survive() -> None:
    read = await read_history(
        LocalBackend(SAMPLES / "gen-c-2.0.11"), "sessions/session-abc/context.jsonl"
    )
    assert read.messages[1].content[0].model_dump()["signature"] == "sig=="


async def test_damage_is_reported_and_the_rest_kept(tmp_path: Path) -> None:
    data = b"\n".join(
        [
            line(1, "a"),
            b"\0" * 500 + line(2, "a"),
            b'{"name":"u","content":[{"type":"te',
            line(3, "a")[:-20] + line(4, "a").replace(b'{"name": ', b'{"name":'),
            b"\xff\xfe nonsense",
            b"",
            line(5, "a"),
        ]
    )
    read = await history(tmp_path, data)  # the last line has no newline
    assert [m.id for m in read.messages] == ["m1", "m2", "m4", "m5"]
    assert [d.line for d in read.damaged] == [2, 3, 4, 5]
    assert read.damaged[0].bytes == 500
    for damage in read.damaged:
        assert data.split(b"\n")[damage.line - 1] == data[damage.offset :].split(b"\n")[0]


async def test_a_json_line_that_is_no_message_after_all(tmp_path: Path) -> None:
    bad = b'{"name":"u","content":[{"type":"text","text":7}],"role":"user","id":"x"}'
    read = await history(tmp_path, line(1, "a") + b"\n" + bad + b"\n")
    assert [m.id for m in read.messages] == ["m1"]
    assert [(d.line, d.bytes) for d in read.damaged] == [(2, len(bad))]


async def test_repeats_and_parts_are_folded(tmp_path: Path) -> None:
    lines = [line(1, "a", "b"), line(2, "a"), line(1, "a", "b"), line(1, "c"), line(2, "a", "d")]
    read = await history(tmp_path, b"\n".join(lines) + b"\n")
    assert [m.id for m in read.messages] == ["m1", "m2"]
    assert [m.text() for m in read.messages] == ["a\n\nb\n\nc", "a\n\nd"]
    assert read.repeats == 1
    assert read.lines == 5


def test_equal_call_ids_within_one_reply_are_kept() -> None:
    call = {"type": "tool_call", "id": "call_0", "name": "Read", "input": "{}"}
    message = {"name": "a", "role": "assistant", "id": "r", "content": [call, dict(call)]}
    fold = Fold()
    fold.add(dict(message), Line(1, 0, b""))
    fold.add(dict(message), Line(2, 0, b""))
    (read,), _ = fold.messages()
    assert len(read.tool_calls()) == 2


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), min_size=1, max_size=12))
def test_writing_a_batch_twice_reads_as_once(parts: list[tuple[int, int]]) -> None:
    """Invariant 5: repeats of a delivery change nothing, wherever the crash was."""
    lines = [line(m, f"t{b}") for m, b in parts]

    def folded(raws: list[bytes]) -> list[str]:
        fold = Fold()
        for n, raw in enumerate(raws):
            message, _ = parse_line(raw)
            assert message is not None
            fold.add(message, Line(n, 0, raw))
        messages, damaged = fold.messages()
        assert not damaged
        return [m.to_json() for m in messages]

    once = list(dict.fromkeys(lines))
    assert folded(once + once) == folded(once)
    assert folded(once[: len(once) // 2] + once) == folded(once)


async def test_index_and_reading_from_the_middle(tmp_path: Path) -> None:
    raws = [line(n, "x" * (n * 3000)) for n in range(400)]
    (tmp_path / "f").write_bytes(b"\n".join(raws))
    backend = LocalBackend(tmp_path)
    starts = await index_lines(backend, "f")
    assert len(starts) == 401
    got = []
    offset = starts[390]
    async with aclosing(read_lines(backend, "f", offset=offset, first=391)) as batches:
        async for batch in batches:
            got += batch
    assert [entry.raw for entry in got] == raws[390:]
    assert [entry.offset for entry in got] == list(starts[390:400])
    assert got[0].number == 391


async def test_pages_of_a_long_file(tmp_path: Path) -> None:
    raws = [line(n, f"t{n}") for n in range(1000)]
    raws[500] = b"torn"
    (tmp_path / "f").write_bytes(b"\n".join(raws) + b"\n")
    file = await ContextFile.open(LocalBackend(tmp_path), "f")
    assert len(file) == 1000
    page = await file.page(499, 3)
    assert [p.id if isinstance(p, Msg) else p for p in page] == [
        "m499",
        Damage(501, file.starts[500], 4),
        "m501",
    ]
    assert len(await file.page(998, 50)) == 2
    assert await file.page(1000, 5) == []


async def test_a_line_longer_than_any_message_costs_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_module, "LONGEST", 3_000_000)
    huge = b"x" * 10_000_000
    read = await history(tmp_path, line(1, "a") + b"\n" + huge + b"\n" + line(2, "a"))
    assert [m.id for m in read.messages] == ["m1", "m2"]
    assert [(d.line, d.bytes) for d in read.damaged] == [(2, len(huge))]


def test_surrogates_and_emoji_survive_a_round_trip() -> None:
    msg = Msg.user("half \ud83d and 👩‍👩‍👧 שלום")
    message, junk = parse_line(msg.to_json().encode("utf-8", "surrogatepass"))
    assert junk == 0
    assert message is not None
    block = Msg.model_validate(message).content[0]
    assert isinstance(block, TextBlock)
    assert block.text == "half \ud83d and 👩‍👩‍👧 שלום"
