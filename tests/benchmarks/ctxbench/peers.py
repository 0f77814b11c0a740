"""The other engines, each in a process and an environment of its own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from .events import Agent, Call, Person, Piece, Prompt
from .summarise import flat
from .system import PROMPT, System, texts_in

HERE = Path(__file__).parent
SUMMARY = 3000  # tokens that a peer's summary may have, or a 20th of the window


class Peer(System):
    """Drives a child. ``python`` runs it, ``setting`` is told to it."""

    script = ""
    setting = ""
    archives = False

    def __init__(self, *args: Any, python: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._pieces: dict[int, Piece] = {}
        self._child = subprocess.Popen(
            [python, "-W", "ignore", str(HERE / self.script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            cwd=self.folder,
        )
        self._write(
            {
                "folder": str(self.folder / "workspace"),
                "window": self.window,
                "prompt": PROMPT,
                "tools": self.tools,
                "setting": self.setting,
            }
        )

    async def person(self, event: Person) -> None:
        self._write({"person": event.text})

    async def agent(self, event: Agent) -> None:
        size = self._call()
        spoken = self.scales.count(Piece("assistant", event.text, event.calls).render())
        body = {
            "text": event.text,
            "calls": [[c.id, c.name, c.args] for c in event.calls],
            "results": [[r.call_id, r.text, r.state] for r in event.results],
        }
        self._write({"agent": body, "usage": [size, spoken]})

    async def end(self) -> None:
        self._call()

    async def close(self) -> None:
        assert self._child.stdin is not None
        self._child.stdin.close()
        self._child.wait(20)
        assert self._child.stdout is not None
        self._child.stdout.close()

    def archive(self) -> str:
        return texts_in(self.folder / "workspace") if self.archives else ""

    def _write(self, value: Any) -> None:
        assert self._child.stdin is not None
        self._child.stdin.write(json.dumps(value) + "\n")
        self._child.stdin.flush()

    def _read(self) -> Any:
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.script} ended with {self._child.wait(10)}")
        return json.loads(line)

    def _call(self) -> int:
        self._write({"call": True})
        while "summarise" in (said := self._read()):
            budget = max(SUMMARY, self.window // 20)
            answer = self.model.answer(said["summarise"], budget)
            items = [(i.kind, i.text) for i in answer.items]
            body = {"outcome": answer.outcome, "items": items, "filler": answer.filler}
            self._write({**body, "flat": flat(answer)})
        for number, piece in said["new"].items():
            calls = tuple(Call(i, n, a) for i, n, a in piece.pop("calls"))
            self._pieces[int(number)] = Piece(calls=calls, **piece)
        self.seconds += said["seconds"]
        if said["compacted"]:
            self.changed()
        if said["error"]:
            self.errors.append(said["error"])
        return self.sent(Prompt(self.fixed, tuple(self._pieces[n] for n in said["prompt"])))


class AgentScope(Peer):
    name = "AgentScope 2.0.11"
    script = "child_agentscope.py"
    archives = True


class LangChain(Peer):
    name = "LangChain 1.5.2, default"
    script = "child_langchain.py"
    setting = "default"


class LangChainTuned(LangChain):
    name = "LangChain 1.5.2, keep 10 %, no trim"
    setting = "tuned"
