"""Consuming an iterator that must be closed when its consumer goes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, aclosing
from typing import TypeVar, cast

T = TypeVar("T")


def closing(items: AsyncIterator[T]) -> AbstractAsyncContextManager[AsyncGenerator[T, None]]:
    """``aclosing`` for what a protocol only promises to be an iterator; all of ours are
    generators."""
    return aclosing(cast(AsyncGenerator[T, None], items))
