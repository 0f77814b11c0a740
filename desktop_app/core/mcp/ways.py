"""How a server over HTTP is reached: by the proxy and with the certificates of the person's network
settings, as models are. Runs on the runner's loop."""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from desktop_app.core.models.certificate import seen_at
from desktop_app.core.models.network import Route, shown
from desktop_app.core.models.trusted import place_of
from desktop_app.core.models.trusting import trusting, way_in

if TYPE_CHECKING:
    import httpx2

RouteOf = Callable[[str], Awaitable[Route]]


def options(url: str, route: Route | None) -> dict[str, Any]:
    """Arguments of an HTTP client for a server at ``url``. The certificate that is trusted for its
    host is taken there alone: who signs in may be sent to others. ModelError ``model.ca_file``."""
    import httpx2

    if route is None:
        return {}
    proxy = _proxy(route)
    made: dict[str, Any] = {
        "verify": trusting(route.ca_file),
        "proxy": proxy,
        "trust_env": False,
    }
    if route.pin:
        pinned = httpx2.AsyncHTTPTransport(verify=way_in(route.frame(), "pin"), proxy=proxy)
        made["mounts"] = {f"https://{place_of(url)}": pinned}
    return made


def _proxy(route: Route) -> httpx2.Proxy | None:
    import httpx2

    if not route.proxy:
        return None
    secure = route.proxy.startswith("https:")
    context = way_in(route.frame(), "proxy_pin") if secure else None
    return httpx2.Proxy(route.proxy, ssl_context=context)


def trouble(error: BaseException) -> tuple[str, str]:
    """("mcp.certificate" or "mcp.proxy", the words of the failure) where it is one of these."""
    for cause in _chain(error):
        if isinstance(cause, ssl.SSLCertVerificationError) or "CERTIFICATE_VERIFY" in str(cause):
            return "mcp.certificate", getattr(cause, "verify_message", "") or str(cause)[:200]
        if type(cause).__name__ == "ProxyError":
            return "mcp.proxy", str(cause)[:200]
    return "", ""


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    left: list[BaseException | None] = [error]
    while left:
        one = left.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        left += [one.__cause__, one.__context__]


async def looked_at(
    code: str, params: dict[str, Any], url: str, route: Route | None
) -> tuple[str, dict[str, Any]]:
    """Which certificate a refused server shows (``seen``), and whether the person trusts another
    one there (``mcp.certificate_changed``); which proxy refused."""
    proxy = route.proxy if route is not None else ""
    if code == "mcp.proxy":
        return code, {**params, "proxy": shown(proxy)}
    if code != "mcp.certificate":
        return code, params
    params = {**params, "certificate": ""}
    if (seen := await seen_at(url, proxy)) is not None:
        params |= {"certificate": seen.line(), "seen": asdict(seen)}
        if route is not None and route.pin and route.pin != seen.mark:
            code = "mcp.certificate_changed"
    return code, params
