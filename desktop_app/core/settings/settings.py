"""The person's settings: one JSON file, readable and editable by hand.

A file that fails to parse is never overwritten: it is set aside under a dated name the first time
something is saved, and ``Settings.problem`` says so until then. Keys that this version does not
know are kept. A single value that does not fit falls back to its default and is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from desktop_app.core.errors import SettingsError

from .jsonfile import read_object, write_object

_LANGUAGES = ("system", "en", "zh_CN")
_SCHEMES = ("system", "light", "dark")
_DENSITIES = ("comfortable", "compact")
_MOTIONS = ("system", "full", "reduced")
FONT_SIZES = (80, 90, 100, 110, 125, 150, 175, 200)

DEFAULTS: dict[str, Any] = {
    "language": "system",
    "scheme": "system",
    "font_size": 100,  # percent of the system's
    "density": "comfortable",
    "motion": "system",
    "model": "",  # default of new sessions; empty: the built-in Guide
    "proxy": "",  # of calls to models; empty: the system's, "none": no proxy, or a URL
    "no_proxy": "",  # hosts reached without it, as in the variable NO_PROXY
    "ca_file": "",  # certificates in PEM format that are trusted beside the system's
    "trusted_certificates": {},  # of single hosts, see core/models/trusted.py
    "stall_seconds": 180,  # of silence after which a call to a model is given up
    "compaction": {},  # by agent id: what happens by itself, see core/agent/policies.py
    "keys": {},  # command id -> the person's own shortcut
    "recent_commands": [],
    "first_run_done": False,
}


def _one_of(*values: object) -> Callable[[Any], bool]:
    return lambda value: value in values


def _strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(v, str) for v in cast("list[Any]", value))


def _string_map(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    pairs = cast("dict[Any, Any]", value).items()
    return all(isinstance(k, str) and isinstance(v, str) for k, v in pairs)


def _password(url: str) -> bool:
    """Whether a URL holds a password, which no settings file may."""
    user, at, _ = url.partition("://")[2].rpartition("@")
    return bool(at) and ":" in user


_CHECKS: dict[str, Callable[[Any], bool]] = {
    "language": _one_of(*_LANGUAGES),
    "scheme": _one_of(*_SCHEMES),
    "font_size": lambda v: isinstance(v, int) and not isinstance(v, bool) and 50 <= v <= 300,
    "density": _one_of(*_DENSITIES),
    "motion": _one_of(*_MOTIONS),
    "model": lambda v: isinstance(v, str),
    "proxy": lambda v: isinstance(v, str) and not _password(v),
    "no_proxy": lambda v: isinstance(v, str),
    "ca_file": lambda v: isinstance(v, str),
    "stall_seconds": lambda v: isinstance(v, int) and not isinstance(v, bool) and v >= 5,
    "compaction": lambda v: isinstance(v, dict),
    "trusted_certificates": lambda v: isinstance(v, dict),
    "keys": _string_map,
    "recent_commands": _strings,
    "first_run_done": lambda v: isinstance(v, bool),
}


@dataclass(slots=True)
class Settings:
    """Settings read from ``path``. Values by name: ``get``, ``set`` (checked), ``save`` (whole
    file, written beside and renamed). ``problem`` is the error of a file that could not be read;
    ``invalid`` names values that did not fit."""

    path: Path
    values: dict[str, Any] = field(default_factory=dict[str, Any])
    problem: SettingsError | None = None
    invalid: list[str] = field(default_factory=list[str])
    _set_aside: bool = False

    def get(self, name: str) -> Any:
        """The value in force. KeyError for a name that is no setting."""
        default = DEFAULTS[name]
        return self.values.get(name, default)

    def set(self, name: str, value: Any) -> None:
        """Change one value; raises SettingsError ``settings.invalid`` when it does not fit."""
        if name not in DEFAULTS or not _CHECKS[name](value):
            raise SettingsError("settings.invalid", name=name, reason=repr(value))
        self.values[name] = value
        if name in self.invalid:
            self.invalid.remove(name)

    def update(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            self.set(name, value)

    def save(self) -> Path | None:
        """Write the file. Returns where an unreadable former file was put, else None. Raises
        SettingsError ``settings.unwritable``; the former file is then untouched."""
        kept = write_object(self.path, self.values, aside=self._set_aside)
        self._set_aside = False
        self.problem = None
        return kept


def load(path: Path) -> Settings:
    """Read the settings at ``path``. Never raises: a missing file gives defaults, an unreadable
    one gives defaults and ``problem`` (code ``settings.unreadable``)."""
    values, problem = read_object(path)
    if problem is not None:
        # A file that cannot even be read may be whole: it is kept too before anything is saved.
        return Settings(path, problem=problem, _set_aside=True)
    invalid = [n for n, check in _CHECKS.items() if n in values and not check(values[n])]
    good = {name: value for name, value in values.items() if name not in invalid}
    return Settings(path, good, invalid=invalid, _set_aside=bool(invalid))
