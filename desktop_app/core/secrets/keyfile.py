"""An encrypted file of keys, opened with a passphrase: on disk, with its backup, between processes.

Every change is made to the file as it is then, under a lock that all processes take, and written
beside, synced and renamed; what it was before stays as ``<name>.bak``. A damaged file is never
written over: where the backup is whole it is read in its place, and with the first opening or
change the damaged one is put aside (``put_aside``).
"""

from __future__ import annotations

import logging
import os
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from desktop_app.core.errors import SecretsError
from desktop_app.core.filelock import try_lock, unlock
from desktop_app.core.log import hide
from desktop_app.core.settings.jsonfile import aside_name

from .sealed import Cost, Newer, Sealed, empty, from_text, opened, read, to_text, with_key, without

State = Literal["none", "locked", "open", "damaged", "newer"]
LOCK_SECONDS = 10.0
_Mark = tuple[int, int, int]
logger = logging.getLogger(__name__)


class KeyFile:
    """The file at ``path``. Everything here may wait for the disk or compute for half a second: run
    it in a thread; one call at a time is carried out. ``cost`` is for files made from now on."""

    def __init__(self, path: Path, cost: Cost | None = None) -> None:
        self.path = path
        self.backup = path.with_name(path.name + ".bak")
        self._cost = cost or Cost()
        self._turn = threading.RLock()
        self._key: bytes | None = None
        self._salt = b""  # of the file that the key opens
        self._seen: tuple[_Mark, Sealed | SecretsError] | None = None
        self._restored = False  # what was read is the backup
        self.put_aside: Path | None = None  # where a damaged file was put

    # -- looking -------------------------------------------------------------------------------

    def state(self) -> State:
        """How it is now; another process may have made, changed or removed it."""
        with self._turn:
            try:
                sealed = self._read()
            except SecretsError as error:
                return "newer" if error.code == "secrets.newer" else "damaged"
            if sealed is None:
                return "none"
            return "open" if self._opens(sealed) else "locked"

    def problem(self) -> SecretsError | None:
        """Why it cannot be used, where it cannot."""
        with self._turn:
            try:
                self._read()
            except SecretsError as error:
                return error
            return None

    def has(self, name: str) -> bool:
        """Whether a key is kept for ``name``; no passphrase is needed to tell."""
        with self._turn:
            sealed = self._whole()
            return sealed is not None and sealed.id(name) in sealed.keys

    def count(self) -> int:
        """How many keys are in it."""
        with self._turn:
            sealed = self._whole()
            return len(sealed.keys) if sealed is not None else 0

    def get(self, name: str) -> str:
        """The key for ``name``; empty for none. SecretsError ``secrets.locked``."""
        with self._turn:
            sealed = self._whole()
            if sealed is None or sealed.id(name) not in sealed.keys:
                return ""
            found = read(sealed, self._proven(sealed), sealed.id(name))
            if found is None:
                logger.warning("a key in %s was not sealed there and is passed over", self.path)
                return ""
            hide(found[1])
            return found[1]

    def everything(self) -> dict[str, str]:
        """All keys by name. SecretsError ``secrets.locked``."""
        with self._turn:
            sealed = self._whole()
            if sealed is None:
                return {}
            key = self._proven(sealed)
            return dict(found for place in sealed.keys if (found := read(sealed, key, place)))

    # -- opening -------------------------------------------------------------------------------

    def create(self, passphrase: str, keys: Mapping[str, str] | None = None) -> None:
        """Make the file with ``keys`` in it, open. A damaged one is put aside. SecretsError
        ``secrets.short``, ``secrets.exists``, ``secrets.newer``, ``secrets.unreadable``,
        ``secrets.unwritable``, ``secrets.busy``."""
        with self._turn, self._alone():
            damaged = False
            try:
                if self._read() is not None:
                    raise SecretsError("secrets.exists", path=str(self.path))
            except SecretsError as error:
                if not (damaged := error.code == "secrets.damaged"):
                    raise
            sealed, key = empty(passphrase, self._cost)
            for name, value in (keys or {}).items():
                sealed = with_key(sealed, key, name, value)
            if damaged:
                self.put_aside = _aside(self.path)
            if self.backup.exists():  # of another file, whose keys somebody may want yet
                _aside(self.backup)
            self._write(sealed)
            self._key, self._salt = key, sealed.salt

    def unlock(self, passphrase: str) -> None:
        """Open it for this run. SecretsError ``secrets.passphrase``, ``secrets.damaged``,
        ``secrets.newer``, ``secrets.gone``."""
        with self._turn:
            sealed = self._there()
            key = opened(sealed, passphrase)
            if self._restored:
                with self._alone():
                    self._write(sealed)
            self._key, self._salt = key, sealed.salt

    def lock(self) -> None:
        """Forget the passphrase and what it gave."""
        with self._turn:
            self._key = None

    def change(self, former: str, passphrase: str) -> None:
        """Another passphrase for the same keys; the backup has it too then. SecretsError as of
        ``unlock`` and ``create``, and nothing is changed."""
        with self._turn, self._alone():
            sealed = self._there()
            key = opened(sealed, former)
            fresh, its_key = empty(passphrase, self._cost)
            for place in sealed.keys:
                if (found := read(sealed, key, place)) is not None:
                    fresh = with_key(fresh, its_key, *found)
            self._write(fresh)
            self._copy_over(self.backup)
            self._key, self._salt = its_key, fresh.salt

    # -- changing ------------------------------------------------------------------------------

    def put(self, name: str, value: str) -> None:
        """Keep a key. SecretsError ``secrets.locked``, ``secrets.gone``, ``secrets.unwritable``,
        ``secrets.busy``: what was kept before is still there."""
        hide(value)
        self._update(lambda sealed: with_key(sealed, self._proven(sealed), name, value))

    def remove(self, name: str) -> None:
        """Forget a key; also while it is locked. SecretsError as of ``put``."""
        if self.has(name):
            self._update(lambda sealed: without(sealed, name))

    def forget(self) -> None:
        """Delete the file, its backup and all keys in them. SecretsError ``secrets.unwritable``."""
        with self._turn, self._alone(), self._disk():
            for path in (self.path, self.backup):
                path.unlink(missing_ok=True)
            self._key, self._seen = None, None

    def _update(self, change: Callable[[Sealed], Sealed]) -> None:
        with self._turn, self._alone():
            self._write(change(self._there()))

    # -- on disk -------------------------------------------------------------------------------

    def _whole(self) -> Sealed | None:
        """What can be read now; a damaged file without a backup is as if there were none."""
        try:
            return self._read()
        except SecretsError:
            return None

    def _there(self) -> Sealed:
        if (sealed := self._read()) is None:
            raise SecretsError("secrets.gone", path=str(self.path))
        return sealed

    def _backup(self) -> Sealed | None:
        with suppress(OSError, ValueError, RecursionError, Newer):
            return from_text(self.backup.read_text("utf-8"))
        return None

    def _read(self) -> Sealed | None:
        """The file as it is now; read again only where it changed. None where there is none.
        SecretsError ``secrets.damaged``, ``secrets.newer``, ``secrets.unreadable``."""
        try:
            found = os.stat(self.path)
            text = b"" if self._known(found) else self.path.read_bytes()
        except FileNotFoundError:
            self._seen = None
            return None
        except OSError as error:
            path, reason = str(self.path), _why(error)
            raise SecretsError("secrets.unreadable", path=path, reason=reason) from error
        if not self._known(found):
            held, self._restored = self._parse(text), False
            if isinstance(held, SecretsError) and held.code == "secrets.damaged":
                kept = self._backup()
                self._restored = kept is not None
                held = kept or held
            self._seen = _mark(found), held
        held = self._seen[1] if self._seen is not None else None
        if isinstance(held, SecretsError):
            raise held.with_traceback(None)
        return held

    def _known(self, found: os.stat_result) -> bool:
        return self._seen is not None and self._seen[0] == _mark(found)

    def _parse(self, data: bytes) -> Sealed | SecretsError:
        try:
            return from_text(data.decode("utf-8"))
        except Newer:
            return SecretsError("secrets.newer", path=str(self.path))
        except (ValueError, RecursionError) as error:
            return SecretsError("secrets.damaged", path=str(self.path), reason=_why(error))

    def _opens(self, sealed: Sealed) -> bool:
        """Whether our key is of this file and not of one that it replaced."""
        return self._key is not None and self._salt == sealed.salt

    def _proven(self, sealed: Sealed) -> bytes:
        if self._key is None or not self._opens(sealed):
            raise SecretsError("secrets.locked", path=str(self.path))
        return self._key

    @contextmanager
    def _alone(self) -> Generator[None]:
        """No other process changes the file meanwhile."""
        with self._disk():
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            name = self.path.with_name(self.path.name + ".lock")
            fd = os.open(name, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            deadline = time.monotonic() + LOCK_SECONDS
            while not try_lock(fd):
                if time.monotonic() > deadline:
                    raise SecretsError("secrets.busy", retryable=True, path=str(self.path))
                time.sleep(0.02)
            try:
                yield
            finally:
                unlock(fd)
        finally:
            os.close(fd)

    @contextmanager
    def _disk(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            path, reason = str(self.path), _why(error)
            raise SecretsError("secrets.unwritable", path=path, reason=reason) from error

    def _write(self, sealed: Sealed) -> None:
        with self._disk():
            if self._restored:  # the backup stays as it is, the damaged file too
                self.put_aside = _aside(self.path)
            elif self.path.exists():
                self._copy_over(self.backup)
            _replace(self.path, to_text(sealed).encode())
        self._seen, self._restored = None, False

    def _copy_over(self, there: Path) -> None:
        with self._disk():
            _replace(there, self.path.read_bytes())


def _mark(found: os.stat_result) -> _Mark:
    return found.st_mtime_ns, found.st_size, found.st_ino


def _aside(path: Path) -> Path:
    kept = aside_name(path)
    os.rename(path, kept)
    return kept


def _replace(path: Path, data: bytes) -> None:
    """Write beside (for the owner only), sync, rename, sync the folder."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
    if hasattr(os, "O_DIRECTORY"):
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
