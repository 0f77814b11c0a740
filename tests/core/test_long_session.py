"""A session of 300 turns through the whole core: service, journal on disk, workspace, models
process, HTTP. What the person asked for, forbade and left open goes over the wire to the last.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from desktop_app.core import events as ev
from desktop_app.core.context.tokens import Counter, load_counter
from desktop_app.core.models.base import ModelInfo
from desktop_app.core.models.definitions import ModelDefinition
from desktop_app.core.paths import paths
from desktop_app.core.service import Slipway
from desktop_app.core.sessions.base import SessionKey
from tests.helpers import providers as wire
from tests.helpers.providers import Answer, Asked, Server
from tests.helpers.sessions import collect, of

TURNS, WINDOW = 300, 20_000
TASK = "Keep the reading list in list.txt in order, 国庆 included."
RULES = ("Never delete list.txt.", "从现在起不要改动 数据.csv。")
PENDING = "compare the two editions of book 7"
FRAME = 4  # tokens that a chat template puts around each message


def text_of(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, list):
        content = "\n".join(str(part.get("text", "")) for part in content)
    calls = [c["function"] for c in message.get("tool_calls") or ()]
    return content + "".join(f"\n{c['name']} {c['arguments']}" for c in calls)


class Provider:
    """Answers by rules from the request alone, so it knows what the prompt tells and nothing else,
    and tells its true size. Of its notes every third is no answer at all, every third invents."""

    def __init__(self, counter: Counter) -> None:
        self.prompts: list[list[str]] = []
        self.largest = self.notes = 0
        self._counter = counter
        self._known: dict[str, int] = {}

    def size(self, texts: list[str]) -> int:
        for text in texts:
            if text not in self._known:
                self._known[text] = int(self._counter.count(text)) + FRAME
        return sum(self._known[t] for t in texts)

    def __call__(self, asked: Asked) -> Answer:
        messages = asked.body["messages"]
        texts = [text_of(m) for m in messages]
        whole = [*texts, json.dumps(asked.body.get("tools", []))]
        usage = (self.size(whole), 20, 0)
        self.largest = max(self.largest, usage[0])
        if "about to leave your context" in texts[-1]:
            return self._notes(usage)
        if "tools" not in asked.body:
            return wire.chat("Reading list", usage=usage)
        self.prompts.append(texts)
        if messages[-1]["role"] == "tool":
            return wire.chat("So it says. " * 12, usage=usage)
        if "Note what is left" in texts[-1]:
            subject = json.dumps({"subject": PENDING, "description": "later"})
            return wire.chat(calls=[("c-task", "TaskCreate", subject)], usage=usage)
        if "What do you know" in texts[-1]:
            before = "\n".join(texts[:-1])
            return wire.chat(
                "\n".join(s for s in (TASK, *RULES, PENDING) if s in before), usage=usage
            )
        number = len(self.prompts)
        if number % 3 == 0:
            read = json.dumps({"file_path": "list.txt"})
            return wire.chat(calls=[(f"c{number}", "Read", read)], usage=usage)
        return wire.chat(f"Looked at {number}. " * 30, usage=usage)

    def _notes(self, usage: tuple[int, int, int]) -> Answer:
        self.notes += 1
        match self.notes % 3:
            case 0:
                return wire.chat("", usage=usage)
            case 1:
                items = [{"kind": "fact", "text": "book 3 was bought in 1953", "quote": "book 3"}]
            case _:
                invented = "The person wants every file signed with key-991."
                items = [{"kind": "constraint", "text": invented, "quote": invented}]
        return wire.chat(json.dumps({"items": items}), usage=usage)


async def opened(home: Path, server: Server, failures: list[str]) -> Slipway:
    service = await Slipway.open(
        paths(home), on_error=lambda name, error: failures.append(f"{name}: {error!r}")
    )
    one = ModelDefinition(
        "local", "compatible", "m", "Local", address=f"{server.url}/v1", window=WINDOW,
        max_output=2_000,
    )  # fmt: skip
    await service.library.put(one)
    service.default_model = one.id
    return service


async def turns(service: Slipway, key: SessionKey, numbers: range) -> list[ev.RunFinished]:
    talk = await service.conversation(key)
    ends: list[ev.RunFinished] = []
    for n in numbers:
        words = f"Go on with step {n}." if n else f"{TASK} {RULES[0]} {RULES[1]}"
        if n == 3:
            words = "Note what is left for later."
        ends += of(await collect(talk.send(words)), ev.RunFinished)
    return ends


@pytest.mark.timeout(600)  # 15 s of work on a quiet machine; a busy one takes its time
async def test_three_hundred_turns_over_the_wire_and_a_restart(tmp_path: Path) -> None:
    folder, failures = tmp_path / "books", list[str]()
    provider = Provider(await load_counter(ModelInfo("m", "m", 1, 1, tokenizer="o200k_base")))
    folder.mkdir()
    lines = (f"book {n}: a title of some length, bought in {1950 + n}\n" for n in range(60))
    (folder / "list.txt").write_text("".join(lines))
    with Server(*[provider] * (4 * TURNS)) as server:
        service = await opened(tmp_path / "home", server, failures)
        info = await service.add_folder(str(folder), trusted=True)
        key = await service.new_session(info.id)
        ends = await turns(service, key, range(TURNS // 2))
        first = await (await service.conversation(key)).compactions()
        assert await service.close() == []

        service = await opened(tmp_path / "home", server, failures)
        ends += await turns(service, key, range(TURNS // 2, TURNS))
        talk = await service.conversation(key)
        ends += of(await collect(talk.send("What do you know of all this?")), ev.RunFinished)
        done = await talk.compactions()
        knows = talk.state.context[-1].text()
        assert await service.close() == []
    assert failures == []
    assert {(e.reason, e.code) for e in ends} == {("completed", None)}
    assert len(ends) == TURNS + 1
    assert len(first) >= 2
    assert len(done) >= len(first) + 2
    assert len(done) >= 5
    assert provider.notes >= 5
    assert knows.splitlines() == [TASK, *RULES, PENDING]
    # From the moment they were said they are in every prompt, through every compaction.
    for number, prompt in enumerate(provider.prompts):
        said = "\n".join(prompt)
        assert all(words in said for words in (TASK, *RULES)), number
        assert PENDING in said or number < 6, number
        assert "key-991" not in said, number
    assert provider.largest <= WINDOW
