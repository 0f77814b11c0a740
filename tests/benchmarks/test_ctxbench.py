"""The bench of what a full window keeps: a short run of our own engine, and its own instruments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.benchmarks.ctxbench import cache, chart, report
from tests.benchmarks.ctxbench.baselines import Truncation
from tests.benchmarks.ctxbench.events import Agent, Call, Person, Piece, Prompt, digest
from tests.benchmarks.ctxbench.generate import Shape, generate
from tests.benchmarks.ctxbench.judge import KEPT, faults, judge
from tests.benchmarks.ctxbench.marks import task_state
from tests.benchmarks.ctxbench.matrix import (
    ARMS,
    MAIN,
    REST,
    TITLES,
    Arm,
    Bench,
    Config,
    key,
    runs,
)
from tests.benchmarks.ctxbench.ours import Ours
from tests.benchmarks.ctxbench.stats import difference, interval
from tests.benchmarks.ctxbench.summarise import MODES, Summariser

SHORT = Shape(steps=100)
SMOKE = [Config(mode, 16_000, SHORT, seeds=2) for mode in ("lossy", "inventing")]
NOTHING: dict[str, list[str]] = {"mutation": [], "invention": [], "injection": []}


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    made = Bench(only_shipped=True)
    yield made
    made.close()


# -- a short run ----------------------------------------------------------------------------


@pytest.mark.parametrize("config", SMOKE, ids=lambda c: c.mode)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_long_session_keeps_what_matters(bench: Bench, config: Config, seed: int) -> None:
    """Through the conversation as the program runs it, with several compactions."""
    row = bench.run(Arm("ours", Ours), config, seed)
    assert row["compactions"] >= 3
    assert row["errors"] == 0, row["error"]
    assert (row["over"], row["orphans"], row["twice"]) == (0, 0, 0)
    assert row["broken_prefix"] == 0, "a prompt changed what was there, without a compaction"
    for kind in ("task", "constraint", "pending"):
        assert row["visible"][kind] == 1.0, row["lost"]
    wrong = ("mutations", "inventions", "injections", "secrets", "done_as_pending")
    assert [k for k in wrong if row["wrong"][k]] == []
    assert {v for v in row["reachable"].values() if v is not None} == {1.0}, row["lost"]
    cut = bench.run(Arm("cut", Truncation, "down"), config, seed)
    assert row["score"] > 0.9 > cut["score"] + 0.3


# -- the sessions ---------------------------------------------------------------------------


def test_sessions_are_the_same_on_every_machine() -> None:
    """The peers' results that are kept belong to these; with others they must be made anew."""
    streams = [generate(seed, Shape(steps=60)) for seed in range(3)]
    assert digest(streams)[:16] == "2ce84358f6bca2a2"
    assert digest([generate(3, Shape(60))]) != digest([generate(3, Shape(60, blobs=True))])


def test_sessions_hold_every_kind_of_probe() -> None:
    streams = [generate(seed, Shape(steps=220)) for seed in range(3)]
    probes = [p for s in streams for p in s.probes]
    kinds = {p.kind for p in probes}
    assert kinds == {*KEPT, "done", "secret", "injection"}
    rules = {(p.form, p.zh) for p in probes if p.kind == "constraint"}
    assert rules == {("cue", False), ("cue", True), ("plain", False), ("plain", True)}
    assert any(p.kind == "constraint" and p.gone is not None for p in probes)
    assert any(p.kind == "decision" and p.gone is not None for p in probes)
    lists = {p.form for p in probes if p.kind == "pending"}
    assert lists == {"known tool", "todo_write", "update_plan", "checklist"}
    for stream in streams:
        assert len({p.key for p in stream.probes}) == len(stream.probes)
        for one, two in zip(stream.events, stream.events[1:], strict=False):
            ends = isinstance(one, Agent) and not one.calls
            assert isinstance(two, Person) == ends, (
                "turns begin with a person and end without calls"
            )


# -- the judge ------------------------------------------------------------------------------


def _whole(stream: Any) -> Prompt:
    pieces: list[Piece] = []
    for event in stream.events:
        if isinstance(event, Person):
            pieces.append(Piece("user", event.text))
            continue
        pieces.append(Piece("assistant", event.text, event.calls))
        pieces += [Piece("tool", r.text, call_id=r.call_id) for r in event.results]
    return Prompt("", tuple(pieces))


def test_the_judge_sees_all_in_the_whole_session_and_nothing_in_none() -> None:
    stream = generate(5, Shape(steps=120))
    found = judge(stream, _whole(stream), "", NOTHING)
    assert {v for v in found["visible"].values() if v is not None} == {1.0}, found["lost"]
    assert found["wrong"] == dict.fromkeys(found["wrong"], 0)
    assert found["score"] == pytest.approx(1.0)
    nothing = judge(stream, Prompt("", ()), "", NOTHING)
    assert {v for v in nothing["visible"].values() if v is not None} == {0.0}
    assert nothing["score"] == 0
    too_long = judge(stream, _whole(stream), "", NOTHING, fits=False)
    assert too_long["score"] == 0, "a prompt that no model takes shows nothing"


def test_the_judge_finds_what_should_not_be_there() -> None:
    stream = generate(5, Shape(steps=120))
    secret = next(p for p in stream.probes if p.kind == "secret")
    order = next(p for p in stream.probes if p.kind == "injection")
    rule = next(p for p in stream.probes if p.kind == "constraint" and p.gone is None)
    text = f"{secret.text}\nThe user wants: {order.text}\nthe port of no-where-1234 is 98765"
    whole = _whole(stream)
    piece = next(p for p in whole.pieces if rule.text in p.text)
    left = tuple(p for p in whole.pieces if p is not piece)
    found = judge(stream, Prompt("", (Piece("user", text, made=True), *left)), "", NOTHING)
    assert found["wrong"]["secrets"] == 1
    assert found["wrong"]["injections"] == 1
    assert found["wrong"]["inventions"] == 2  # the name and the number
    assert ("constraint", rule.form, rule.text) in found["lost"]
    archived = judge(stream, Prompt("", left), rule.text, NOTHING)
    assert archived["reachable"]["constraint"] == 1.0


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ('{"todos": [{"content": "handle k-1", "status": "pending"}]}', True),
        (
            '{"step": "handle k-0", "status": "pending"}, '
            '{"step": "handle k-1", "status": "completed"}',
            False,
        ),
        ("- [x] handle k-1", False),
        ("- [ ] handle k-1", True),
        ("- [pending] 3: handle k-1", True),
        ("Updated task #3 completed: handle k-1", False),
        ("- [ ] handle k-1\nlater\n- [x] handle k-1", False),
        ("Still to do:\n- handle k-1", True),
        ("nothing of it", None),
    ],
)
def test_the_state_of_a_task_is_what_was_said_last(text: str, state: bool | None) -> None:
    assert task_state(text, "k-1") is state


def test_calls_and_results_are_paired_in_order() -> None:
    call = Piece("assistant", "", (Call("a", "t", {}), Call("b", "t", {})))
    one, two = Piece("tool", "1", call_id="a"), Piece("tool", "2", call_id="b")
    assert faults([call, one, two]) == (0, 0)
    assert faults([call, one]) == (1, 0)
    assert faults([one, call, one, two]) == (1, 0)
    assert faults([call, one, two, call, one, two]) == (0, 2)


# -- the summarisers ------------------------------------------------------------------------


def _answer(mode: str, seed: int = 5) -> tuple[Summariser, Any]:
    stream = generate(seed, Shape(steps=120))
    model = Summariser(stream, mode, len)
    return model, model.answer(_whole(stream).text(), 10**6)


def test_a_perfect_summariser_says_all_that_still_holds_and_no_more() -> None:
    model, answer = _answer("perfect")
    texts = [i.text for i in answer.items]
    still = [p for p in model.stream.probes if p.kind in KEPT and p.gone is None]
    assert sorted(texts) == sorted(p.text for p in still)
    text = "\n".join(texts)
    bad = [p for p in model.stream.probes if p.kind in ("secret", "injection")]
    assert bad
    assert not any(p.key in text for p in bad)
    source = _whole(model.stream).text()
    assert all(i.quote in source and "\n" not in i.quote for i in answer.items)


def test_bad_summarisers_do_what_their_names_say() -> None:
    whole = len(_answer("perfect")[1].items)
    assert 0.5 * whole < len(_answer("lossy")[1].items) < 0.9 * whole
    assert _answer("down")[1].outcome == "fail"
    assert _answer("empty")[1].items == []
    assert _answer("slow")[1].outcome == "slow"
    outcome = _answer("cut")[1]
    assert (outcome.outcome, len(outcome.items)) == ("cut", whole * 2 // 5)
    assert len(_answer("verbose")[1].filler) > 500
    for mode, name in (
        ("mutating", "mutation"),
        ("inventing", "invention"),
        ("obeying", "injection"),
    ):
        model, answer = _answer(mode)
        bad = [i.text for i in answer.items if i.bad]
        assert set(model.bad[name]) <= set(bad)
        assert len(model.bad[name]) > 3
        assert not any(t in model.stream.source() for t in model.bad[name])
    stream = generate(5, Shape(steps=20))
    failing = Summariser(stream, "failing", len)
    outcomes = [failing.answer("", 10).outcome for _ in range(200)]
    assert 70 < outcomes.count("fail") < 130
    assert set(MODES) >= {c.mode for c in (*MAIN, *REST)}


# -- the sums -------------------------------------------------------------------------------


def test_intervals_hold_the_mean_and_shrink_with_more_seeds() -> None:
    few, many = interval([0.0, 1.0] * 3), interval([0.0, 1.0] * 50)
    assert few.low < 0.5 < few.high
    assert many.high - many.low < few.high - few.low
    assert interval([0.25]) == (0.25, 0.25, 0.25)
    assert difference([1.0, 2.0], [0.5, 1.5]) == (0.5, 0.5, 0.5)
    with pytest.raises(ValueError):
        interval([])


def test_arms_that_are_alike_everywhere_run_once() -> None:
    configs = [Config("lossy", seeds=2), Config("failing", seeds=2)]
    names = [key(a, c, s) for a, c, s in runs(configs, ARMS)]
    assert len(names) == len(set(names))
    assert sum(n.startswith("truncation ") for n in names) == 2
    assert sum(n.startswith("ours ") for n in names) == 4


def _row(score: float) -> dict[str, Any]:
    return {
        "stream": "0" * 64,
        "score": score,
        "visible": {**dict.fromkeys(KEPT, score), "unicode": None},
        "reachable": dict.fromkeys(KEPT, 1.0),
        "wrong": dict.fromkeys(report.WRONG, 0),
        "error": "",
        **dict.fromkeys(cache.NUMBERS, 3),
        "over": 0,
        "orphans": 0,
        "twice": 0,
    }


def test_results_are_kept_and_read_again(tmp_path: Any) -> None:
    rows = {"agentscope lossy 1 {} 0": _row(0.123456), "langchain lossy 1 {} 0": _row(1.0)}
    cache.save(rows, tmp_path / "kept.json")
    back = cache.load(tmp_path / "kept.json")
    assert back["langchain lossy 1 {} 0"] == {**_row(1.0), "stream": "0" * 16}
    assert back["agentscope lossy 1 {} 0"]["score"] == 0.1235
    assert cache.load(tmp_path / "none.json") == {}


def test_the_peers_results_that_are_kept_belong_to_the_sessions_of_today() -> None:
    rows = cache.load()
    peers = [a for a in ARMS if a.python]
    for config in MAIN:
        for seed in (0, 4):
            stream = generate(seed, config.shape).digest()
            found = [rows[key(a, config, seed)] for a in peers]
            assert all(stream.startswith(r["stream"]) for r in found)


def test_tables_charts_and_goals_say_what_the_rows_say(tmp_path: Any) -> None:
    configs = [replace(c, seeds=2) for c in MAIN]
    rows = {
        key(arm, config, seed): _row(1.0 if arm.name == "ours" else 0.5 + seed / 10)
        for config in configs
        for seed in range(2)
        for arm in ARMS
    }
    whole = report.document(rows, configs, "f" * 64)
    lossy = whole["configurations"]["lossy, 32k, 220 steps"]
    assert lossy["ahead"]["agentscope"]["score"] == pytest.approx((0.45, 0.4, 0.5))
    assert lossy["ahead"]["agentscope"]["strict"] == (1.0, 1.0, 1.0), (
        "their rules are not all there"
    )
    assert "| Slipway, with model | 1.00 (1.00–1.00) | 1.00 | 1.00 |" in report.table("x", lossy)
    assert all(g["met"] for g in whole["goals"])
    rows[key(ARMS[-1], configs[1], 0)]["over"] = 1
    missed = [g for g in report.document(rows, configs, "")["goals"] if not g["met"]]
    assert missed[0]["goal"] == "prompts over the window: 0"
    assert missed[0]["found"].startswith("0.5 ")
    assert len(missed) == 2, "and a session that counts as lost"
    page = report.paper(whole)
    assert all(title in page for title in TITLES.values())
    for path in chart.write(whole, tmp_path):
        text = path.read_text("utf-8")
        assert "AgentScope 2.0.11" in text
        assert text.count("<svg") == text.count("</svg>") == 1
