"""Keys of services, in the system's keyring; where there is none, in memory until the end.

The keyring's service is ``slipway``, the user name what the key is for (``openai api.openai.com``).
Nothing else of the program writes a key anywhere. Instead of a key a person may give the name of an
environment variable, ``${OPENAI_API_KEY}``: the name is kept in a file, the key is taken from the
environment whenever it is needed.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from desktop_app.core.crew import Crew
from desktop_app.core.log import hide
from desktop_app.core.settings.jsonfile import read_object, write_object

SERVICE = "slipway"
SECONDS = 20.0  # a keyring may ask the person to unlock it
SLOW_SECONDS = 1.5  # then whoever looks is told that the keyring is waited for
Place = Literal["keyring", "session", "environment"]
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
logger = logging.getLogger(__name__)


def variable_in(key: str) -> str:
    """The variable that ``key`` refers to, as ``${NAME}``; empty for a key."""
    found = _REFERENCE.fullmatch(key.strip())
    return found.group(1) if found else ""


def resolved(key: str) -> str:
    """``key``, or what the variable that it refers to holds now."""
    name = variable_in(key)
    value = os.environ.get(name, "") if name else key
    hide(value)
    return value


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
    """Keys by name. Everything is slow (a keyring is another process, which may ask the person) and
    runs in one thread of its own, one call after the other.

    A keyring that fails, is locked or does not answer is no error: the key is then kept for this
    run, and ``place`` says so; ``silent`` says of a key that nobody knows it *yet*. ``system``
    finds the keyring; it is looked for until there is an answer. ``references`` is the file with
    the names of variables. ``on_wait`` is told True when the keyring is waited for, and False at
    the end.
    """

    def __init__(self, system: Callable[[], Any] = _system, references: Path | None = None) -> None:
        self._find = system
        self._found = False
        self._ring: Any = None
        self._session: dict[str, str] = {}
        self._known: dict[str, str] = {}
        self._silent: set[str] = set()
        self._file = references
        self._variables: dict[str, str] | None = None
        self._crew = Crew("slipway-keyring", lazy=True)
        self._waiting = 0
        self.on_wait: Callable[[bool], object] | None = None

    async def place(self) -> Place:
        """Where a key would be kept now."""
        return "keyring" if await self._backend() is not None else "session"

    async def _backend(self) -> Any:
        if not self._found:
            self._found, self._ring = await self._run(self._find)
        return self._ring

    async def _run(self, work: Callable[..., Any], *args: str) -> tuple[bool, Any]:
        """Whether ``work`` came to an end in time, and what it gave; None where it failed."""
        told = False

        def tell() -> None:
            nonlocal told
            told = True
            self._slow(1)

        slow = asyncio.get_running_loop().call_later(SLOW_SECONDS, tell)
        try:
            async with asyncio.timeout(SECONDS):
                return True, await self._crew.call(work, *args)
        except TimeoutError:
            logger.warning("the keyring did not answer within %d seconds", SECONDS)
            return False, None
        except Exception as error:  # noqa: BLE001 - keyrings raise what they like
            logger.warning("the keyring failed: %s", type(error).__name__)
            return True, None
        finally:
            slow.cancel()
            if told:
                self._slow(-1)

    def _slow(self, step: int) -> None:
        before, self._waiting = self._waiting, self._waiting + step
        if self.on_wait is not None and bool(before) != bool(self._waiting):
            self.on_wait(self._waiting > 0)

    async def get(self, name: str) -> str:
        """The key; empty when there is none, or none is known (``silent``)."""
        if variable := await self.variable(name):
            return resolved(f"${{{variable}}}")
        if name in self._session:
            return self._session[name]
        if name in self._known:
            return self._known[name]
        ring = await self._backend()
        answered, found = self._found, None
        if ring is not None:
            answered, found = await self._run(ring.get_password, SERVICE, name)
        (self._silent.discard if answered else self._silent.add)(name)
        key = str(found or "")
        if key:
            hide(key)
            self._known[name] = key
        return key

    def silent(self, name: str) -> bool:
        """Whether the keyring gave no answer when it was asked for this key last."""
        return name in self._silent

    def only_now(self, name: str) -> bool:
        """Whether a key is kept for this run alone."""
        return name in self._session

    async def variable(self, name: str) -> str:
        """The environment variable that a key is taken from; empty for none."""
        if self._variables is None:
            value: dict[str, Any] = {}
            if self._file is not None:
                value, problem = await asyncio.to_thread(read_object, self._file)
                if problem is not None:
                    logger.warning("the names of variables cannot be read: %s", problem)
            self._variables = {name: str(variable) for name, variable in value.items()}
        return self._variables.get(name, "")

    async def _refer(self, name: str, variable: str) -> None:
        """Take a key from ``variable`` from now on; from none when it is empty. SettingsError."""
        if await self.variable(name) == variable or self._variables is None:
            return
        wanted = {**self._variables, name: variable}
        if not variable:
            del wanted[name]
        if self._file is not None:
            await asyncio.to_thread(write_object, self._file, wanted)
        self._variables = wanted

    async def put(self, name: str, key: str) -> Place:
        """Keep a key, or the variable that it names; where it lies now. What the keyring has is
        only replaced when it took the new one. SettingsError ``settings.unwritable`` where the name
        of a variable cannot be kept."""
        if variable := variable_in(key):
            await self._refer(name, variable)
            await self._forget(name)
            return "environment"
        hide(key)
        await self._refer(name, "")
        ring = await self._backend()
        if ring is not None:

            def store() -> bool:
                ring.set_password(SERVICE, name, key)
                return ring.get_password(SERVICE, name) == key

            if (await self._run(store))[1]:
                self._session.pop(name, None)
                self._known[name] = key
                return "keyring"
        self._session[name] = key
        return "session"

    async def remove(self, name: str) -> None:
        """Forget a key, here and in the keyring."""
        await self._refer(name, "")
        await self._forget(name)

    async def _forget(self, name: str) -> None:
        self._session.pop(name, None)
        self._known.pop(name, None)
        ring = await self._backend()
        if ring is not None and (await self._run(ring.get_password, SERVICE, name))[1] is not None:
            await self._run(ring.delete_password, SERVICE, name)
