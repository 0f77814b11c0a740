"""What a Docker workspace is made of: said by a person once, kept in the catalogue."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, cast

from desktop_app.core.errors import WorkspaceError

WORKDIR = "/workspace"
BASE_IMAGE = "python:3.12-slim"

_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}")
_PACKAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._\[\],-]*(\s*[=<>!~]=?\s*[A-Za-z0-9.*+!-]+)?")
_NODE = re.compile(r"[0-9]{1,2}(\.[0-9]{1,3}){0,2}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_USER = re.compile(r"[0-9]{1,10}(:[0-9]{1,10})?")


def host_user() -> str:
    """``uid:gid`` of the person, so that files made in a mounted folder are theirs; uid 1000 where
    the engine translates owners itself (Windows)."""
    if os.name == "nt":
        return "1000:1000"
    return f"{os.getuid()}:{os.getgid()}"


@dataclass(frozen=True, slots=True)
class DockerSpec:
    """Image and limits of one container.

    ``mount`` is a folder of this computer shown at ``/workspace``; without one the files live in
    the container alone and go with it. ``packages`` are pip requirements, ``node`` a Node version
    or empty. ``env`` is for every process; values are kept where the caller keeps secrets, not in
    the catalogue (``kept``). ``user`` is ``uid:gid``, empty for the person's own. ``ca_bundle`` is
    a PEM file of this computer that build and run trust. ``capabilities`` are given back to what is
    otherwise dropped. Memory is in MiB. ``theirs`` is the id that AgentScope gave its workspace
    when the container is AgentScope's: it is found then, never made, and the rest says nothing of
    it.
    """

    base_image: str = BASE_IMAGE
    packages: tuple[str, ...] = ()
    node: str = ""
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    mount: str = ""
    user: str = ""
    cpus: float = 2.0
    memory: int = 2048
    pids: int = 256
    network: bool = True
    init: bool = True
    new_privileges: bool = False
    capabilities: tuple[str, ...] = ()
    ca_bundle: str = ""
    theirs: str = ""

    @property
    def ephemeral(self) -> bool:
        """Whether the files go when the container is removed."""
        return not self.mount

    def check(self) -> None:
        """WorkspaceError ``docker.spec`` with the ``field`` whose value cannot be: it goes into an
        image recipe and an engine's request, where other characters would mean other things."""
        bad = [
            ("base_image", not _IMAGE.fullmatch(self.base_image)),
            ("packages", not all(_PACKAGE.fullmatch(one) for one in self.packages)),
            ("node", bool(self.node) and not _NODE.fullmatch(self.node)),
            ("env", not all(_NAME.fullmatch(name) for name in self.env)),
            ("env", any("\0" in value or "\n" in value for value in self.env.values())),
            ("user", bool(self.user) and not _USER.fullmatch(self.user)),
            ("cpus", not 0.1 <= self.cpus <= 256),
            ("memory", not 64 <= self.memory <= 1 << 22),
            ("pids", not 16 <= self.pids <= 1 << 22),
            ("capabilities", not all(_NAME.fullmatch(one) for one in self.capabilities)),
            ("mount", bool(self.mount) and not os.path.isabs(self.mount)),
        ]
        for name, wrong in bad:
            if wrong:
                raise WorkspaceError("docker.spec", field=name)

    def kept(self) -> dict[str, Any]:
        """For the catalogue: JSON without the values of ``env``, which may be secrets."""
        return {**asdict(self), "env": sorted(self.env)}

    @classmethod
    def of(cls, kept: Mapping[str, Any], env: Mapping[str, str] | None = None) -> DockerSpec:
        """From ``kept`` and the values of ``env``; what is unknown or of another type is left at
        its default, so that a catalogue of another version opens."""
        known: dict[str, Any] = {}
        standard = cls()
        for one in fields(cls):
            value: Any = kept.get(one.name)
            usual: Any = getattr(standard, one.name)
            if one.name == "env" or value is None:
                continue
            if isinstance(usual, tuple) and isinstance(value, list | tuple):
                items = cast(list[Any], value)
                known[one.name] = tuple(item for item in items if isinstance(item, str))
            elif isinstance(usual, bool | str):
                if isinstance(value, type(usual)):
                    known[one.name] = value
            elif isinstance(value, int | float) and not isinstance(value, bool):
                known[one.name] = int(value) if isinstance(usual, int) else float(value)
        return cls(**known, env=dict(env or {}))
