"""PySide6 must not lose references to None (6.12.0 does on Python 3.11: the interpreter aborts
after some 5,000 calls). When this passes with a newer PySide6, the cap in pyproject may go."""

from __future__ import annotations

import sys

import pytest
from PySide6.QtCore import QObject, Signal

CALLS = 1000


class Source(QObject):
    fired = Signal(int)


@pytest.mark.parametrize("what", ["call that returns nothing", "emit"])
def test_calls_keep_the_references_of_constants(what: str, qapp) -> None:
    """From 3.12 on None is immortal and its count says nothing, which is as good."""
    source = Source()
    before = [sys.getrefcount(value) for value in (None, True, False)]
    for _ in range(CALLS):
        if what == "emit":
            source.fired.emit(1)
        else:
            source.setObjectName("x")
    after = [sys.getrefcount(value) for value in (None, True, False)]
    assert all(old - new < CALLS // 10 for old, new in zip(before, after, strict=True))
