"""Which certificates are taken at the end of a route: the system's, the person's file's, or the one
that the person trusts for that host."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import Any

import truststore

from desktop_app.core.errors import ModelError

from .pinned import pinned


def trusting(ca_file: str) -> ssl.SSLContext:
    """What the system trusts, and the certificates of a file. ModelError ``model.ca_file``."""
    context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if ca_file:
        try:
            context.load_verify_locations(cafile=ca_file)
        except (OSError, ssl.SSLError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise ModelError("model.ca_file", path=ca_file, reason=reason) from error
    return context


def way_in(route: Mapping[str, Any], pin: str) -> ssl.SSLContext:
    """What is trusted at the end of a route, or (``proxy_pin``) at its proxy: the one certificate
    that the person named, or what the system and the person's file have. ModelError
    ``model.ca_file``."""
    if mark := str(route.get(pin) or ""):
        return pinned(mark)
    return trusting(str(route.get("ca_file") or ""))
