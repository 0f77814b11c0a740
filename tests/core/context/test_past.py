"""What is read of the past once serves every cut, and says what reading it afresh would say."""

from __future__ import annotations

import json
import random

from desktop_app.core.context.classes import estimate
from desktop_app.core.context.intake import absorb
from desktop_app.core.context.ledger import Ledger
from desktop_app.core.context.parts import Parts
from desktop_app.core.context.past import Past
from desktop_app.core.context.pricing import Pricer
from desktop_app.core.context.standing import Standing
from desktop_app.core.context.tokens import ClassCounter
from desktop_app.core.messages import Msg, TextBlock, ToolCallBlock, ToolResultBlock

SAID = (
    "Never touch billing_api.",
    "The rule about billing_api is lifted.",
    "Go on with port 8443, please.",
    "Only use stage-db-2.",
)
TOLD = (
    "Decision: queue_a serves the jobs.",
    "queue_a did not hold up, the jobs move to queue_b, instead of queue_a.",
    "The cause of E4711 was pool_size=4.",
    "- [ ] write src/a.py\n- [x] read src/b.py",
)


def _session(rng: random.Random) -> list[Msg]:
    context = [Msg.user("Build it in /srv/app.")]
    for n in range(40):
        if rng.random() < 0.4:
            context.append(Msg.user(rng.choice(SAID)))
            continue
        reply = Msg(name="a", role="assistant")
        for step in range(rng.randrange(1, 4)):
            name, path = f"c{n}-{step}", f"src/part{rng.randrange(5)}.py"
            state = rng.choice(("success", "success", "error"))
            reply.content += [
                TextBlock(text=rng.choice(TOLD)),
                ToolCallBlock(id=name, name="Edit", input=json.dumps({"file_path": path})),
                ToolResultBlock(id=name, name="Edit", output=f"port_{n} is open", state=state),
            ]
        context.append(reply)
    return context


def _afresh(context: list[Msg], gone: set[int], front: int | None, blocks: int) -> Ledger:
    left = [m for n, m in enumerate(context) if n in gone]
    if front is not None:
        left.append(context[front].model_copy(update={"content": context[front].content[:blocks]}))
    ledger = Ledger()
    absorb(ledger, left, estimate)
    return ledger


def test_ledgers_of_many_cuts_are_those_read_afresh_and_share_nothing_that_changes() -> None:
    for seed in range(8):
        rng = random.Random(seed)
        context = _session(rng)
        entries = Parts(Pricer(ClassCounter())).of(context)
        past, made = Past(Standing.of(context, entries), Ledger()), list[tuple[Ledger, str]]()
        for cut in [*sorted(rng.choices(range(2, len(context)), k=6)), 1, len(context) // 2]:
            front = cut if context[cut].role == "assistant" else None
            blocks = 3 if front is not None else 0
            gone = set(range(cut)) - ({rng.randrange(cut)} if rng.random() < 0.3 else set())
            ledger = past.ledger(gone, front, blocks, estimate)
            assert ledger == _afresh(context, gone, front, blocks)
            made.append((ledger, ledger.model_dump_json()))
        assert [one.model_dump_json() for one, _ in made] == [text for _, text in made]
        assert past.first == Ledger()
