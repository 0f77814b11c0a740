"""Which models take an effort of thinking, as far as the SDKs know.

Asking them costs a start of the models process, so that what they said is kept for as long as
pydantic-ai, whose tables they are, is of the same version: a newer one may know more models.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, cast

from desktop_app import __version__
from desktop_app.core.errors import SettingsError
from desktop_app.core.settings.jsonfile import read_object, write_object

from .definitions import ModelDefinition

logger = logging.getLogger(__name__)


class Efforts:
    """In a file of ``path``, in memory without one. A file that cannot be read, or is of another
    version, says nothing and is replaced: it holds nobody's words."""

    def __init__(self, path: Path | None = None) -> None:
        self._path, self._version = path, _version()
        raw = read_object(path)[0] if path is not None else {}
        kept: Any = raw.get("models") if raw.get("version") == self._version else None
        entries = cast("dict[str, Any]", kept) if isinstance(kept, dict) else {}
        self._known = {name: said for name, said in entries.items() if isinstance(said, bool)}

    def known(self, one: ModelDefinition) -> bool | None:
        """Whether a model takes an effort; None when nobody was asked yet. One that a person gave
        an effort takes it."""
        return True if one.effort is not None else self._known.get(_name(one))

    async def note(self, found: Iterable[tuple[ModelDefinition, bool]]) -> None:
        """Keep what was said of models."""
        self._known.update({_name(one): said for one, said in found})
        if self._path is not None:
            value = {"version": self._version, "models": dict(self._known)}
            try:
                await asyncio.to_thread(write_object, self._path, value)
            except SettingsError as error:
                logger.warning("what models take is not kept: %s", error)


def _version() -> str:
    try:
        return version("pydantic-ai-slim")
    except PackageNotFoundError:  # a frozen build may have left it out
        return __version__


def _name(one: ModelDefinition) -> str:
    return f"{one.provider} {one.model}"
