"""Machines that AgentScope made for its workspaces: found at this computer's engine and in the
person's E2B account, so that they can be listed here and looked into.

They are told by AgentScope's own marks (2.0.0 to 2.0.11): labels of a container, metadata of a
sandbox. What is done with one follows ``remote.managed.ManagedWorkspace.theirs``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Literal

from .errors import WorkspaceError
from .places import Places, part
from .sessions.appdb import WorkspaceRow
from .workspaces.docker.container import listed_theirs
from .workspaces.docker.spec import DockerSpec
from .workspaces.e2b.sandbox import THEIRS, listed
from .workspaces.e2b.spec import E2BSpec

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A machine of AgentScope's. ``id`` is the workspace's id there, ``machine`` the container's
    name or the sandbox's id, ``image`` its image or template, ``folder`` the folder of this
    computer that it shows. ``started_us`` is in microseconds since 1970, 0 for unknown."""

    kind: Literal["docker", "e2b"]
    id: str
    machine: str
    image: str
    running: bool
    started_us: int = 0
    folder: str = ""

    def spec(self) -> DockerSpec | E2BSpec:
        """What the catalogue keeps of it."""
        if self.kind == "docker":
            return DockerSpec(theirs=self.id, mount=self.folder)
        return E2BSpec(theirs=self.id, rescue=False)


def known_theirs(rows: list[WorkspaceRow]) -> set[tuple[str, str]]:
    """``(kind, id at AgentScope)`` of the rows that stand for machines of AgentScope's."""
    found = ((row.backend, part(row.config, row.backend).get("theirs")) for row in rows)
    return {(kind, theirs) for kind, theirs in found if isinstance(theirs, str) and theirs}


async def neighbours(places: Places, known: set[tuple[str, str]]) -> list[Neighbour]:
    """Those that no row stands for. An engine or account that does not answer has none."""

    async def sandboxes() -> list[Neighbour]:
        kept, _ = await places.key_kept()
        return await in_account(places) if kept else []

    ways: list[Callable[[], Coroutine[Any, Any, list[Neighbour]]]] = [
        lambda: in_engine(places),
        sandboxes,
    ]
    found: list[Neighbour] = []
    for way in ways:
        try:
            found += await way()
        except WorkspaceError as error:
            log.info("machines of other programs cannot be listed: %s", error)
    return [one for one in found if (one.kind, one.id) not in known]


async def in_engine(places: Places) -> list[Neighbour]:
    """Containers at the engine in use. WorkspaceError ``docker.*``."""
    return [
        Neighbour("docker", one.id, one.name, one.image, one.running, one.started_us, one.mount)
        for one in await listed_theirs(await places.engines.engine())
    ]


async def in_account(places: Places) -> list[Neighbour]:
    """Sandboxes of the account. WorkspaceError ``e2b.*``."""
    return [
        Neighbour("e2b", one.metadata[THEIRS], one.id, one.template, one.running, one.started_us)
        for one in await listed(places.e2b)
        if one.metadata.get(THEIRS)
    ]
