"""Which certificate a server shows when it is not trusted: for people to compare.

Asked after a connection was refused, in the models process and on the loop of the MCP servers.
Nothing but the handshake is done.
"""

from __future__ import annotations

import asyncio
import base64
import ssl
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit

from .pinned import mark_of
from .trusted import place_of

SECONDS = 5.0
_PORTS = {"http": 80, "https": 443}
# Nobody answers, the address is none, or a proxy says what is no answer of HTTP.
_NOTHING = (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError)


@dataclass(frozen=True, slots=True)
class Seen:
    """A certificate: where it was shown (``host:port``), its SHA-256, whom it names, who issued it,
    its days (ISO 8601)."""

    at: str
    mark: str
    subject: str
    issuer: str
    begins: str
    ends: str

    def line(self) -> str:
        """All of it in one line."""
        days = f"{self.begins}/{self.ends}"
        names = f"{self.subject} · {self.issuer}"[:240]
        return f"{names} · {days} · SHA-256 {self.mark}"


async def seen_at(address: str, proxy: str = "") -> Seen | None:
    """The certificate that the server of an address shows; None when it cannot be had. ``proxy`` is
    a URL; through one that does not speak HTTP nothing is asked."""
    try:
        async with asyncio.timeout(SECONDS):
            der = await _handshake(address, proxy)
        return described(der, place_of(address)) if der else None
    except _NOTHING:
        return None


async def proxy_is_trusted(proxy: str, trusted: ssl.SSLContext) -> bool:
    """Whether a proxy that speaks TLS itself shows a certificate that is trusted."""
    to = urlsplit(proxy)
    try:
        async with asyncio.timeout(SECONDS):
            _, writer = await asyncio.open_connection(to.hostname, to.port or 443, ssl=trusted)
    except ssl.SSLCertVerificationError:
        return False
    except (OSError, ValueError, TimeoutError):
        return True  # nothing is known against it
    writer.transport.abort()
    return True


async def _handshake(address: str, proxy: str) -> bytes | None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    to, by = urlsplit(address), urlsplit(proxy)
    host, port = to.hostname or "", to.port or _PORTS[to.scheme]
    if proxy and by.scheme != "http":
        return None
    if proxy:
        reader, writer = await asyncio.open_connection(by.hostname, by.port or 80)
    else:
        reader, writer = await asyncio.open_connection(host, port, ssl=context)
    try:
        if proxy:
            writer.write(_asks_for(f"[{host}]:{port}" if ":" in host else f"{host}:{port}", by))
            await reader.readuntil(b"\r\n\r\n")
            await writer.start_tls(context, server_hostname=host)
        tls: ssl.SSLObject | None = writer.get_extra_info("ssl_object")
        return tls.getpeercert(binary_form=True) if tls is not None else None
    finally:
        writer.transport.abort()


def _asks_for(place: str, by: SplitResult) -> bytes:
    """What a proxy is sent to let us through to ``host:port``."""
    head = f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n"
    if by.username:
        who = f"{unquote(by.username)}:{unquote(by.password or '')}".encode()
        head += f"Proxy-Authorization: Basic {base64.b64encode(who).decode()}\r\n"
    return f"{head}\r\n".encode()


def described(der: bytes, at: str) -> Seen:
    """A certificate as people compare it."""
    from cryptography import x509

    found = x509.load_der_x509_certificate(der)
    begins, ends = (
        day.date().isoformat() for day in (found.not_valid_before_utc, found.not_valid_after_utc)
    )
    subject, issuer = found.subject.rfc4514_string(), found.issuer.rfc4514_string()
    return Seen(at, mark_of(der), subject[:200], issuer[:200], begins, ends)
