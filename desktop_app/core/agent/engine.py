"""The session's view of its context window: the prompt and its account.

It builds the model's input from the live state and says who uses the window. What is done when the
window fills is ``room``.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from operator import is_
from typing import Any

from desktop_app.core.context.accounting import Accounting
from desktop_app.core.context.build import Envelope, Prompt, PromptBuilder, compaction_part
from desktop_app.core.context.compaction import check_fits
from desktop_app.core.context.counted import Counted
from desktop_app.core.context.figures import HISTORY, CallCount
from desktop_app.core.context.ingest import BATCH, FEWEST, Allowance
from desktop_app.core.context.kept import adopt, dump
from desktop_app.core.context.limits import (
    MIN_WINDOW,
    output_from_error,
    resolve,
    window_beside_output,
    window_from_error,
)
from desktop_app.core.context.ratios import Ratios
from desktop_app.core.context.tokens import counter_of, load_ranks
from desktop_app.core.context.types import Breakdown, Limits
from desktop_app.core.errors import ModelError, SlipwayError
from desktop_app.core.messages import Usage
from desktop_app.core.models.base import ChatModel, ModelRequest, TextPart, effort_of
from desktop_app.core.skills import SkillSet
from desktop_app.core.tools.bounds import Bounded, bound
from desktop_app.core.workspaces.base import Workspace

from .closing import closing
from .log import SessionLog
from .policy import Policy
from .toolbox import Toolbox

logger = logging.getLogger(__name__)

SHORT = 2_000  # characters: counted at once
NOTE = 130  # tokens of the note that says where the whole result is
LOOK_SECONDS = 1.0  # within a turn the workspace is looked at again at most this often


@dataclass(frozen=True, slots=True)
class Sent:
    """A call: its prompt, the model and the account of it, tokens by the estimate and by its upper
    bound, and the compaction that it was made after."""

    prompt: Prompt
    model: ChatModel
    account: Accounting
    total: int
    upper: int
    gen: int


class ContextEngine:
    """One session's prompt and its account."""

    def __init__(
        self,
        log: SessionLog,
        model: Callable[[], ChatModel],
        toolbox: Toolbox,
        workspace: Workspace,
        prompt: str,
        agent_id: str,
        ratios: Ratios | None = None,
        policy: Callable[[], Policy] = Policy,
        models: Callable[[str], ChatModel] | None = None,
    ) -> None:
        self.log = log
        self._model = model
        self._toolbox = toolbox
        self._workspace = workspace
        self._system = prompt
        self._agent_id = agent_id
        self._builder = PromptBuilder()
        self._built: tuple[tuple[object, ...], int, Prompt] | None = None
        self._ratios = ratios or Ratios()
        self._policy = policy
        self._models = models
        # By model: the window that its provider's error named, and the longest answer.
        self._refused: dict[str, int] = {}
        self._longest: dict[str, int] = {}
        self._calls: deque[CallCount] = deque(maxlen=HISTORY)
        self._resume: Counted | None = None
        self.resume()
        log.read = self._read
        self._accounts: dict[tuple[object, ...], Accounting] = {}
        self._present: tuple[tuple[object, ...], Accounting] | None = None
        self.envelope = Envelope()
        self._sent: Sent | None = None  # the newest call
        self._acted_on: Sent | None = None  # it, until its results were given their room
        self._counted: Accounting | None = None
        self._counting = asyncio.Lock()
        self.skills: Any = None
        self._listed: tuple[Any, str] = (None, "")  # skills, and how the prompt lists them
        self._instructions = ""
        self._looked = -math.inf
        self.stand_in: ChatModel | None = None  # answers in place of the session's model

    @property
    def model(self) -> ChatModel:
        """The model that answers now."""
        return self.stand_in or self._model()

    @property
    def notes_model(self) -> ChatModel:
        """The model that writes a compaction's notes: the one that the person chose for it, where
        it is still there."""
        wanted = self._policy().notes
        if wanted and self._models is not None:
            try:
                return self._models(wanted)
            except ModelError:
                pass  # it was removed since: the session's own does as well
        return self.model

    # -- the prompt --------------------------------------------------------------------------

    @property
    def due(self) -> bool:
        """Whether ``refresh`` would look at the workspace even where it was looked at already."""
        return time.monotonic() - self._looked >= LOOK_SECONDS

    async def refresh(self, *, fresh: bool = True, wake: bool = True) -> None:
        """Look at the workspace again: instructions, skills, tools. A change shows as a new
        envelope; an unchanged one keeps the provider's cache. Without ``fresh`` the files are left
        alone where they were looked at a moment ago; without ``wake`` also those of a machine that
        stands still, which a look would bring up."""
        workspace: Any = self._workspace
        if not wake and not getattr(workspace, "awake", True):
            self.skills = self.skills or SkillSet((), workspace.get_backend())
        elif fresh or self.due:
            try:
                self._instructions = await workspace.get_instructions()
                self.skills = await workspace.skills_for_prompt(self._agent_id)
            except SlipwayError as error:
                logger.info("the workspace gave no instructions: %s", error)
                return
            self._looked = time.monotonic()
        if self._listed[0] is not self.skills:
            self._listed = self.skills, self.skills.prompt()
        tools = self._toolbox.groups.told()
        envelope = Envelope(self._system, self._instructions, self._listed[1], *tools)
        if envelope != self.envelope:
            self.envelope = envelope

    def prompt(self) -> Prompt:
        """The input as things are. Asked for often between two records, and built once."""
        now = self.log.now
        made_of, changes = (self.envelope, now.state), self.log.changes
        known = self._built
        if known is None or known[1] != changes or not all(map(is_, made_of, known[0])):
            known = made_of, changes, self._builder.build(self.envelope, now.state)
            self._built = known
        return known[2]

    async def request(self) -> ModelRequest:
        """The next call. ContextError ``context.over_window`` when it would not fit."""
        prompt, account, now = self.prompt(), self.account(), self.log.now
        limits = account.limits
        total, upper = account.gauge(prompt)
        if upper >= limits.mark(limits.alert):
            # A draft has read the past in its thread: what comes now is kept up with.
            account.advance(now.state)
        if upper > limits.usable:
            check_fits(account.breakdown(prompt))
        gen = int(compaction_part(now.state).get("gen", 0))
        self._sent = self._acted_on = Sent(prompt, self.model, account, total, upper, gen)
        return prompt.request(max_output=limits.answer, effort=effort_of(now.effort))

    @property
    def sent(self) -> Sent:
        """The newest call of ``request``."""
        assert self._sent is not None
        return self._sent

    async def collect(self, request: ModelRequest) -> str:
        """The text of a call that nobody watches."""
        pieces: list[str] = []
        async with closing(self.model.stream(request)) as parts:
            async for part in parts:
                if isinstance(part, TextPart):
                    pieces.append(part.text)
        return "".join(pieces)

    # -- the account -------------------------------------------------------------------------

    def account(self) -> Accounting:
        """The account with the model that answers now. Another one when the person corrects its
        window or marks, or when its own tokenizer has been loaded."""
        info, marks = self.model.info, self._policy().marks
        counter = counter_of(info)
        if self._present is not None:
            known, account = self._present
            if known[0] is info and known[1] == marks and known[2] is counter:
                return account
        mark = (info.id, info.window, info.max_output, marks, counter.name)
        account = self._accounts.get(mark)
        if account is None:
            self.resume()  # other marks do not make uncounted what was counted
            account = self._accounts[mark] = Accounting(
                self._limits(),
                model=info.id,
                ratios=self._ratios,
                counter=counter,
                calls=self._calls,
            )
            if (kept := self.log.now.kept) is not None:
                adopt(kept, account)
            for other in [*self._accounts.values()][:-1]:
                account.share(other)
        self._present = (info, marks, counter), account
        return account

    def _read(self) -> bytes:
        account, now = self.account(), self.log.now
        return dump(now.state, account, now.kept)

    async def breakdown(self) -> Breakdown:
        """Who uses the window now. The first call loads the model and counts the whole session in
        a thread; later ones only look at what is new."""
        if self._ready(account := self.account()):
            return account.breakdown(self.prompt())
        async with self._counting:
            return await asyncio.to_thread(self._count)

    async def upper(self) -> tuple[int, Limits]:
        """The upper estimate of the window now, without who uses it, and its limits."""
        if self._ready(account := self.account()):
            return account.gauge(self.prompt())[1], account.limits
        breakdown = await self.breakdown()
        return breakdown.upper, breakdown.limits

    def _count(self) -> Breakdown:
        load_ranks(self.model.info)
        account, prompt = self.account(), self.prompt()
        if (kept := self.log.now.kept) is not None:
            kept.fits(account.pricer)  # looks at it, and that takes its time
        if (known := self._resume) is not None:
            self._resume = None
            account.resume(known, prompt)
        breakdown = account.breakdown(prompt)
        self._counted = account
        return breakdown

    def _ready(self, account: Accounting) -> bool:
        return self._counted is account and self._resume is None

    def resume(self) -> None:
        """Take the calls that the journal tells of, and go on from the newest one where the prompt
        has only grown since."""
        counts = [c for c in map(Counted.from_json, self.log.now.counts) if c is not None]
        self._calls.clear()
        self._calls.extend(c.call for c in counts)
        self._resume = counts[-1] if counts and self.log.now.anchored else None

    def observe(self, usage: Usage | None) -> Counted | None:
        """The provider's count of the call that was just made; None when it said nothing."""
        if (sent := self._sent) is None:
            return None
        counted = sent.account.observe(usage, sent.prompt)
        if counted is not None:
            self._resume = None
        return counted

    def overflowed(self, error: ModelError) -> None:
        """The provider refused the prompt as too long: learn from what it said."""
        detail = str(error.params.get("detail", ""))
        beside = error.code == "model.max_output"
        if not self.seen(error):
            window = window_beside_output(detail) if beside else window_from_error(detail)
            self._learn_window(window)
        if self._sent is not None:
            self.account().overflowed(self._sent.prompt)

    def seen(self, error: ModelError) -> bool:
        """Learn the window that an error gives as a number (``window``); whether it was new."""
        window = error.params.get("window")
        return isinstance(window, int) and window >= MIN_WINDOW and self._learn_window(window)

    def answer_refused(self, error: ModelError) -> bool:
        """The provider refused the answer as too long to ask for: learn from what it said how long
        it may be, or how large the window is. Whether something new was learned."""
        detail, name = str(error.params.get("detail", "")), self.model.info.id
        before = self.account().limits
        longest = output_from_error(detail)
        if longest is not None and 0 < longest < before.answer:
            self._longest[name] = longest
            self.account().limits = self._limits()
            return True
        return self._learn_window(window_beside_output(detail))

    def _learn_window(self, window: int | None) -> bool:
        account = self.account()
        if window is None or window >= account.limits.window:
            return False
        self._refused[self.model.info.id] = window
        account.limits = self._limits()
        return True

    def _limits(self) -> Limits:
        """Of the model that answers now: what is known of it, set, and learned."""
        info = self.model.info
        error, longest = self._refused.get(info.id), self._longest.get(info.id)
        return resolve(info, error=error, output=longest, marks=self._policy().marks)

    def allowance(self, calls: int) -> Allowance:
        """What the results of ``calls`` calls of one step may bring into the context."""
        sent, self._acted_on = self._acted_on, None
        account = sent.account if sent is not None else self.account()
        limits = account.limits
        danger, free = limits.mark(limits.danger), -math.inf
        if sent is not None:
            # With an answer as long as it may be: mostly there is more room than results may take.
            free = danger - sent.upper - limits.reserve
        if free < BATCH * limits.usable:
            free = danger - account.gauge(self.prompt())[1]
        return Allowance(account, calls, free, self.log.now.guards.share)

    async def bound(self, text: str, allowance: Allowance) -> Bounded:
        """A result within what is left for it; long ones are counted and cut in a thread."""
        account = allowance.account
        texts = account.pricer.texts

        def count(piece: str) -> int:
            return int(account.upper(texts.counter.count(piece))) + 1

        def bounded(most: int) -> Bounded:
            return bound(text, max_tokens=max(FEWEST, most - NOTE), count=count)

        if len(text) < SHORT:
            most = allowance.take(int(account.upper(texts.count(text))) + 1)
            return bound(text, max_chars=SHORT) if most is None else bounded(most)
        raw = await asyncio.to_thread(texts.counter.count, text)
        most = allowance.take(int(account.upper(raw)) + 1)
        if most is None:
            texts.keep(text, raw)  # the prompt that it will be in asks for it again
            return await asyncio.to_thread(bound, text, max_chars=len(text) + 1)
        return await asyncio.to_thread(bounded, most)
