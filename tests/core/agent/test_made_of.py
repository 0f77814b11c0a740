"""What a step made itself is not read back: folded as it is, it is what its bytes would give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from desktop_app.core import events as ev
from desktop_app.core.agent.fold import Folder
from desktop_app.core.messages import (
    AnyBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    Usage,
    WireModel,
)
from desktop_app.core.models.scripted import Call, Ends, Say, ScriptedModel, Think
from desktop_app.core.sessions.base import NewRecord, Record
from desktop_app.core.sessions.codec import encode
from tests.helpers.sessions import Bench, collect, of

TEXTS = st.text(st.characters(codec=None), max_size=20)  # with halves of characters
JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
EXTRA = st.dictionaries(st.sampled_from(["op_id", "signature", "of_a_provider"]), JSON)
IDS = st.sampled_from(["c1", "c2", ""])


def blocks(kind: Any, **fields: Any) -> Any:
    """Blocks as a step makes them, with what a provider or we add."""
    return st.builds(
        lambda given, extra: kind(**{**extra, **given}), st.fixed_dictionaries(fields), EXTRA
    )


SAID = st.lists(
    blocks(TextBlock, text=TEXTS)
    | blocks(ThinkingBlock, thinking=TEXTS)
    | blocks(ToolCallBlock, id=IDS, name=TEXTS, input=TEXTS),
    max_size=4,
)
RESULT = blocks(
    ToolResultBlock,
    id=IDS,
    name=TEXTS,
    output=TEXTS | st.lists(blocks(TextBlock, text=TEXTS), max_size=2),
    state=st.sampled_from(["success", "error", "denied"]),
    metadata=st.dictionaries(TEXTS, JSON, max_size=3),
)
USAGE = st.none() | st.builds(
    Usage, input_tokens=st.integers(0, 9), output_tokens=st.integers(0, 9)
)


def records(said: list[AnyBlock], usage: Usage | None, result: ToolResultBlock) -> list[NewRecord]:
    """As a turn writes them."""
    answer = {
        "reply_id": "r1",
        "name": "Tester",
        "blocks": [b.model_dump() for b in said],
        "usage": usage.model_dump() if usage else None,
    }
    answered = {"reply_id": "r1", "op_id": "c1", "block": result.model_dump()}
    return [
        NewRecord("assistant.message", answer, made_of={"blocks": said, "usage": usage}),
        NewRecord("tool.result", answered, made_of={"block": result}),
    ]


@given(SAID, USAGE, RESULT)
def test_folding_what_was_made_is_folding_what_was_written(
    said: list[AnyBlock], usage: Usage | None, result: ToolResultBlock
) -> None:
    made, written = Folder("s1"), Folder("s1")
    for seq, new in enumerate(records(said, usage, result), 1):
        record = Record(seq, new.kind, new.v, seq, encode(new.body))
        written.apply(record)
        made.foresee(new)
        made.reached(record)
    assert made.now == written.now
    assert made.now.state.to_json() == written.now.state.to_json()
    kept = made.now.state.context[0].content
    assert all(mine is own for mine, own in zip(kept, [*said, result], strict=True))


class Dumped:
    """Which blocks were written out, and how often."""

    def __init__(self, monkeypatch: Any) -> None:
        self.times: dict[int, int] = {}
        real = WireModel.model_dump

        def model_dump(block: WireModel, **more: Any) -> Any:
            self.times[id(block)] = self.times.get(id(block), 0) + 1
            return real(block, **more)

        monkeypatch.setattr(WireModel, "model_dump", model_dump)


async def test_a_step_writes_each_block_out_once_and_reads_none_back(
    tmp_path: Path, monkeypatch: Any
) -> None:
    (tmp_path / "page.txt").write_text("line\n")
    step = [
        Think("hm", extra={"signature": "s"}),
        Say("I look."),
        Call("Read", {"file_path": "page.txt"}),
        Ends(usage=Usage(input_tokens=9)),
    ]
    bench = Bench(tmp_path, ScriptedModel([step, step, step, [Say("done")]], titles=[[Say("t")]]))
    talk = await bench.open()
    dumped = Dumped(monkeypatch)
    heard = await collect(talk.send("read it"))
    monkeypatch.undo()
    reply = talk.state.context[-1]
    own = [b for b in reply.content if isinstance(b, ToolResultBlock)]
    assert all(
        mine is told.result for mine, told in zip(own, of(heard, ev.ToolFinished), strict=True)
    )
    assert len(reply.content) == 3 * 4 + 1
    assert [dumped.times.get(id(b)) for b in reply.content] == [1] * len(reply.content)
    await talk.close()
    await bench.close()
