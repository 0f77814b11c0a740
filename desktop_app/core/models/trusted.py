"""Certificates that a person trusts although the system does not: each for one host alone.

The setting ``trusted_certificates`` has them: ``{"host:port": {"sha256", "subject", "since"}}``.
What does not fit is left out, so that a damaged entry trusts nobody.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

_MARK = re.compile(r"(?:[0-9A-F]{2}:){31}[0-9A-F]{2}")
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Trusted:
    """One of them. ``mark`` is its SHA-256 (``AB:CD:…``), ``subject`` whom it names, ``since`` the
    day it was trusted (ISO 8601)."""

    at: str
    mark: str
    subject: str = ""
    since: str = ""


def place_of(address: str) -> str:
    """Host and port of an address, as they are kept; empty when it has none."""
    try:
        parts = urlsplit(address)
        port = parts.port or _PORTS.get(parts.scheme.lower())
    except ValueError:
        return ""
    host = (parts.hostname or "").rstrip(".")
    return f"{f'[{host}]' if ':' in host else host}:{port}" if host and port else ""


def trusted_of(kept: Any) -> list[Trusted]:
    """What the setting holds, by host."""
    entries = _entries(kept)
    made: list[Trusted] = []
    for at, entry in sorted(entries.items()):
        if not isinstance(entry, Mapping):
            continue
        values = cast("Mapping[str, Any]", entry)
        mark = values.get("sha256")
        if isinstance(mark, str) and _MARK.fullmatch(mark):
            made.append(
                Trusted(at, mark, str(values.get("subject", "")), str(values.get("since", "")))
            )
    return made


def with_trusted(kept: Any, one: Trusted) -> dict[str, Any]:
    """The setting with one more; another of the same host gives way."""
    return {
        **_entries(kept),
        one.at: {"sha256": one.mark, "subject": one.subject, "since": one.since},
    }


def without(kept: Any, at: str) -> dict[str, Any]:
    """The setting without a host's."""
    entries = _entries(kept)
    entries.pop(at, None)
    return entries


def _entries(kept: Any) -> dict[str, Any]:
    return dict(cast("Mapping[str, Any]", kept)) if isinstance(kept, Mapping) else {}
