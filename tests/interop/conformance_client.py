"""Our client as the public MCP conformance suite drives it: ``conformance_client.py URL``.

The suite plays the server and judges what it sees. A person is played too: whoever is asked to sign
in does so, a form is filled in with its defaults."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

import httpx2

from desktop_app.core.errors import ToolFailure
from desktop_app.core.mcp.asks import Ask, Form, Reply, Visit
from desktop_app.core.mcp.connection import Connection, Limits
from desktop_app.core.mcp.oauth import Kept, SignIn, secret_name
from desktop_app.core.mcp.runner import Runner
from desktop_app.core.mcp.spec import ServerSpec
from desktop_app.core.secrets import Secrets

URL = sys.argv[-1]
SCENARIO = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
CONTEXT: dict[str, Any] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
LIMITS = Limits(start=20.0, call=20.0, pauses=(), wait=10.0)
ARGUMENTS: dict[str, dict[str, Any]] = {"add_numbers": {"a": 5, "b": 3}}


async def ask(asked: Ask) -> Reply:
    if isinstance(asked.what, Form):
        given = {f.name: f.default for f in asked.what.fields if f.default is not None}
        return Reply("accept", content=given)
    if isinstance(asked.what, Visit) and asked.what.scopes:
        await browse(asked.what.url)
        return Reply("accept")
    return Reply("decline")


async def browse(url: str) -> None:
    async def follow() -> None:
        async with httpx2.AsyncClient(follow_redirects=True, timeout=20) as client:
            await client.get(url)

    browse.tasks.append(asyncio.ensure_future(follow()))  # type: ignore[attr-defined]


browse.tasks = []  # type: ignore[attr-defined]


async def main() -> None:
    runner, secrets, moved = Runner(), Secrets(lambda: None), asyncio.Event()
    if "pre-registration" in SCENARIO:
        client = {
            "client_id": CONTEXT["client_id"],
            "client_secret": CONTEXT.get("client_secret"),
            "redirect_uris": ["http://127.0.0.1/callback"],
            "token_endpoint_auth_method": "client_secret_basic",
        }
        await secrets.put(secret_name(URL), Kept(client=client).text())
    spec = ServerSpec("suite", "streamable_http", url=URL)
    connection = Connection(spec, runner, "/", lambda _: moved.set(), LIMITS, ask, secrets)
    connection.start()

    async def settled() -> str:
        while connection.status.state not in ("ok", "failed"):
            moved.clear()
            await moved.wait()
        return connection.status.state

    async with asyncio.timeout(25):
        if await settled() == "failed" and connection.status.code == "mcp.sign_in":
            moved.clear()
            connection.sign_in(SignIn(browse, "Done."))
            await moved.wait()
            await settled()
        print(connection.status.state, connection.status.code, connection.status.params)
        for tool in connection.status.tools:
            try:
                args = ARGUMENTS.get(tool.name, {})
                await connection.call(tool.name, args, images=False, progress=lambda _: None)
            except ToolFailure as failure:
                print(tool.name, failure.code, failure.params)
    await connection.stop()
    await runner.close()


asyncio.run(main())
