"""An MCP server that wants a token, with its authorization server: ``guarded.py PORT NOTES``.

It checks what OAuth 2.1 has a server check: the registered address, PKCE. A file beside
NOTES that ends with ``.mode`` may hold ``deny`` (the person refuses) or ``short``
(tokens end at once); ``deep_number`` wants the right ``deep``, others the
right ``plain``. ``NOTES`` gets a line for each request that matters."""

from __future__ import annotations

import base64
import hashlib
import sys
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import uvicorn
from mcp.server import MCPServer
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse
from starlette.routing import Route

PORT, NOTES = int(sys.argv[1]), Path(sys.argv[2])
HERE = f"http://127.0.0.1:{PORT}"
clients: dict[str, list[str]] = {}
codes: dict[str, dict[str, str]] = {}
tokens: dict[str, str] = {}  # to the rights it stands for
renewals: dict[str, str] = {}

server = MCPServer("guarded")


@server.tool()
def secret_number() -> str:
    """A number behind the sign-in."""
    return "42"


@server.tool()
def deep_number() -> str:
    """A number for which more rights are needed."""
    return "43"


def note(text: str) -> None:
    with NOTES.open("a", encoding="utf-8") as file:
        file.write(text + "\n")


def mode() -> str:
    path = NOTES.with_suffix(".mode")
    return path.read_text() if path.exists() else ""


async def resource(request: Request) -> JSONResponse:
    return JSONResponse({"resource": f"{HERE}/mcp", "authorization_servers": [HERE]})


async def metadata(request: Request) -> JSONResponse:
    return JSONResponse({
        "issuer": HERE,
        "authorization_endpoint": f"{HERE}/authorize",
        "token_endpoint": f"{HERE}/renew/token",
        "registration_endpoint": f"{HERE}/register",
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
    })  # fmt: skip


async def register(request: Request) -> JSONResponse:
    body: dict[str, Any] = await request.json()
    client = uuid.uuid4().hex
    clients[client] = body["redirect_uris"]
    note(f"register {body['client_name']} {body['redirect_uris'][0]}")
    made = {**body, "client_id": client, "token_endpoint_auth_method": "none"}
    return JSONResponse(made, status_code=201)


async def authorize(request: Request) -> Any:
    asked = dict(request.query_params)
    back = asked["redirect_uri"]
    if back not in clients.get(asked["client_id"], ()):
        return JSONResponse({"error": "invalid_request"}, status_code=400)
    answer = {"state": asked["state"]}
    if mode() == "deny":
        answer |= {"error": "access_denied", "error_description": "The person refused"}
    else:
        code = uuid.uuid4().hex
        codes[code] = asked
        answer["code"] = code
    more = f" scope={asked['scope']}" if "deep" in asked.get("scope", "") else ""
    note(f"authorize resource={asked.get('resource')}{more}")
    return RedirectResponse(f"{back}?{urlencode(answer)}")


async def token(request: Request) -> JSONResponse:
    form = dict(await request.form())
    if form["grant_type"] == "refresh_token":
        if form["refresh_token"] not in renewals:
            note("renewal refused")
            return JSONResponse({"error": "invalid_grant"}, status_code=400)
        note("renewed")
        rights = renewals[str(form["refresh_token"])]
    else:
        asked = codes.pop(str(form["code"]))
        digest = hashlib.sha256(str(form["code_verifier"]).encode()).digest()
        proof = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if proof != asked["code_challenge"] or form["redirect_uri"] != asked["redirect_uri"]:
            return JSONResponse({"error": "invalid_grant"}, status_code=400)
        note("token")
        rights = asked.get("scope", "plain")
    access, renewal = f"at-{uuid.uuid4().hex}", f"rt-{uuid.uuid4().hex}"
    tokens[access] = renewals[renewal] = rights
    seconds = 1 if mode() == "short" else 3600
    return JSONResponse({"access_token": access, "token_type": "Bearer", "expires_in": seconds,
                         "scope": rights,
                         "refresh_token": renewal})  # fmt: skip


async def forget(request: Request) -> JSONResponse:
    """All tokens end; with ``?all`` renewals do too."""
    tokens.clear()
    if "all" in request.query_params:
        renewals.clear()
    return JSONResponse({})


class Guard:
    """Lets in who brings a token."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"] == "/mcp":
            request = Request(scope, receive)
            given = request.headers.get("authorization", "").removeprefix("Bearer ")
            if given not in tokens:
                where = f'resource_metadata="{HERE}/.well-known/oauth-protected-resource/mcp"'
                refused = JSONResponse({}, 401, {"WWW-Authenticate": f"Bearer {where}"})
                await refused(scope, receive, send)
                return
            body = await request.body()
            if b"deep_number" in body and "deep" not in tokens[given].split():
                note("more wanted")
                why = 'Bearer error="insufficient_scope", scope="deep"'
                await JSONResponse({}, 403, {"WWW-Authenticate": why})(scope, receive, send)
                return

            told = [{"type": "http.request", "body": body, "more_body": False}]

            async def again() -> Any:
                return told.pop() if told else await receive()

            await self.app(scope, again, send)
            return
        await self.app(scope, receive, send)


app: Starlette = server.streamable_http_app()
app.routes[:0] = [
    Route("/.well-known/oauth-protected-resource/mcp", resource),
    Route("/.well-known/oauth-authorization-server", metadata),
    Route("/register", register, methods=["POST"]),
    Route("/authorize", authorize),
    Route("/renew/token", token, methods=["POST"]),
    Route("/forget", forget, methods=["POST"]),
]
uvicorn.run(Guard(app), host="127.0.0.1", port=PORT, log_level="error")
