"""Signing in to an HTTP server: OAuth 2.1 with PKCE, as the MCP specification has it, through the
SDK's client. Runs on the runner's loop.

Nothing of it happens by itself: without kept tokens no authorization is sent, and a server that
wants some is told to the person, who presses "Sign in". The browser comes back to a loopback
address (RFC 8252) that is open only meanwhile. Tokens, and the registration that they belong to,
are one secret of the keyring, by the server's address.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qsl, urlsplit

from desktop_app.core.secrets import Place, Secrets

from .loopback import Loopback, SignInNeeded
from .transport import Wire

if TYPE_CHECKING:
    import httpx2
    from mcp.client.auth import OAuthClientProvider

SECONDS = 300.0  # for the person to sign in
CLIENT = "Slipway"


@dataclass(frozen=True, slots=True)
class SignIn:
    """How to ask the person: ``open`` is awaited at home with the address to visit, ``said`` is the
    text of the page that the browser ends on."""

    open: Callable[[str], Awaitable[None]]
    said: str


def secret_name(url: str) -> str:
    """The name of a server's secret: its address without user, query and fragment."""
    parts = urlsplit(url)
    return f"mcp {parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


@dataclass(slots=True)
class Kept:
    """What the secret holds, as the SDK's models dump it; times are seconds since the epoch."""

    tokens: dict[str, Any] | None = None
    client: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    resource: dict[str, Any] | None = None
    expires: float | None = None

    @classmethod
    def of(cls, text: str) -> Kept:
        """Read it; what does not parse is as if nothing were kept."""
        try:
            raw: Any = json.loads(text or "{}")
        except ValueError:
            return cls()
        held = cast(dict[str, Any], raw) if isinstance(raw, dict) else {}
        parts: dict[str, dict[str, Any]] = {}
        for name in ("tokens", "client", "metadata", "resource"):
            if isinstance(part := held.get(name), dict):
                parts[name] = cast(dict[str, Any], part)
        expires = held.get("expires")
        return cls(**parts, expires=expires if isinstance(expires, int | float) else None)

    def text(self) -> str:
        return json.dumps({name: getattr(self, name) for name in self.__slots__})


@dataclass(slots=True)
class Storage:
    """The SDK's ``TokenStorage`` over one secret. ``place`` says where it lies, ``unread`` why it
    is not known: a keyring that gave no answer (``mcp.keyring``), a file of keys that is locked
    (``mcp.keys_locked``)."""

    secrets: Secrets
    name: str
    kept: Kept = field(default_factory=Kept)
    place: Place | None = None
    unread: str = ""

    async def load(self) -> None:
        text = await self.secrets.get(self.name)
        self.kept, self.unread = Kept.of(text), ""
        if self.kept.tokens is not None:
            self.place = await self.secrets.lies(self.name)
        elif not text and await self.secrets.locked(self.name):
            self.unread = "mcp.keys_locked"
        elif not text and self.secrets.silent(self.name):
            self.unread = "mcp.keyring"

    async def save(self, **parts: Any) -> None:
        if self.unread:  # what is there must not be written over by a part of it
            await self.load()
        for name, value in parts.items():
            setattr(self.kept, name, value)
        self.place = await self.secrets.put(self.name, self.kept.text())

    async def get_tokens(self) -> Any:
        return _model("OAuthToken", self.kept.tokens)

    async def set_tokens(self, tokens: Any) -> None:
        expires = time.time() + tokens.expires_in if tokens.expires_in else None
        await self.save(tokens=tokens.model_dump(mode="json", exclude_none=True), expires=expires)

    async def get_client_info(self) -> Any:
        return _model("OAuthClientInformationFull", self.kept.client)

    async def set_client_info(self, client_info: Any) -> None:
        await self.save(client=client_info.model_dump(mode="json", exclude_none=True))


def _model(name: str, held: dict[str, Any] | None) -> Any:
    from mcp.shared import auth
    from pydantic import ValidationError

    if held is None:
        return None
    try:
        return getattr(auth, name).model_validate(held)
    except ValidationError:
        return None


class Declined(Exception):
    """The person does not want the server to do more: its refusal stands."""


# Asks the person for more rights of a server, for the call under way: the address to visit, what
# is new, and what the browser will bring. None: they do not want it, or no call runs.
Widen = Callable[
    [str, tuple[str, ...], asyncio.Future[dict[str, str]]], Awaitable[dict[str, str] | None]
]


class OAuth:
    """One server's authorization, for one connection. ``signing`` None: nobody is asked, kept
    tokens are used and refreshed, and more raises SignInNeeded; only a server that wants more
    rights for a call (403, ``insufficient_scope``) may ask, by ``widen``. ``visited`` is told the
    host that the person is sent to."""

    def __init__(
        self,
        url: str,
        storage: Storage,
        wire: Wire,
        signing: SignIn | None,
        visited: Callable[[str], None],
        widen: Widen,
    ) -> None:
        self._url = url
        self._storage = storage
        self.wire = wire
        self._signing = signing
        self._visited = visited
        self._widen = widen
        self._widening = False
        self._brought: dict[str, str] | None = None
        self._loopback: Loopback | None = None

    @property
    def place(self) -> Place | None:
        """Where the tokens lie; None when the server wanted none."""
        return self._storage.place if self._storage.kept.tokens is not None else None

    def cancel(self) -> None:
        """The person gave up."""
        if self._loopback is not None:
            self._loopback.give_up()

    async def auth(self, home: asyncio.AbstractEventLoop) -> httpx2.Auth:
        """What the HTTP client signs requests with."""
        from mcp.client.auth import OAuthClientProvider
        from mcp.shared.auth import OAuthClientMetadata
        from pydantic import AnyUrl

        redirect = await self._where_to_come_back()
        provider = OAuthClientProvider(
            self._url,
            OAuthClientMetadata(
                client_name=CLIENT,
                redirect_uris=[AnyUrl(redirect or "http://127.0.0.1/callback")],
                grant_types=["authorization_code", "refresh_token"],
            ),
            self._storage,
            lambda url: self._visit(url, home),
            self._come_back,
        )
        self._recall(provider)
        return signer(self, provider)

    async def _where_to_come_back(self) -> str:
        """The registered address; when the person is to sign in, one that is open now."""
        kept = self._storage.kept
        redirect = _redirect(kept)
        if self._signing is not None:
            self._loopback = Loopback(self._signing.said)
            await self._loopback.open(urlsplit(redirect).port or 0)
            if self._loopback.url != redirect and not _registered_by_hand(kept):
                kept.client = None  # a registration names its address: make a new one
            redirect = self._loopback.url
        return redirect

    def _recall(self, provider: OAuthClientProvider) -> None:
        """The SDK keeps neither when tokens end nor where they are renewed."""
        from mcp.shared.auth import OAuthMetadata, ProtectedResourceMetadata

        kept, context = self._storage.kept, provider.context
        context.token_expiry_time = kept.expires
        context.oauth_metadata = _of(OAuthMetadata, kept.metadata)
        context.protected_resource_metadata = _of(ProtectedResourceMetadata, kept.resource)
        if (resource := context.protected_resource_metadata) and resource.authorization_servers:
            context.auth_server_url = str(resource.authorization_servers[0])

    # -- more rights ---------------------------------------------------------------------------

    async def widen(self, provider: OAuthClientProvider) -> None:
        """The server wants more rights: get ready for the browser. Declined where it could not
        come back."""
        from pydantic import AnyUrl

        if self._signing is not None:
            return  # the person is signing in: they are sent there again
        port = urlsplit(_redirect(self._storage.kept)).port
        self._loopback, self._widening = Loopback(f"\N{CHECK MARK} {CLIENT}"), True
        await self._loopback.open(port or 0)
        if port and urlsplit(self._loopback.url).port != port:
            raise Declined  # the registration names a port that somebody else has now
        provider.context.client_metadata.redirect_uris = [AnyUrl(self._loopback.url)]

    async def widened(self) -> None:
        """That is over, however it ended."""
        if self._widening:
            self._widening, self._brought = False, None
            if self._loopback is not None:
                await self._loopback.close()

    async def _ask_for_more(self, url: str) -> None:
        """Ask the person, and wait for what the browser brings."""
        assert self._loopback is not None
        had = str((self._storage.kept.tokens or {}).get("scope") or "").split()
        asked = dict(parse_qsl(urlsplit(url).query)).get("scope", "").split()
        fresh = tuple(name for name in asked if name not in had) or tuple(asked)
        self._brought = await self._widen(url, fresh, self._loopback.answer)
        if self._brought is None or "error" in self._brought:
            raise Declined

    async def found(self, provider: OAuthClientProvider) -> None:
        """Keep where tokens are renewed, once it is known."""
        context, kept = provider.context, self._storage.kept
        if kept.tokens is None or context.oauth_metadata is None or kept.metadata is not None:
            return
        resource = context.protected_resource_metadata
        await self._storage.save(
            metadata=context.oauth_metadata.model_dump(mode="json", exclude_none=True),
            resource=resource.model_dump(mode="json", exclude_none=True) if resource else None,
        )

    async def settle(self) -> None:
        """It is connected, or it is not: from here on nobody is asked any more."""
        self._signing = None
        if self._loopback is not None:
            await self._loopback.close()

    async def _visit(self, url: str, home: asyncio.AbstractEventLoop) -> None:
        signing, web = self._signing, url.startswith(("https://", "http://"))
        if signing is None and web and self._widening:
            await self._ask_for_more(url)
            return
        if signing is None or not web:
            raise SignInNeeded

        async def ask() -> None:
            await signing.open(url)

        self._visited(urlsplit(url).netloc.rpartition("@")[2])
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(ask(), home))

    async def _come_back(self) -> Any:
        from mcp.client.auth import OAuthFlowError
        from mcp.shared.auth import AuthorizationCodeResult

        assert self._loopback is not None
        if (found := self._brought) is None:
            async with asyncio.timeout(SECONDS):
                found = await self._loopback.answer
        if "error" in found:
            raise OAuthFlowError(found.get("error_description") or found["error"])
        return AuthorizationCodeResult(
            code=found.get("code", ""), state=found.get("state"), iss=found.get("iss")
        )


def signer(oauth: OAuth, provider: OAuthClientProvider) -> httpx2.Auth:
    """The provider's flow for the HTTP client. What it fails with is told beside the transport,
    which would only say that the connection failed; a person who does not want to give more rights
    leaves the connection as it is, and the server's refusal is the call's answer."""
    import httpx2

    class Signer(httpx2.Auth):
        requires_response_body = True

        async def async_auth_flow(
            self, request: httpx2.Request
        ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
            flow = provider.async_auth_flow(request)
            refused = response = None
            try:
                outgoing = await flow.__anext__()
                while True:
                    response = yield outgoing
                    if refused is None and wants_more(response):
                        refused = response
                        await oauth.widen(provider)
                    outgoing = await flow.asend(response)
            except StopAsyncIteration:
                await oauth.found(provider)
            except Declined:
                if response is not refused:
                    yield request  # the last answer was not the server's own: it refuses again
            except SignInNeeded:
                oauth.wire.sign_in = "needed"
                raise
            except Exception as error:
                oauth.wire.sign_in = str(error)[:300] or type(error).__name__
                raise
            finally:
                await oauth.widened()
                await flow.aclose()

    return Signer()


def wants_more(response: httpx2.Response) -> bool:
    """Whether a server refuses for want of rights: the specification's "step-up authorization",
    RFC 6750 3.1."""
    said = response.headers.get("www-authenticate", "")
    return response.status_code == 403 and "insufficient_scope" in said


def _redirect(kept: Kept) -> str:
    listed = (kept.client or {}).get("redirect_uris")
    first = cast(list[Any], listed)[0] if isinstance(listed, list) and listed else ""
    return str(first) if str(first).startswith("http://127.0.0.1:") else ""


def _registered_by_hand(kept: Kept) -> bool:
    """A client that names no loopback port was registered by a person, not by us."""
    return kept.client is not None and not _redirect(kept)


def _of(kind: Any, held: dict[str, Any] | None) -> Any:
    from pydantic import ValidationError

    try:
        return kind.model_validate(held) if held is not None else None
    except ValidationError:
        return None
