"""What was read outlives the program: a session that is opened again says the same without being
read anew, and what does not fit what stands there is not used."""

from __future__ import annotations

import json
import random
import zlib
from itertools import accumulate, pairwise
from typing import Any

import pytest

from desktop_app.core.context.accounting import Accounting
from desktop_app.core.context.columns import Columns, pack
from desktop_app.core.context.kept import Kept, adopt, dump
from desktop_app.core.context.tokens import ClassCounter
from desktop_app.core.context.types import Limits
from desktop_app.core.messages import DataBlock, Msg, TextBlock
from desktop_app.core.state import AgentState
from tests.helpers.context_sessions import Player

from .test_running import long, script, told

LIMITS = Limits(window=8000, max_output=1000)


def written(account: Accounting, state: AgentState, before: Kept | None = None) -> bytes:
    """What is kept of a state, as it lies on the disk."""
    return dump(state, account, before)


def reopened(state: AgentState, data: bytes, account: Accounting) -> tuple[AgentState, Kept]:
    again = AgentState.model_validate_json(state.to_json())
    found = Kept(data, again)
    adopt(found, account)
    return again, found


def changed(data: bytes, head: dict[str, Any], rows: list[bytes] | None = None) -> bytes:
    """The same with another head, or other first rows, and sound."""
    told, _, body = data[9:].partition(b"\n")
    value = json.loads(told)
    table, running = body[: value["table"]], body[value["table"] :][: value["running"]]
    rows_now, starts = body[value["table"] + value["running"] :], Columns(table)["starts"]
    own = [rows_now[start:end] for start, end in pairwise(starts)]
    whole = [*(rows or []), *own[len(rows or []) :]]
    table = pack({"starts": list(accumulate(map(len, whole), initial=0))})
    sizes = {"table": len(table), "running": len(running), "rows": sum(map(len, whole))}
    found = b"".join([json.dumps({**value, **sizes, **head}).encode(), b"\n", table, running])
    return b"".join([f"{zlib.crc32(found):08x} ".encode(), found, *whole])


def test_a_session_that_is_opened_again_says_the_same_and_is_not_read_anew() -> None:
    made = 0
    for seed in range(16):
        rng = random.Random(seed)
        player, account = Player(script(rng)), Accounting(LIMITS)
        moments = list(player.moments())
        state = moments[-1].model_copy(update={"context": list(moments[-1].context)})
        account.parts.of(state.context)
        fresh = Accounting(LIMITS)
        again, _ = reopened(state, written(account, state), fresh)
        assert [e.parts for e in fresh.parts.of(again.context)] == [
            e.parts for e in Accounting(LIMITS).parts.of(again.context)
        ]
        assert fresh.parts.read == 0
        now, proposal = told(fresh, again, "danger")
        assert now == told(Accounting(LIMITS), again, "danger")[0]
        made += proposal is not None
    assert made > 8


def test_what_came_and_changed_since_is_read_and_nothing_else() -> None:
    state, account = long(30), Accounting(LIMITS)
    account.parts.of(state.context)
    fresh = Accounting(LIMITS)
    again, _ = reopened(state, written(account, state), fresh)
    again.context[-1].content.append(TextBlock(text="Decision: queue_z serves the rest."))
    masked = again.context[5].content[0].model_copy(update={"text": "cut"})
    again.context[5] = again.context[5].model_copy(update={"content": [masked]})
    again.context.append(Msg.user("Never touch db_9."))
    whole = Accounting(LIMITS)
    assert [e.parts for e in fresh.parts.of(again.context)] == [
        e.parts for e in whole.parts.of(again.context)
    ]
    assert fresh.parts.read == 3
    assert told(fresh, again, "danger")[0] == told(whole, again, "danger")[0]


def test_what_nobody_asked_for_is_kept_on() -> None:
    state, account = long(20), Accounting(LIMITS)
    account.parts.of(state.context)
    first = written(account, state)
    fresh = Accounting(LIMITS)
    again, found = reopened(state, first, fresh)
    assert written(fresh, again, found) == first
    fresh.parts.of(again.context[:7])
    assert written(fresh, again, found) == first


@pytest.mark.parametrize("how", ["version", "head", "cut", "empty"])
def test_what_another_version_kept_or_is_damaged_is_not_used(how: str) -> None:
    state, account = long(3), Accounting(LIMITS)
    account.parts.of(state.context)
    data = written(account, state)
    data = {
        "version": changed(data, {"v": "0.0.0-0"}),
        "head": data.replace(b'"starts"', b'"startz"'),
        "cut": data[: len(data) // 2],
        "empty": b" ",
    }[how]
    fresh = Accounting(LIMITS)
    again, found = reopened(state, data, fresh)
    assert not found.fits(fresh.pricer)
    fresh.parts.of(again.context)
    assert fresh.parts.read == account.parts.read
    assert written(fresh, again, found) == written(account, state)


def test_rows_that_do_not_fit_and_those_of_another_counter_cost_a_reading() -> None:
    state, account = long(6), Accounting(LIMITS)
    account.parts.of(state.context)
    data = written(account, state)
    data = changed(data, {}, [b"", b"{", b"[]", b"[false,[]]", b"[false,[[1]]]", b"[false,[7]]"])
    other = Accounting(LIMITS, model="openai:gpt-4o", counter=ClassCounter("openai:gpt-4o"))
    again, found = reopened(state, data, other)
    assert not found.fits(other.pricer)
    other.parts.of(again.context)
    assert other.parts.read == account.parts.read
    fresh = Accounting(LIMITS)
    again, _ = reopened(state, data, fresh)
    assert told(fresh, again, "manual")[0] == told(Accounting(LIMITS), again, "manual")[0]
    assert 0 < fresh.parts.read < account.parts.read


def test_images_and_texts_of_many_lines_are_kept_too() -> None:
    source = {"type": "base64", "data": "aGk=", "media_type": "image/png"}
    image = DataBlock.model_validate({"type": "data", "source": source, "name": "a.png"})
    state = long(4)
    state.context[2] = Msg.user("Look:\n\n- one\n- two, please", blocks=[image])
    account = Accounting(LIMITS)
    account.parts.of(state.context)
    fresh = Accounting(LIMITS)
    again, _ = reopened(state, written(account, state), fresh)
    whole = Accounting(LIMITS)
    assert fresh.parts.entry(again.context[2]).parts == whole.parts.entry(again.context[2]).parts
    assert fresh.parts.read == 0
    assert fresh.parts.entry(again.context[2]).images > 0


def test_a_session_of_which_nothing_was_read_keeps_nothing() -> None:
    account = Accounting(LIMITS)
    assert dump(long(3), account, None) == b""
