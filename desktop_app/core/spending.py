"""What each cloud sandbox has cost, estimated from the price that a person set for an hour.

A provider tells no price, so the time is counted in which the sandbox ran: from one look at it to
the next. What was not seen (the program was killed) is counted until the end of the lease that was
known, which is the most that it can have been.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from .errors import SettingsError
from .ids import now_us
from .settings.jsonfile import read_object, write_object
from .tasks import Tasks

log = logging.getLogger(__name__)

HOUR_US = 3_600_000_000
MONTHS = 13  # that are kept of each
SAVE_US = 60_000_000  # how much running time a kill may leave uncounted


@dataclass(slots=True)
class Account:
    """``usd`` up to ``seen_us``; ``running`` and ``ends_us`` (end of the lease, 0: unknown) are
    what was seen then. ``months`` has the part of each of the last months, by ``2026-11``; what was
    counted before they were kept is in none."""

    usd: float = 0.0
    seen_us: int = 0
    running: bool = False
    ends_us: int = 0
    months: dict[str, float] = field(default_factory=dict[str, float])


class Spending:
    """In ``path``; ``load`` first."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._accounts: dict[str, Account] = {}
        self._saved_us = 0
        self._saving = asyncio.Lock()
        self._tasks = Tasks(lambda name, error: log.warning("%s: %r", name, error))

    async def load(self) -> None:
        kept, error = await asyncio.to_thread(read_object, self._path)
        if error is not None:
            log.warning("what sandboxes cost is counted anew: %s", error)
        for workspace_id, value in kept.items():
            if isinstance(value, dict):
                self._accounts[workspace_id] = _account(cast(dict[str, Any], value))

    def of(self, workspace_id: str) -> Account:
        """What is known of one; changed by ``see`` only."""
        return self._accounts.get(workspace_id, Account())

    def in_month(self, name: str) -> float:
        """US dollars of all sandboxes in a month (``month_of``), also of those that are gone."""
        return sum(account.months.get(name, 0.0) for account in self._accounts.values())

    def see(
        self,
        workspace_id: str,
        *,
        running: bool,
        started_us: int = 0,
        ends_us: int = 0,
        price: float = 0.0,
        at_us: int = 0,
    ) -> None:
        """How a sandbox is now (``at_us`` 0). ``price`` is US dollars an hour."""
        now = at_us or now_us()
        account = self._accounts.get(workspace_id)
        if account is None:
            if not running:
                return
            account = self._accounts[workspace_id] = Account()
        begin, end = _ran(account, running, started_us, now)
        changed = account.running != running
        account.usd += price * (end - begin) / HOUR_US
        for name, ran in by_month(begin, end).items():
            account.months[name] = account.months.get(name, 0.0) + price * ran / HOUR_US
        for name in sorted(account.months)[:-MONTHS]:
            del account.months[name]
        account.seen_us, account.running = now, running
        account.ends_us = ends_us if running else 0
        if changed or now - self._saved_us > SAVE_US:
            self._saved_us = now
            self._tasks.start(self.save(), name="keep what sandboxes cost")

    def forget(self, workspace_id: str) -> None:
        self._accounts.pop(workspace_id, None)

    async def save(self) -> None:
        async with self._saving:
            kept = {name: asdict(account) for name, account in self._accounts.items()}
            try:
                await asyncio.to_thread(write_object, self._path, kept)
            except SettingsError as error:
                log.warning("what sandboxes cost was not kept: %s", error)

    async def close(self) -> None:
        await self._tasks.close()
        if self._accounts:
            await self.save()


def _ran(account: Account, running: bool, started_us: int, now: int) -> tuple[int, int]:
    """From when to when it ran since the last look, as far as this one tells of it."""
    if account.running:
        end = now if running or not account.ends_us else min(now, account.ends_us)
        return account.seen_us, max(account.seen_us, end)
    if running:  # it came up since
        return min(now, max(started_us or now, account.seen_us)), now
    return now, now


def month_of(us: int) -> str:
    """The month of a time where this computer is: ``2026-11``."""
    return datetime.fromtimestamp(us / 1e6).strftime("%Y-%m")


def month_start_us(us: int) -> int:
    """When the month of ``us`` began here."""
    first = datetime.fromtimestamp(us / 1e6).replace(
        day=1, hour=0, minute=0, second=0, microsecond=0
    )
    return int(first.timestamp() * 1e6)


def by_month(begin_us: int, end_us: int) -> dict[str, int]:
    """Microseconds between two times in each month that they touch."""
    found: dict[str, int] = {}
    while end_us > begin_us:
        part = max(begin_us, month_start_us(end_us - 1))
        found[month_of(end_us - 1)] = end_us - part
        end_us = part
    return found


def _account(value: dict[str, Any]) -> Account:
    made = Account()
    for name in ("usd", "seen_us", "ends_us"):
        number: Any = value.get(name)
        if isinstance(number, int | float) and not isinstance(number, bool) and number >= 0:
            setattr(made, name, type(getattr(made, name))(number))
    made.running = value.get("running") is True
    months = value.get("months")
    for name, number in cast(dict[str, Any], months if isinstance(months, dict) else {}).items():
        if isinstance(number, int | float) and not isinstance(number, bool) and number >= 0:
            made.months[name] = float(number)
    return made
