"""Workspaces by kind: what a row of the catalogue stands for.

A folder on this computer, a Docker container, an E2B sandbox; each kind says how its row becomes a
workspace. Rows hold no secret: values of environment variables are with the other secrets, by
workspace.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from .errors import WorkspaceError
from .log import hide
from .paths import Paths
from .secrets import Place, Secrets
from .sessions.appdb import WorkspaceRow
from .workspaces.docker.engines import Engines
from .workspaces.docker.spec import DockerSpec
from .workspaces.docker.workspace import DockerWorkspace
from .workspaces.e2b.account import SECRET, Account
from .workspaces.e2b.spec import E2BSpec
from .workspaces.e2b.workspace import E2BWorkspace
from .workspaces.in_use import who_uses
from .workspaces.left_running import LeftRunning
from .workspaces.local import LocalBackend
from .workspaces.local_workspace import LocalWorkspace

RESCUED = "rescued"  # the folder of rescue copies, in the data folder


class Places:
    """Makes workspaces. ``tools`` gives the tool objects of one."""

    def __init__(self, paths: Paths, secrets: Secrets, tools: Callable[[], list[Any]]) -> None:
        self._paths = paths
        self._secrets = secrets
        self._tools = tools
        self.left = LeftRunning(paths.state / "left-running")
        self.engines = Engines()
        self.e2b = Account(lambda: secrets.get(SECRET))

    async def key_kept(self) -> tuple[str, Place]:
        """Where the E2B key is (``keyring``, ``file``, ``session``, ``environment``, ``variable``,
        or empty for none), and where a new one would be kept."""
        place = await self._secrets.place()
        if variable := await self._secrets.variable(SECRET):
            return ("environment" if variable == "E2B_API_KEY" else "variable"), place
        if kept := await self._secrets.lies(SECRET):
            return kept, place
        return ("environment" if os.environ.get("E2B_API_KEY") else ""), place

    async def keep_key(self, key: str) -> Place:
        """Keep an E2B key; where it lies now. An empty one forgets what was kept."""
        if key:
            return await self._secrets.put(SECRET, key)
        await self._secrets.remove(SECRET)
        return await self._secrets.place()

    def account(self, key: str = "") -> Account:
        """The account, with another key than the one that is kept when ``key`` is not empty."""
        if not key:
            return self.e2b
        hide(key)

        async def typed() -> str:
            return key

        return Account(typed, api_url=self.e2b.api_url, sandbox_url=self.e2b.sandbox_url)

    async def make(self, row: WorkspaceRow) -> LocalWorkspace:
        """The workspace of a row, not opened. WorkspaceError ``workspace.kind`` for a kind that
        this version does not know."""
        common: dict[str, Any] = {"id": row.id, "name": row.name, "trusted": row.trusted}
        match row.backend:
            case "local":
                folder = row.folder or str(self._paths.data / "workspaces" / row.id)
                # A rescue copy is ours alone, however fresh.
                ours = Path(folder).is_relative_to(self._paths.data / RESCUED)
                in_use = None if ours else who_uses
                backend = LocalBackend(folder, left=self.left)
                more: dict[str, Any] = {"tools": self._tools, "in_use": in_use, **common}
                return LocalWorkspace(folder, backend=backend, **more)
            case "docker":
                spec = DockerSpec.of(
                    part(row.config, "docker"), await self.environment(row.id, row.name)
                )
                return DockerWorkspace(spec, self.engines.engine, tools=self._tools, **common)
            case "e2b":
                lease = E2BSpec.of(
                    part(row.config, "e2b"), await self.environment(row.id, row.name)
                )
                return E2BWorkspace(lease, self.e2b, tools=self._tools, **common)
            case other:
                raise WorkspaceError("workspace.kind", kind=other, name=row.name)

    async def environment(self, workspace_id: str, called: str = "") -> dict[str, str]:
        """The environment variables that a person gave a workspace. WorkspaceError
        ``workspace.keys_locked`` where they lie in a file that the person has not unlocked: without
        them it would run as another one."""
        name = _environment(workspace_id)
        held = await self._secrets.get(name)
        if not held and await self._secrets.locked(name):
            raise WorkspaceError(
                "workspace.keys_locked", retryable=True, name=called or workspace_id
            )
        try:
            found: Any = json.loads(held or "{}")
        except ValueError:
            return {}
        if not isinstance(found, dict):
            return {}
        return {str(key): str(value) for key, value in cast(dict[Any, Any], found).items()}

    async def keep_environment(self, workspace_id: str, env: Mapping[str, str]) -> None:
        """Keep them; an empty one forgets what was kept."""
        name = _environment(workspace_id)
        if env:
            await self._secrets.put(name, json.dumps(dict(env)))
        elif await self._secrets.lies(name):
            await self._secrets.remove(name)

    async def docker_row(self, row_id: str, name: str, spec: DockerSpec) -> WorkspaceRow:
        """A row for a new Docker workspace; its environment is kept. WorkspaceError
        ``docker.spec``, ``docker.mount``."""
        spec.check()
        if spec.mount and not await asyncio.to_thread(Path(spec.mount).is_dir):
            raise WorkspaceError("docker.mount", retryable=True, path=spec.mount)
        await self.keep_environment(row_id, spec.env)
        config = {"docker": spec.kept()}
        return WorkspaceRow(row_id, name, "docker", spec.mount or None, trusted=True, config=config)

    async def e2b_row(self, row_id: str, name: str, spec: E2BSpec) -> WorkspaceRow:
        """A row for a new E2B workspace; its environment is kept. WorkspaceError ``e2b.spec``."""
        spec.check()
        await self.keep_environment(row_id, spec.env)
        return WorkspaceRow(row_id, name, "e2b", trusted=True, config={"e2b": spec.kept()})

    async def close(self) -> None:
        await self.engines.close()
        await asyncio.to_thread(self.left.close)


def _environment(workspace_id: str) -> str:
    return f"workspace {workspace_id} environment"


def part(config: Mapping[str, Any], name: str) -> dict[str, Any]:
    value: Any = config.get(name)
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
