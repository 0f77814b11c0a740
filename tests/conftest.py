"""For every test: generated examples are the same in every run, and no clock judges them."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine, Iterator
from typing import Any

import pytest
from hypothesis import settings

from desktop_app.core.models.process import ModelsProcess

# Times are for benches: on a busy machine a first import alone can take half a second. The same
# examples each run make a red build a fault of the change, never of chance; HYPOTHESIS_PROFILE=wide
# looks further.
settings.register_profile("house", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("wide", deadline=None, max_examples=1000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "house"))


def aside(coro: Coroutine[Any, Any, Any]) -> None:
    """Run ``coro`` to its end in a thread of its own: the caller's loop may be another kind."""
    thread = threading.Thread(target=asyncio.run, args=(coro,))
    thread.start()
    thread.join()


@pytest.fixture(scope="session")
def models_process() -> Iterator[ModelsProcess]:
    """The one models process of all tests that do not look at the process itself: importing the
    SDKs takes seconds."""
    process = ModelsProcess()
    yield process
    aside(process.close())
