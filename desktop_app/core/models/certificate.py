"""Which certificate a server shows when it is not trusted: for people to compare, never to accept.

Only used in the models process, after a connection was refused. Nothing but the handshake is done.
"""

from __future__ import annotations

import asyncio
import base64
import ssl
from urllib.parse import unquote, urlsplit

SECONDS = 5.0
_PORTS = {"http": 80, "https": 443}


async def shown_by(address: str, proxy: str = "") -> str:
    """One line about the certificate that the server of an address shows: whom it names, who
    issued it, its days (ISO 8601), its SHA-256. Empty when it cannot be had. ``proxy`` is a URL;
    through one that does not speak HTTP nothing is asked."""
    try:
        async with asyncio.timeout(SECONDS):
            der = await _handshake(address, proxy)
    except (OSError, ValueError, asyncio.IncompleteReadError, TimeoutError):
        return ""
    return described(der) if der else ""


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


def described(der: bytes) -> str:
    """A certificate in one line."""
    from cryptography import x509
    from cryptography.hazmat.primitives.hashes import SHA256

    found = x509.load_der_x509_certificate(der)
    days = [d.date().isoformat() for d in (found.not_valid_before_utc, found.not_valid_after_utc)]
    mark = found.fingerprint(SHA256()).hex(":").upper()
    subject, issuer = found.subject.rfc4514_string(), found.issuer.rfc4514_string()
    return f"{subject} · {issuer} · {days[0]}/{days[1]} · SHA-256 {mark}"[:400]
