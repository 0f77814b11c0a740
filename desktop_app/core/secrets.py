"""Keys of services, in the system's keyring; where there is none, in memory until the end.

The keyring's service is ``slipway``, the user name what the key is for (``openai api.openai.com``).
Nothing else of the program writes a key anywhere.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from typing import Any, Literal

from desktop_app.core.log import hide

SERVICE = "slipway"
SECONDS = 20.0  # a keyring may ask the person to unlock it
Place = Literal["keyring", "session"]
logger = logging.getLogger(__name__)


def _system() -> Any:
    """The system's keyring, or None where there is none that keeps anything."""
    if os.environ.get("SLIPWAY_KEYRING") == "none":
        return None
    import keyring
    from keyring.backends import fail, null

    found: Any = keyring.get_keyring()
    if isinstance(found, fail.Keyring | null.Keyring) or float(found.priority) < 1:
        return None
    return found


class Secrets:
    """Keys by name. Everything is slow (a keyring is another process) and runs in a thread.

    A keyring that fails, is locked or does not answer is no error: the key is then kept for this
    run, and ``place`` says so. ``system`` finds the keyring; it is looked for once.
    """

    def __init__(self, system: Callable[[], Any] = _system) -> None:
        self._find = system
        self._found = False
        self._ring: Any = None
        self._session: dict[str, str] = {}
        self._known: dict[str, str] = {}

    async def place(self) -> Place:
        """Where a key would be kept now."""
        return "keyring" if await self._backend() is not None else "session"

    async def _backend(self) -> Any:
        if not self._found:
            self._ring = await self._run(self._find)
            self._found = True
        return self._ring

    async def _run(self, work: Callable[..., Any], *args: str) -> Any:
        """``work`` in a thread; None when it fails or takes too long."""
        try:
            return await asyncio.wait_for(asyncio.to_thread(work, *args), SECONDS)
        except Exception as error:  # noqa: BLE001 - keyrings raise what they like
            logger.warning("the keyring failed: %s", type(error).__name__)
            return None

    async def get(self, name: str) -> str:
        """The key; empty when there is none."""
        if name in self._session:
            return self._session[name]
        if name in self._known:
            return self._known[name]
        ring = await self._backend()
        found = await self._run(ring.get_password, SERVICE, name) if ring is not None else None
        key = str(found or "")
        if key:
            hide(key)
            self._known[name] = key
        return key

    def only_now(self, name: str) -> bool:
        """Whether a key is kept for this run alone."""
        return name in self._session

    async def put(self, name: str, key: str) -> Place:
        """Keep a key; where it lies now. What the keyring has is only replaced when it took the
        new one."""
        hide(key)
        ring = await self._backend()
        if ring is not None:

            def store() -> bool:
                ring.set_password(SERVICE, name, key)
                return ring.get_password(SERVICE, name) == key

            if await self._run(store):
                self._session.pop(name, None)
                self._known[name] = key
                return "keyring"
        self._session[name] = key
        return "session"

    async def remove(self, name: str) -> None:
        """Forget a key, here and in the keyring."""
        self._session.pop(name, None)
        self._known.pop(name, None)
        ring = await self._backend()
        if ring is not None and await self._run(ring.get_password, SERVICE, name) is not None:
            await self._run(ring.delete_password, SERVICE, name)
