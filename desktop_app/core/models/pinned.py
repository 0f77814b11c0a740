"""A connection to a host whose certificate a person has looked at and trusts: that one, no other.

Neither issuer, name nor days are looked at then: they are what the person was shown. Whoever holds
the key of that very certificate is the one that was meant, so that comparing all of it is enough.
Nothing is sent before it was compared.
"""

from __future__ import annotations

import hashlib
import hmac
import ssl

OTHER = "CERTIFICATE_VERIFY_FAILED: it is not the certificate that is trusted"


def mark_of(der: bytes) -> str:
    """The SHA-256 of a certificate as people compare it: ``AB:CD:…``."""
    return hashlib.sha256(der).digest().hex(":").upper()


def pinned(mark: str) -> ssl.SSLContext:
    """A client's context that takes the certificate with this SHA-256 alone; a handshake with any
    other raises SSLCertVerificationError. For connections made through memory, as asyncio's are."""

    class Compared(ssl.SSLObject):
        def do_handshake(self) -> None:
            super().do_handshake()
            der = self.getpeercert(binary_form=True)
            if der is None or not hmac.compare_digest(mark_of(der), mark):
                raise ssl.SSLCertVerificationError(1, OTHER)

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.sslobject_class = Compared
    return context
