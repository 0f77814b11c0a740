"""Any sequence of what can happen to a session: the journal is what was acknowledged, and replaying
it gives the live state."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from desktop_app.core.errors import SessionError
from desktop_app.core.sessions.base import NewRecord, OpUpdate
from desktop_app.core.sessions.memory import MemoryJournalStore
from desktop_app.core.sessions.sqlite import SqliteJournalStore
from tests.helpers.journals import KEY

TEXT = st.text(
    st.characters(codec=None, exclude_categories=()), max_size=20
)  # lone surrogates and NUL included
KINDS = st.sampled_from(["user.message", "tool.result", "compaction", "compaction.undone", "x"])
STATES = st.sampled_from(["planned", "asking", "approved", "intent", "done", "failed", "unknown"])


class Sessions(RuleBasedStateMachine):
    """``said`` is what was acknowledged; ``live`` a state folded as it happened, with an undo."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.said: list[tuple[str, str]] = []
        self.live: list[str] = []
        self.ops: dict[str, tuple[str, int]] = {}
        self.started: set[tuple[str, int]] = set()
        self.draft = b""
        self.blobs: list[tuple[object, bytes]] = []
        self.snapshot: tuple[int, bytes] | None = None

    def run(self, coroutine):
        return self.runner.run(coroutine)

    def make_store(self):
        return MemoryJournalStore()

    @initialize()
    def create(self) -> None:
        self.store = self.make_store()
        self.journal = self.run(self.store.create(KEY, {}))

    @staticmethod
    def fold(state: list[str], kind: str, text: str) -> list[str]:
        if kind == "compaction":
            return [f"summary of {json.dumps(state)}"]
        if kind == "compaction.undone":
            newest = state[:1]
            if newest and newest[0].startswith("summary of "):
                return [*json.loads(newest[0].removeprefix("summary of ")), *state[1:]]
            return state
        return [*state, text]

    @rule(records=st.lists(st.tuples(KINDS, TEXT), max_size=4), keep=st.booleans())
    def append(self, records, keep) -> None:
        new = [NewRecord(kind, {"text": text}) for kind, text in records]
        made = self.run(self.journal.append(new, draft=None if keep else b""))
        assert [r.seq for r in made] == list(
            range(len(self.said) + 2, len(self.said) + 2 + len(new))
        )
        self.said += records
        for kind, text in records:
            self.live = self.fold(self.live, kind, text)
        self.draft = self.draft if keep else b""

    @rule(name=st.sampled_from("abc"), state=STATES, attempt=st.integers(1, 2), read=st.booleans())
    def operate(self, name, state, attempt, read) -> None:
        op = f"{name}{'-read' if read else ''}"
        update = OpUpdate(op, state, "Tool", effect="read" if read else "unsafe", attempt=attempt)
        try:
            self.run(self.journal.append([], ops=[update], draft=None))
        except SessionError as error:
            assert error.code == "operation.repeated"  # noqa: PT017
            assert not read
            assert state == "intent"
            assert any(o == op and a >= attempt for o, a in self.started)
            return
        known = self.ops.get(op, ("", 1))[1]
        if state == "intent" and not read:
            assert (op, attempt) not in self.started, "an unsafe operation starts once an attempt"
            self.started.add((op, max(attempt, known)))
        self.ops[op] = (state, max(attempt, known))

    @rule(data=st.binary(max_size=50))
    def save_draft(self, data) -> None:
        self.run(self.journal.save_draft(data))
        self.draft = data

    @rule(data=st.binary(max_size=50))
    def put_blob(self, data) -> None:
        self.blobs.append((self.run(self.journal.put_blob(data)), data))

    @rule()
    def put_snapshot(self) -> None:
        head = self.journal.info.head
        data = json.dumps(self.live).encode()
        self.run(self.journal.put_snapshot(head, data))
        self.snapshot = (head, data)

    @rule()
    def reopen(self) -> None:
        self.run(self.journal.close())
        self.journal = self.run(self.store.open(KEY))
        assert self.journal.info.writable

    @rule()
    def steal(self) -> None:
        old = self.journal
        self.journal = self.run(self.store.open(KEY, steal=True))
        try:
            self.run(old.append([NewRecord("user.message", {"text": "of the past"})]))
            raise AssertionError("a former writer must be fenced")
        except SessionError as error:
            assert error.code == "journal.fenced"  # noqa: PT017
        self.run(old.close())

    @rule()
    def look_on(self) -> None:
        reader = self.run(self.store.open(KEY))
        assert reader.info.why == "journal.in_use"
        assert len(self.run(reader.read())) == len(self.said) + 1
        self.run(reader.close())

    @invariant()
    def all_is_there(self) -> None:
        if not hasattr(self, "journal"):
            return
        records = self.run(self.journal.read())
        assert [r.seq for r in records] == list(range(1, len(self.said) + 2))
        assert [(r.kind, r.body()["text"]) for r in records[1:]] == self.said
        replayed: list[str] = []
        for record in records[1:]:
            replayed = self.fold(replayed, record.kind, record.body()["text"])
        assert replayed == self.live
        assert self.run(self.journal.draft()) == self.draft
        ops = self.run(self.journal.operations())
        assert {op.op_id: (op.state, op.attempt) for op in ops} == self.ops
        assert self.run(self.journal.snapshot()) == self.snapshot
        for ref, data in self.blobs:
            assert self.run(self.journal.get_blob(ref)) == data

    def teardown(self) -> None:
        if hasattr(self, "journal"):
            assert self.run(self.journal.verify()) is None
            self.run(self.journal.close())
        self.runner.close()


class SqliteSessions(Sessions):
    def make_store(self):
        self.folder = Path(tempfile.mkdtemp())
        self.copies = 0
        return SqliteJournalStore(self.folder / "0")

    @rule()
    def crash(self) -> None:
        """The files as a killed process leaves them, opened elsewhere by another."""
        self.copies += 1
        image = self.folder / str(self.copies)
        shutil.copytree(self.store.root, image, ignore=shutil.ignore_patterns("*-shm"))
        self.run(self.journal.close())
        self.store = SqliteJournalStore(image)
        self.journal = self.run(self.store.open(KEY))
        assert self.journal.info.writable

    def teardown(self) -> None:
        super().teardown()
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)


SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
TestMemory = Sessions.TestCase
TestMemory.settings = settings(
    max_examples=40, stateful_step_count=25, deadline=None, suppress_health_check=SLOW
)
TestSqlite = SqliteSessions.TestCase
TestSqlite.settings = settings(
    max_examples=25, stateful_step_count=20, deadline=None, suppress_health_check=SLOW
)
