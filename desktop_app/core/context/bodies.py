"""A ledger as JSON has it, written out only when somebody wants it: it is long, and a proposal may
never be done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from .ledger import Ledger


class LedgerBody(Mapping[str, Any]):
    """``Ledger.body`` of a ledger as it was when this was made."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger.fork()

    @cached_property
    def made(self) -> dict[str, Any]:
        return self._ledger.body()

    def __getitem__(self, key: str) -> Any:
        return self.made[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.made)

    def __len__(self) -> int:
        return len(self.made)
