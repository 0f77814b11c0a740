"""Results in words and numbers: tables, ``ctxbench.json``, goals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .generate import generate
from .judge import KEPT
from .matrix import ARMS, MAIN, TITLES, VERSION, Arm, Config, key
from .stats import Interval, difference, interval

Rows = Mapping[str, dict[str, Any]]  # by ``matrix.key``
COLUMNS = ("over", "orphans", "twice", "errors", "compactions", "calls", "read", "final")
WRONG = ("mutations", "inventions", "injections", "secrets", "done_as_pending", "stale")
FAIRNESS = (
    "The sessions are made by a program. Half of the rules, most decisions and most facts have no "
    "cue word; task lists come from tools that Slipway has and from tools that it does not know.",
    "The generator is ours, and most of its sentences were known while the engine's rules were "
    "made. Three tables use other, held-out sentences for the same things: they say how much of "
    "the result comes from that.",
    "What only tool output says is planted as a line, or as a row of JSON, that is unlike its "
    "neighbours. Slipway keeps lines and rows that are unlike the others without knowing their "
    "words; a fact among others of its kind would be found less often.",
    "No real model writes summaries here. A scripted one sees exactly the text that a system sends "
    "and answers alike for all of them; Slipway's request asks it to leave out what is kept "
    "anyway, and it does. A peer's summary may have 3,000 tokens or a 20th of the window, "
    "Slipway's notes what it allows itself, which is less.",
    "Every system hears the true size of its last prompt, as a provider would report it. "
    "AgentScope does not use it, LangChain and Slipway do.",
    "Defaults are taken, not tuned for the test; LangChain has no default trigger and gets 80 % of "
    "the window, and a second arm with a better setting than its default. Waits between its tries "
    "are skipped.",
    "AgentScope runs with its workspace as offloader, so that what it compacts stays readable. "
    "LangChain, truncation and masking keep nothing: what leaves is gone.",
    "A prompt longer than the window is counted, not refused: peers go on as if the model had "
    "answered. Only in the last prompt does it matter: too long, it reaches no model, and nothing "
    "in it counts as visible.",
    "Prompts in which a call id occurs twice are counted apart: the sessions repeat ids, as some "
    "providers do, and not every system renames them.",
    "AgentScope's agent is driven through its own methods for compaction and for the state that it "
    "adds to prompts, step by step, not through its whole reply loop.",
)


def values(rows: Rows, arm: Arm, config: Config) -> dict[int, dict[str, Any]]:
    """An arm's rows of a configuration by seed; those that there are."""
    names = {seed: key(arm, config, seed) for seed in range(config.seeds)}
    return {seed: rows[n] for seed, n in names.items() if n in rows}


def mean(numbers: Sequence[float | None]) -> float | None:
    """Of those that are there."""
    there = [n for n in numbers if n is not None]
    return sum(there) / len(there) if there else None


def summary(rows: Rows, configs: Sequence[Config]) -> dict[str, Any]:
    """All figures, by configuration and arm."""
    found: dict[str, Any] = {}
    for config in configs:
        arms = {a.name: _arm([*v.values()]) for a in ARMS if (v := values(rows, a, config))}
        if arms:
            seeds = max(a["seeds"] for a in arms.values())
            found[config.name] = {"seeds": seeds, "arms": arms}
            found[config.name]["ahead"] = _ahead(rows, config)
    return found


def _arm(found: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "seeds": len(found),
        "score": list(interval([r["score"] for r in found])),
        "strict": list(interval([strict(r) for r in found])),
        "visible": {k: mean([r["visible"][k] for r in found]) for k in KEPT},
        "reachable": {k: mean([r["reachable"][k] for r in found]) for k in KEPT},
        "wrong": {k: mean([r["wrong"][k] for r in found]) for k in WRONG},
        "largest": max(r["largest"] for r in found),
        **{k: mean([r[k] for r in found]) for k in COLUMNS},
    }


def _ahead(rows: Rows, config: Config) -> dict[str, Any]:
    """How far Slipway is ahead of each other system, a seed at a time."""
    ours = next(a for a in ARMS if a.name == "ours")
    mine = values(rows, ours, config)
    found: dict[str, Any] = {}
    for arm in ARMS:
        theirs = values(rows, arm, config)
        both = [seed for seed in mine if seed in theirs]
        if not arm.ours and both:
            scores = [mine[s]["score"] for s in both], [theirs[s]["score"] for s in both]
            hard = [strict(mine[s]) for s in both], [strict(theirs[s]) for s in both]
            found[arm.name] = {"score": difference(*scores), "strict": difference(*hard)}
    return found


def volume(rows: Rows, configs: Sequence[Config]) -> dict[str, Any]:
    """How much the sessions hold: what the person writes, and all of it."""
    found: dict[str, Any] = {}
    for config in configs:
        streams = [generate(seed, config.shape) for seed in range(min(config.seeds, 5))]
        ours = values(rows, next(a for a in ARMS if a.name == "ours"), config)
        said = [r["said"] for r in ours.values()]
        found[config.name] = {
            "steps": mean([s.steps() for s in streams]),
            "characters": mean([len(s.source()) for s in streams]),
            "said_characters": mean([len(s.said()) for s in streams]),
            "said_tokens": mean(said),
        }
    return found


def document(rows: Rows, configs: Sequence[Config], generator: str) -> dict[str, Any]:
    """``ctxbench.json``."""
    return {
        "version": VERSION,
        "generator": generator,
        "volume": volume(rows, configs),
        "fairness": list(FAIRNESS),
        "arms": TITLES,
        "configurations": (found := summary(rows, configs)),
        "goals": [{"goal": g, "met": m, "found": f} for g, m, f in goals(found)],
    }


def strict(row: dict[str, Any]) -> float:
    """The score where nothing may go wrong: none for a session with a prompt that no model takes,
    or in which the task, a rule or a pending thing was lost."""
    protected = (row["visible"][k] for k in ("task", "constraint", "pending"))
    whole = all(v is None or v == 1 for v in protected)
    return row["score"] if whole and not row["over"] and not row["orphans"] else 0.0


# -- goals -----------------------------------------------------------------------------------


def goals(found: dict[str, Any]) -> list[tuple[str, bool, str]]:
    """Each goal of the benchmark, whether it is met, and what was found."""
    ours = {name: c["arms"]["ours"] for name, c in found.items() if "ours" in c["arms"]}
    if not ours:
        return []
    usual = [c.name for c in MAIN if c.name in ours and c.mode != "perfect"]
    perfect = [c.name for c in MAIN if c.name in ours and c.mode == "perfect"]
    made: list[tuple[str, bool, str]] = []

    def least(goal: str, names: Sequence[str], kinds: Sequence[str], at: float, of: str) -> None:
        shares = [(ours[n][of][k], f"{k} with {n}") for n in names for k in kinds]
        there = [(v, what) for v, what in shares if v is not None]
        if there:
            worst, what = min(there)
            made.append((goal, worst >= at - 1e-9, f"{worst:.3f} ({what})"))

    def none(goal: str, names: Sequence[str], columns: Sequence[str], part: str = "") -> None:
        counts = [
            ((ours[n][part] if part else ours[n])[c], f"{c}, {n}") for n in names for c in columns
        ]
        worst, what = max(counts)
        made.append((goal, worst == 0, f"{worst:g} ({what})"))

    every = list(ours)
    none("prompts over the window: 0", every, ("over",))
    none("prompts that a provider would refuse: 0", every, ("orphans", "twice"))
    must, fits = ("task", "constraint", "pending"), [n for n in every if "chatty" not in n]
    least("task, constraints, pending visible: 1.00", fits, must, 1.0, "visible")
    chatty = [n for n in every if "chatty" in n]
    least("… of people who write pages: 0.95", chatty, must, 0.95, "visible")
    least("… reachable: 1.00", every, must, 1.0, "reachable")
    main = usual + perfect
    least("decisions, artifacts: 0.95", main, ("decision", "artifact"), 0.95, "visible")
    least("facts restated: 0.95", main, ("fact_restated", "fix"), 0.95, "visible")
    lossy = [n for n in usual if n.startswith("lossy")]
    least("facts only in tool output, lossy model: 0.6", lossy, ("fact_raw",), 0.6, "visible")
    least("everything reachable: 1.00", every, KEPT, 1.0, "reachable")
    wrong = ("mutations", "inventions", "injections", "secrets")
    none("mutations, inventions, injections, secrets: 0", every, wrong, "wrong")
    made += _ahead_goals(found)
    return made


def _ahead_goals(found: dict[str, Any]) -> list[tuple[str, bool, str]]:
    made: list[tuple[str, bool, str]] = []
    for kind, words in (
        ("score", "Q above every peer where the summariser is not perfect"),
        ("strict", "… with sessions counted as lost in which a prompt or a protected thing was"),
    ):
        imperfect = [
            (ahead[kind][1], f"{TITLES[arm]}, {name}")
            for name, config in found.items()
            if not name.startswith("perfect")
            for arm, ahead in config["ahead"].items()
        ]
        if imperfect:
            worst, where = min(imperfect)
            made.append((f"{words} (95 % interval)", worst > 0, f"{worst:+.3f} ({where})"))
    perfect = [
        (ahead["score"][0], f"{TITLES[arm]}, {name}")
        for name, config in found.items()
        if name.startswith("perfect")
        for arm, ahead in config["ahead"].items()
    ]
    if perfect:
        worst, where = min(perfect)
        made.append(("Q not below where it is perfect", worst > -0.005, f"{worst:+.3f} ({where})"))
    return made


# -- tables ----------------------------------------------------------------------------------

HEADS = {
    "task": "task",
    "constraint": "rules",
    "pending": "pending",
    "decision": "decisions",
    "artifact": "files",
    "fix": "fixes",
    "fact_restated": "facts said",
    "fact_raw": "facts in output",
}


def table(name: str, config: dict[str, Any]) -> str:
    """A configuration as Markdown."""
    heads = ["", "Q", "strict", *HEADS.values(), "reach.", "wrong", "over", "largest", "sum. calls"]
    lines = [f"### {name} · {config['seeds']} seeds", "", _line(heads), _line(["---"] * len(heads))]
    for arm, title in TITLES.items():
        if (found := config["arms"].get(arm)) is None:
            continue
        shares = [_share(found["visible"][k]) for k in HEADS]
        reachable = mean([v for v in found["reachable"].values() if v is not None])
        wrong = sum(v for k, v in found["wrong"].items() if k not in ("stale", "done_as_pending"))
        fewer = f" ({found['seeds']} seeds)" if found["seeds"] < config["seeds"] else ""
        hard = _share(found["strict"][0])
        cells = [title + fewer, _score(Interval(*found["score"])), hard, *shares, _share(reachable)]
        cells += [f"{wrong:.1f}", f"{found['over']:.1f}", f"{found['largest']:,}"]
        lines.append(_line([*cells, f"{found['calls']:.0f}"]))
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _score(value: Interval) -> str:
    return f"{value.mean:.2f} ({value.low:.2f}–{value.high:.2f})"


PAPER = """# What a full context window still knows: results

Made by `make bench-context ARGS=--publish`; do not edit. Generated sessions are replayed through
each system with the same scripted summariser, and the last prompt is searched for what was planted.
`Q` is the score (0 to 1) with its 95 % interval over the sessions, `strict` the same where a
session counts as 0 that had a prompt over the window or lost its task, a rule or a pending thing.
The other columns are shares of what should be there and stands in the last prompt. `reach.` counts
what the agent can still find in files, `wrong` what a summary changed, invented, obeyed or leaked,
`over` the prompts of a session that were longer than the window, `largest` the longest prompt in
tokens.

Generator {generator}, version {version}.
"""


def paper(whole: dict[str, Any]) -> str:
    """The results as a page of their own."""
    parts = [PAPER.format(generator=whole["generator"][:16], version=whole["version"])]
    parts.append("## Goals\n\n| goal | | worst |\n| --- | --- | --- |")
    parts[-1] += "".join(
        f"\n| {g['goal']} | {'met' if g['met'] else 'missed'} | {g['found']} |"
        for g in whole["goals"]
    )
    parts.append("## How far this can be trusted\n\n" + "\n".join(f"- {f}" for f in FAIRNESS))
    parts.append(_volumes(whole["volume"]))
    parts.append("## Tables")
    parts += [table(name, found) for name, found in whole["configurations"].items()]
    return "\n\n".join(parts) + "\n"


def _volumes(volume: dict[str, Any]) -> str:
    lines = [
        "## How much the sessions hold",
        "",
        _line(["", "model calls", "characters", "said by the person", "in tokens"]),
        _line(["---"] * 5),
    ]
    for name, found in volume.items():
        numbers = [found[k] for k in ("steps", "characters", "said_characters", "said_tokens")]
        lines.append(_line([name, *("–" if n is None else f"{n:,.0f}" for n in numbers)]))
    return "\n".join(lines)
