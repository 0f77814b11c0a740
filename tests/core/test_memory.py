"""The collector rests while the program starts and works again afterwards."""

from __future__ import annotations

import gc

from desktop_app.core import memory


def test_settling_takes_up_collecting_again() -> None:
    collector = memory.Collector()
    try:
        memory.starting()
        assert not gc.isenabled()
        collector.settle()
        assert gc.isenabled()
        assert gc.get_threshold() == (memory.YOUNG, memory.MIDDLE, memory.NEVER)
        assert gc.get_freeze_count() > 0
    finally:
        gc.enable()
        collector.release()


def test_an_idle_pass_is_made_only_when_much_has_piled_up() -> None:
    collector = memory.Collector()
    assert not collector.idle()  # before it settled
    try:
        collector.settle()
        assert not collector.idle()
        kept = [[] for _ in range(memory.GROWN * 2)]
        assert collector.idle()
        assert len(kept) > memory.GROWN
        assert not collector.idle()
    finally:
        collector.release()
