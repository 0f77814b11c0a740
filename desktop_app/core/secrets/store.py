"""Keys by name: where each lies, and where a new one goes.

An encrypted file that exists is where keys go: the person chose it. Else the system's keyring, and
where there is none, or it refuses, the person is asked (``Asks``): such a file, or this run only.
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
from typing import Any, Literal, Protocol

from desktop_app.core.crew import Crew
from desktop_app.core.errors import SecretsError
from desktop_app.core.log import hide
from desktop_app.core.settings.jsonfile import read_object, write_object

from .keyfile import KeyFile, State
from .system import SystemKeyring, find

Place = Literal["keyring", "file", "session", "environment"]
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
logger = logging.getLogger(__name__)


class Asks(Protocol):
    """What the person is asked. Called on whatever loop a key is wanted on; several may ask at the
    same time."""

    async def unlock(self) -> bool:
        """A key is wanted that lies in the locked file: whether it is open now."""
        ...

    async def choose(self) -> bool:
        """A key is to be kept and no keyring keeps it: whether there is a file for it now. False:
        it is kept for this run."""
        ...


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


class Secrets:
    """See the module. ``system`` finds the keyring; ``references`` is the file with the names of
    variables, ``file`` the encrypted one. A keyring that fails, is locked or does not answer is no
    error: ``silent`` says of a key that nobody knows it *yet*. A person who would not unlock the
    file, or wants keys for this run alone, is not asked again before they do something about it."""

    def __init__(
        self,
        system: Callable[[], Any] = find,
        references: Path | None = None,
        file: KeyFile | None = None,
    ) -> None:
        self.keyring = SystemKeyring(system)
        self.asks: Asks | None = None
        self.trouble: SecretsError | None = None  # why the file did not take the newest key
        self._session: dict[str, str] = {}
        self._known: dict[str, str] = {}
        self._silent: set[str] = set()
        self._names = references
        self._variables: dict[str, str] | None = None
        self._keys = file
        self._crew = Crew("slipway-keys")
        self._declined = self._session_only = False

    # -- where ---------------------------------------------------------------------------------

    async def place(self) -> Place:
        """Where a key would be kept now."""
        if await self.file_state() in ("open", "locked"):
            return "file"
        return "keyring" if await self.keyring.there() else "session"

    async def lies(self, name: str) -> Place | None:
        """Where the key for ``name`` is, without asking the person for anything; None for none."""
        if await self.variable(name):
            return "environment"
        if name in self._session:
            return "session"
        if await self._in_file(name):
            return "file"
        return "keyring" if await self._from_keyring(name) else None

    def silent(self, name: str) -> bool:
        """Whether the keyring gave no answer when it was asked for this key last."""
        return name in self._silent

    async def locked(self, name: str) -> bool:
        """Whether a key lies in the file and the file is locked."""
        return (
            not await self.variable(name)
            and name not in self._session
            and await self._in_file(name)
            and await self.file_state() == "locked"
        )

    # -- reading -------------------------------------------------------------------------------

    async def get(self, name: str) -> str:
        """The key; empty when there is none, or none is known (``silent``, ``locked``)."""
        if variable := await self.variable(name):
            return resolved(f"${{{variable}}}")
        if name in self._session:
            return self._session[name]
        if await self._in_file(name):
            return await self._from_file(name)
        return await self._from_keyring(name)

    async def _from_keyring(self, name: str) -> str:
        if name in self._known:
            return self._known[name]
        answered, key = await self.keyring.get(name)
        (self._silent.discard if answered else self._silent.add)(name)
        if key:
            hide(key)
            self._known[name] = key
        return key

    # -- keeping -------------------------------------------------------------------------------

    async def put(self, name: str, key: str) -> Place:
        """Keep a key, or the variable that it names; where it lies now. What is kept already is
        only replaced by what was taken. SettingsError ``settings.unwritable`` where the name of a
        variable cannot be kept."""
        self.trouble = None
        if variable := variable_in(key):
            await self._refer(name, variable)
            await self._forget(name)
            return "environment"
        hide(key)
        await self._refer(name, "")
        if await self.file_state() in ("open", "locked"):
            return await self._to_file(name, key)
        if await self.keyring.put(name, key):
            self._session.pop(name, None)
            self._known[name] = key
            return "keyring"
        if self.asks is not None and self._keys is not None and not self._session_only:
            if await self.asks.choose():
                return await self._to_file(name, key)
            self._session_only = True
        self._session[name] = key
        return "session"

    async def remove(self, name: str) -> None:
        """Forget a key, wherever it lies. SecretsError where the file cannot be written."""
        await self._refer(name, "")
        await self._forget(name)

    async def _forget(self, name: str) -> None:
        self._session.pop(name, None)
        self._known.pop(name, None)
        if self._keys is not None:
            await self._crew.call(self._keys.remove, name)
        await self.keyring.remove(name)

    # -- variables -----------------------------------------------------------------------------

    async def variable(self, name: str) -> str:
        """The environment variable that a key is taken from; empty for none."""
        if self._variables is None:
            value: dict[str, Any] = {}
            if self._names is not None:
                value, problem = await asyncio.to_thread(read_object, self._names)
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
        if self._names is not None:
            await asyncio.to_thread(write_object, self._names, wanted)
        self._variables = wanted

    # -- the file ------------------------------------------------------------------------------

    @property
    def file_path(self) -> Path | None:
        return self._keys.path if self._keys is not None else None

    async def file_state(self) -> State:
        return await self._crew.call(self._keys.state) if self._keys is not None else "none"

    async def file_problem(self) -> SecretsError | None:
        """Why the file cannot be used, where it cannot."""
        return await self._crew.call(self._keys.problem) if self._keys is not None else None

    async def file_count(self) -> int:
        """How many keys are in the file."""
        return await self._crew.call(self._keys.count) if self._keys is not None else 0

    @property
    def put_aside(self) -> Path | None:
        """Where a damaged file was put in this run, if there was one."""
        return self._keys.put_aside if self._keys is not None else None

    async def make_file(self, passphrase: str) -> None:
        """Make the file, open; keys of this run go into it. SecretsError as of
        ``KeyFile.create``."""
        await self._crew.call(self._file().create, passphrase, dict(self._session))
        self._session.clear()
        self._declined = self._session_only = False

    async def unlock_file(self, passphrase: str) -> None:
        """Open it until the program ends or it is locked. SecretsError as of
        ``KeyFile.unlock``."""
        await self._crew.call(self._file().unlock, passphrase)
        self._declined = False

    async def lock_file(self) -> None:
        await self._crew.call(self._file().lock)
        self._declined = False

    async def change_passphrase(self, former: str, passphrase: str) -> None:
        """SecretsError as of ``KeyFile.change``; nothing is changed then."""
        await self._crew.call(self._file().change, former, passphrase)

    async def forget_file(self) -> None:
        """Delete the file with all keys in it. SecretsError ``secrets.unwritable``."""
        await self._crew.call(self._file().forget)
        self._declined = self._session_only = False

    async def file_to_keyring(self) -> bool:
        """Move all keys into the keyring and delete the file; False when the keyring did not take
        them all: then the file stays as it is. SecretsError ``secrets.locked``."""
        for name, key in (await self._crew.call(self._file().everything)).items():
            if not await self.keyring.put(name, key):
                return False
            self._known[name] = key
        await self.forget_file()
        return True

    def _file(self) -> KeyFile:
        if self._keys is None:
            raise SecretsError("secrets.gone", path="")
        return self._keys

    async def _in_file(self, name: str) -> bool:
        return self._keys is not None and await self._crew.call(self._keys.has, name)

    async def _from_file(self, name: str) -> str:
        try:
            return await self._crew.call(self._file().get, name)
        except SecretsError:
            if not await self._unlocked():
                return ""
        try:
            return await self._crew.call(self._file().get, name)
        except SecretsError:
            return ""  # locked again meanwhile

    async def _to_file(self, name: str, key: str) -> Place:
        """Into the file; for this run where it does not take it (``trouble``)."""
        try:
            try:
                await self._crew.call(self._file().put, name, key)
            except SecretsError as error:
                if error.code != "secrets.locked" or not await self._unlocked():
                    raise
                await self._crew.call(self._file().put, name, key)
        except SecretsError as error:
            self.trouble = error
            self._session[name] = key
            return "session"
        self._session.pop(name, None)
        self._known.pop(name, None)
        return "file"

    async def _unlocked(self) -> bool:
        """Ask the person to unlock the file."""
        if self.asks is None or self._declined:
            return False
        done = await self.asks.unlock()
        self._declined = not done
        return done
