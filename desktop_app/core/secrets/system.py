"""The system's keyring: another process, which may be slow, ask its person, refuse or be absent.

Its service is ``slipway``, the user name what a key is for (``openai api.openai.com``). A value
that a keyring refuses whole is kept in parts: Windows' Credential Manager takes 2,560 bytes of
UTF-16 (``CRED_MAX_CREDENTIAL_BLOB_SIZE``), and the tokens of a server are longer.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import time
from collections.abc import Callable
from typing import Any

from desktop_app.core.crew import Crew

SERVICE = "slipway"
SECONDS = 20.0  # without a sign of life: a keyring may ask the person to unlock it
SLOW_SECONDS = 1.5  # then whoever looks is told that the keyring is waited for
PART = 1_000  # characters of one part
_PARTS = "slipway-parts:"  # then how many, and the SHA-256 of the whole: "slipway-parts:3:1f…"
logger = logging.getLogger(__name__)


def find() -> Any:
    """The system's keyring, or None where there is none that keeps anything."""
    if os.environ.get("SLIPWAY_KEYRING") == "none":
        return None
    import keyring
    from keyring.backends import fail, null

    found: Any = keyring.get_keyring()
    if isinstance(found, fail.Keyring | null.Keyring) or float(found.priority) < 1:
        return None
    return found


class SystemKeyring:
    """All calls run in one thread of its own, one after the other. One that fails, is locked or
    does not answer is no error: it gave no answer. ``on_wait`` is told True when the keyring is
    waited for, and False at the end."""

    def __init__(self, system: Callable[[], Any] = find) -> None:
        self._find = system
        self._found = False
        self._ring: Any = None
        self._crew = Crew("slipway-keyring")
        self._alive = 0.0  # when it was last seen to begin or end a call
        self._waiting = 0
        self.on_wait: Callable[[bool], object] | None = None

    async def there(self) -> bool:
        """Whether there is one. Looked for until there is an answer."""
        if not self._found:
            self._found, self._ring = await self._run(self._find, failing=True)
        return self._ring is not None

    async def get(self, name: str) -> tuple[bool, str]:
        """Whether it answered, and the key: empty for none."""
        if not await self.there():
            return self._found, ""
        answered, found = await self._run(lambda: _get(self._ring, name))
        if found is False:  # a connection to it may just have been lost
            answered, found = await self._run(lambda: _get(self._ring, name))
        return answered, str(found or "") if answered else ""

    async def put(self, name: str, key: str) -> bool:
        """Keep a key; whether it did. What it has is only replaced by what it took."""
        if not await self.there():
            return False
        return bool((await self._run(lambda: _put(self._ring, name, key)))[1])

    async def remove(self, name: str) -> None:
        if await self.there():
            await self._run(lambda: _remove(self._ring, name))

    async def _run(self, work: Callable[[], Any], *, failing: bool = False) -> tuple[bool, Any]:
        """Whether ``work`` gave an answer, and it; (False, False) where it failed and may be tried
        again. With ``failing`` a failure is an answer: None. Whoever waits behind others waits as
        long as the keyring goes on answering."""
        told = False

        def tell() -> None:
            nonlocal told
            told = True
            self._slow(1)

        slow = asyncio.get_running_loop().call_later(SLOW_SECONDS, tell)
        try:
            return True, await self._in_time(work)
        except TimeoutError:
            logger.warning("the keyring did not answer within %d seconds", SECONDS)
            return False, None
        except Exception as error:  # noqa: BLE001 - keyrings raise what they like
            logger.warning("the keyring failed: %s", type(error).__name__)
            return failing, None if failing else False
        finally:
            slow.cancel()
            if told:
                self._slow(-1)

    async def _in_time(self, work: Callable[[], Any]) -> Any:
        asked, wanted = time.monotonic(), True

        def counted() -> Any:
            if not wanted:
                return None
            self._alive = time.monotonic()
            try:
                return work()
            finally:
                self._alive = time.monotonic()

        begun = self._crew.begin(counted)
        try:
            while (left := max(asked, self._alive) + SECONDS - time.monotonic()) > 0:
                limit = asyncio.timeout(left)
                try:
                    async with limit:
                        return await begun.result()
                except TimeoutError:
                    if not limit.expired():
                        raise
            raise TimeoutError
        finally:
            wanted = False

    def _slow(self, step: int) -> None:
        before, self._waiting = self._waiting, self._waiting + step
        if self.on_wait is not None and bool(before) != bool(self._waiting):
            self.on_wait(self._waiting > 0)


def _get(ring: Any, name: str) -> str:
    found = str(ring.get_password(SERVICE, name) or "")
    if not found.startswith(_PARTS):
        return found
    count, _, digest = found.removeprefix(_PARTS).partition(":")
    parts = [
        str(ring.get_password(SERVICE, _part(name, digest, n)) or "") for n in range(int(count))
    ]
    whole = "".join(parts)
    if _sum(whole) != digest:
        raise ValueError("a part of a key is missing")
    return whole


def _put(ring: Any, name: str, key: str) -> bool:
    former = str(ring.get_password(SERVICE, name) or "")
    if not _take(ring, name, key):
        if len(key) <= PART:
            return False
        digest = _sum(key)
        parts = [key[at : at + PART] for at in range(0, len(key), PART)]
        for n, part in enumerate(parts):
            if not _take(ring, _part(name, digest, n), part):
                return False
        if not _take(ring, name, f"{_PARTS}{len(parts)}:{digest}"):
            return False
    _drop_parts(ring, name, former, keep=key)
    return True


def _take(ring: Any, name: str, value: str) -> bool:
    try:
        ring.set_password(SERVICE, name, value)
    except Exception:
        if len(value) <= PART:
            raise
        return False  # too long for it
    return ring.get_password(SERVICE, name) == value


def _remove(ring: Any, name: str) -> None:
    former = ring.get_password(SERVICE, name)
    if former is not None:
        ring.delete_password(SERVICE, name)
        _drop_parts(ring, name, str(former), keep="")


def _drop_parts(ring: Any, name: str, former: str, *, keep: str) -> None:
    """Forget the parts of a value that was replaced."""
    if not former.startswith(_PARTS):
        return
    count, _, digest = former.removeprefix(_PARTS).partition(":")
    if keep and digest == _sum(keep):
        return
    for n in range(int(count)):
        if ring.get_password(SERVICE, _part(name, digest, n)) is not None:
            ring.delete_password(SERVICE, _part(name, digest, n))


def _part(name: str, digest: str, n: int) -> str:
    return f"{name} part {digest[:8]}-{n}"


def _sum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
