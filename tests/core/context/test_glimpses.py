"""Lines of results that stood out: which are carried on, and how many where there is room."""

from __future__ import annotations

import json

import pytest

from desktop_app.core.context.accounting import Accounting
from desktop_app.core.context.build import Envelope
from desktop_app.core.context.classes import estimate
from desktop_app.core.context.compaction import Compactor
from desktop_app.core.context.glimpses import (
    Answer,
    Glimpse,
    glimpses,
    newest_lines,
    size_of_line,
    telling,
)
from desktop_app.core.context.types import Limits
from desktop_app.core.messages import Msg, TextBlock, ToolCallBlock, ToolResultBlock
from desktop_app.core.state import AgentState
from desktop_app.core.tools.bounds import bound
from tests.helpers.context_models import Summariser

LOG = [f"2026-01-01 INFO worker {n} took {n * 7} ms for one more of its parts" for n in range(300)]
LIMITS = Limits(window=16_384, max_output=2048)


def lines_of(text: str, **args: str) -> list[str]:
    call = ToolCallBlock(id="c", name="Bash", input=json.dumps(args))
    result = ToolResultBlock(id="c", name="Bash", output=text)
    answer = Answer(call.id, call.name, telling(result.text(), call.input))
    return [g.text for g in glimpses([answer], set())]


def test_a_line_that_says_only_what_the_call_said_is_left_out() -> None:
    answer = "The file src/a_1.py has been changed."
    assert lines_of(answer, file_path="src/a_1.py") == []
    assert lines_of(answer, command="make all") == [answer]
    told = "a-b-1: pool of 34"
    assert lines_of(told, command="run a-b-1") == [told]


TELLING = "RESULT: the port of falcon-1 is 8443"
ROWS = [{"id": n, "name": f"item {n}"} for n in range(300)]


@pytest.mark.parametrize(
    "text",
    [
        "\n".join([*LOG[:150], TELLING, *LOG[150:]]),
        json.dumps([*ROWS, {"note": TELLING}, *ROWS]),
    ],
    ids=["log", "json"],
)
def test_of_a_shortened_result_its_own_lines_are_taken_and_not_our_marks(text: str) -> None:
    short = bound(text, max_tokens=900).text
    assert len(short) < len(text)
    (line,) = lines_of(short)
    assert TELLING in line


def test_the_newest_lines_that_fit_stay() -> None:
    lines = [Glimpse(ref="c", about="Bash", text=f"port {n}") for n in range(10)]
    older, newer = newest_lines(lines, 3.5 * size_of_line(lines[0], estimate), estimate)
    assert [g.text for g in newer] == ["port 7", "port 8", "port 9"]
    assert [*older, *newer] == lines
    assert newest_lines([], 100, estimate) == ([], [])


NAMES = [f"{a}{b}" for a in ("ash", "elm", "fir", "oak", "yew") for b in "bcdfghjklmnp"]


def session() -> AgentState:
    """Each result holds one line that nobody repeats, but for every third, which the agent does."""
    reply = Msg(name="agent", role="assistant", id="r")
    for n in range(60):
        text = "\n".join([*LOG[:12], f"the queue of {NAMES[n]}_{n} is {9000 + n}", *LOG[12:16]])
        call = ToolCallBlock(id=f"c{n}", name="Bash", input='{"command": "look"}')
        reply.content += [
            TextBlock(text="Looking."),
            call,
            ToolResultBlock(id=f"c{n}", name="Bash", output=text),
        ]
        if n % 3 == 0:
            reply.content.append(TextBlock(text=f"So the queue of {NAMES[n]}_{n} is {9000 + n}."))
    return AgentState(context=[Msg.user("Look at the hosts."), reply])


async def shown(model: Summariser | None) -> tuple[str, int]:
    account = Accounting(LIMITS)
    proposal = await Compactor(model, account, Envelope(system="Be exact.")).propose(
        session(), "danger"
    )
    assert proposal.after.upper <= LIMITS.mark(LIMITS.target)
    return proposal.draft.ledger.history, proposal.after.total


async def test_without_a_model_what_is_left_of_the_room_is_for_lines_of_results() -> None:
    history, _ = await shown(None)
    lines = history.partition("# Lines that stood out")[2].splitlines()[1:]
    assert len(lines) >= 25
    assert all("the queue of " in line for line in lines if line.startswith("- "))


async def test_what_the_agent_said_needs_no_line() -> None:
    history, _ = await shown(None)
    found, _, seen = history.partition("# Lines that stood out")
    said = [n for n in range(60) if f"So the queue of {NAMES[n]}_{n} is" in found]
    assert len(said) >= 15
    for n in said:
        assert f"the queue of {NAMES[n]}_{n} is" not in seen
