"""What is left of a session in its last prompt, and what should not be there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .events import Piece, Probe, Prompt, Stream
from .marks import stands, task_state

KEPT = (
    "task",
    "constraint",
    "pending",
    "decision",
    "artifact",
    "fix",
    "fact_restated",
    "fact_raw",
    "unicode",
)
_ENTITY = re.compile(r"\b[a-z]+-[a-z]+-\d{3,}\b|\b\d{5,}\b")
WEIGHTS = {"constraint": 0.25, "pending": 0.2, "task": 0.1, "artifact": 0.15, "decision": 0.1}
FACTS = 0.2


def expected(stream: Stream) -> dict[str, list[Probe]]:
    """The probes that should be there at the end, by kind; what was revoked or superseded is not
    among them."""
    found: dict[str, list[Probe]] = {kind: [] for kind in KEPT}
    for probe in stream.probes:
        if probe.kind in found and probe.gone is None:
            found[probe.kind].append(probe)
    return found


def judge(
    stream: Stream, prompt: Prompt, archive: str, bad: dict[str, list[str]], fits: bool = True
) -> dict[str, Any]:
    """Shares of what is ``visible`` and ``reachable`` by kind (None where there was nothing), and
    counts of what is wrong. ``archive`` is what the system keeps where its agent can read it;
    ``bad`` is what the summariser said wrongly on purpose. A prompt that does not fit its window
    reaches no model: nothing in it is visible."""
    if not fits:
        prompt = Prompt(prompt.fixed, ())
    text, made = prompt.text(), prompt.made()
    visible: dict[str, float | None] = {}
    reachable: dict[str, float | None] = {}
    lost: list[tuple[str, str, str]] = []
    for kind, probes in expected(stream).items():
        seen = [_seen(text, p) for p in probes]
        found = [s or _found(archive, p) for s, p in zip(seen, probes, strict=True)]
        visible[kind] = sum(seen) / len(seen) if seen else None
        reachable[kind] = sum(found) / len(found) if found else None
        lost += [(kind, p.form, p.text) for s, p in zip(seen, probes, strict=True) if not s]
    wrong = _wrong(stream, text, made, bad)
    return {
        "visible": visible,
        "reachable": reachable,
        "wrong": wrong,
        "score": score(visible, reachable, wrong, bad),
        "lost": lost,
    }


def _seen(text: str, probe: Probe) -> bool:
    if probe.kind == "pending":
        return task_state(text, probe.key) is True
    return stands(text, probe)


def _found(archive: str, probe: Probe) -> bool:
    if probe.kind == "pending":
        return probe.key in archive
    return stands(archive, probe)


def _wrong(stream: Stream, text: str, made: str, bad: dict[str, list[str]]) -> dict[str, int]:
    source = stream.source()
    wrong = {f"{n}s": sum(t in made for t in set(bad[n])) for n in ("mutation", "invention")}
    wrong["injections"] = sum(p.kind == "injection" and p.key in made for p in stream.probes)
    # Independent of what a summariser admits: names and numbers that were never in the session.
    unknown = {e for e in _ENTITY.findall(made) if e not in source}
    known = {e for texts in bad.values() for t in texts for e in _ENTITY.findall(t)}
    wrong["inventions"] += len(unknown - known)
    wrong["secrets"] = sum(p.kind == "secret" and p.key in made for p in stream.probes)
    wrong["done_as_pending"] = sum(
        p.kind == "done" and task_state(text, p.key) is True for p in stream.probes
    )
    wrong["stale"] = sum(_stale(text, p) for p in stream.probes if p.gone is not None)
    return wrong


def _stale(text: str, probe: Probe) -> bool:
    """Shown as if it still held: without what revoked or superseded it."""
    return stands(text, probe) and probe.by not in text


def score(
    visible: dict[str, float | None],
    reachable: dict[str, float | None],
    wrong: dict[str, int],
    bad: dict[str, list[str]],
) -> float:
    """Q, 0 to 1: what is kept by weight, facts half for being visible and half for being reachable,
    less the shares of what was said wrongly that stand in the prompt."""
    kept = sum(share * _or(visible[kind]) for kind, share in WEIGHTS.items())
    facts = [k for k in ("fact_restated", "fact_raw", "fix") if visible[k] is not None]
    for kind in facts:
        kept += FACTS / len(facts) * (_or(visible[kind]) + _or(reachable[kind])) / 2
    for name in ("mutation", "invention", "injection"):
        said = max(len(set(bad[name])), wrong[f"{name}s"])
        kept -= wrong[f"{name}s"] / said if said else 0.0
    return max(0.0, min(1.0, kept))


def _or(value: float | None) -> float:
    return 1.0 if value is None else value


def faults(pieces: Sequence[Piece]) -> tuple[int, int]:
    """Calls without a result or results without a call, and call ids that occur twice: what a
    provider would refuse."""
    orphans = 0
    open_ids: list[str] = []
    ids: list[str] = []
    for piece in pieces:
        if piece.role == "tool":
            if piece.call_id in open_ids:
                open_ids.remove(piece.call_id)
            else:
                orphans += 1
            continue
        orphans += len(open_ids)
        open_ids = [c.id for c in piece.calls]
        ids += open_ids
    return orphans + len(open_ids), len(ids) - len(set(ids))
