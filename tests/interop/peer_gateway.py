"""AgentScope's own gateway client, driven against a gateway on a port; its Python runs this.

peer_gateway.py PORT TOKEN SPEC   SPEC is the JSON of a declaration named "plain"
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from agentscope.tool import LocalBackend
from agentscope.workspace._gateway_client import GatewayClient


async def said(work: Any) -> str:
    """What it raises, in words; empty when it does not."""
    try:
        await work
    except (RuntimeError, ValueError) as error:
        return str(error)
    return ""


async def called(client: Any, name: str, **arguments: Any) -> dict[str, Any]:
    tool = await client.get_tool(name)
    chunk = json.loads((await tool(**arguments)).model_dump_json())
    return {"name": tool.name, "read_only": tool.is_read_only, **chunk}


async def main() -> None:
    port, token, spec = int(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
    backend = LocalBackend()
    gateway = GatewayClient(backend, port, timeout=30.0, auth_token=token)
    stranger = GatewayClient(backend, port, timeout=30.0, auth_token="wrong")
    one = {"agent_id": "a b", "session_id": "s/1"}
    answer: dict[str, Any] = {"health": await gateway.health()}
    answer["refused"] = await said(stranger.list_mcps())
    client = gateway.make_client(spec, **one)
    await client.connect()
    again = gateway.make_client(spec, **one)
    answer["twice"] = await said(again.connect())
    broken = {**spec, "name": "broken", "mcp_config": {**spec["mcp_config"], "command": "/no/such"}}
    answer["broken"] = await said(gateway.make_client(broken, **one).connect())
    answer["listed"] = [c.name for c in await gateway.list_mcps(**one)]
    answer["elsewhere"] = [c.name for c in await gateway.list_mcps("other", "s/1")]
    answer["tools"] = [
        [tool.name, bool(tool.input_schema.get("properties"))]
        for tool in await client.list_raw_tools()
    ]
    answer["add"] = await called(client, "add", a=2, b=3)
    answer["fail"] = await called(client, "fail", why="因为")
    answer["picture"] = await called(client, "picture")
    large = await called(client, "large", characters=5_000_000)  # over their inline limit
    answer["large"] = len(large["content"][0]["text"])
    status, body = await gateway.exec_request(
        "POST", "/mcps/plain/tools/nope", params=one, body={"arguments": {}}
    )
    answer["nope"] = [status, body.decode()]
    answer["headers"] = await said(client.set_runtime_headers({"X": "y"}))
    await client.close(ignore_errors=False)
    answer["left"] = [c.name for c in await gateway.list_mcps(**one)]
    client._is_connected = True
    answer["gone"] = await said(client.close(ignore_errors=False))
    print(json.dumps(answer))


if __name__ == "__main__":
    asyncio.run(main())
