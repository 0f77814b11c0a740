"""A workspace in a container, made by the real agentscope; runs in an interpreter of its own.

peer_docker.py IMAGE LIBRARIES ID [FOLDER]   makes it, offloads a message, and leaves it running

Its own image needs a registry: IMAGE stands in for it, and its gateway, which is in that image, is
left out. LIBRARIES is where ``aiodocker`` is.
"""

from __future__ import annotations

import asyncio
import sys

from agentscope.message import Msg, TextBlock
from agentscope.workspace import DockerWorkspace


class Workspace(DockerWorkspace):
    async def _build_or_reuse_image(self) -> None:
        self._image_tag = self.base_image

    async def _setup_mcp_gateway(self) -> None:
        """It is in the image that cannot be made here."""


async def main() -> None:
    image, libraries, workspace_id, *folder = sys.argv[1:]
    sys.path.append(libraries)  # after its own
    mount = folder[0] if folder else None
    workspace = Workspace(workspace_id=workspace_id, base_image=image, host_workdir=mount)
    await workspace.initialize()
    said = Msg(name="user", role="user", content=[TextBlock(text="from AgentScope 你好")])
    print(await workspace.offload_context("s1", [said]))
    await workspace._client.close()


if __name__ == "__main__":
    asyncio.run(main())
