"""Which certificate a server shows when it is not trusted: for people to compare.

Only used in the models process, after a connection was refused. Nothing but the handshake is done.
"""

from __future__ import annotations

import asyncio
import base64
import ssl
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from .pinned import mark_of
from .trusted import place_of

SECONDS = 5.0
_PORTS = {"http": 80, "https": 443}


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
    except (OSError, ValueError, asyncio.IncompleteReadError, TimeoutError):
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
    to = urlsplit(address)
    host, port = to.hostname or "", to.port or _PORTS[to.scheme]
    if not proxy:
        reader, writer = await asyncio.open_connection(host, port, ssl=context)
    else:
        by = urlsplit(proxy)
        if by.scheme != "http":
            return None
        reader, writer = await asyncio.open_connection(by.hostname, by.port or 80)
        who = base64.b64encode(
            f"{unquote(by.username or '')}:{unquote(by.password or '')}".encode()
        )
        head = f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n"
        if by.username:
            head += f"Proxy-Authorization: Basic {who.decode()}\r\n"
        writer.write(f"{head}\r\n".encode())
        await reader.readuntil(b"\r\n\r\n")
        await writer.start_tls(context, server_hostname=host)
    try:
        tls: ssl.SSLObject | None = writer.get_extra_info("ssl_object")
        return tls.getpeercert(binary_form=True) if tls is not None else None
    finally:
        writer.transport.abort()


def described(der: bytes, at: str) -> Seen:
    """A certificate as people compare it."""
    from cryptography import x509

    found = x509.load_der_x509_certificate(der)
    begins, ends = (
        day.date().isoformat() for day in (found.not_valid_before_utc, found.not_valid_after_utc)
    )
    subject, issuer = found.subject.rfc4514_string(), found.issuer.rfc4514_string()
    return Seen(at, mark_of(der), subject[:200], issuer[:200], begins, ends)
