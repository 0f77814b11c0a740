"""How the providers are reached: through which proxy, trusting which certificates.

The person's choice is ``Network``; ``Network.route`` says what it means for one address. Nothing
of it is read from the environment in the models process: what a call needs goes with the call.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Any
from urllib.parse import quote, urlsplit

from .providers import host_of, is_loopback
from .trusted import Trusted, place_of, trusted_of

SYSTEM = ""  # the proxies of the system and the environment
DIRECT = "none"  # no proxy at all
PROXY_SCHEMES = ("http", "https", "socks5", "socks5h")
STALL_SECONDS = 180.0  # thinking models are silent for minutes without streaming


@dataclass(frozen=True, slots=True)
class Route:
    """For one address. ``proxy`` is a URL, perhaps with a password, or empty; ``ca_file`` holds
    certificates that are trusted beside the system's; ``pin`` is the SHA-256 of the one certificate
    that is trusted there, ``proxy_pin`` of the one that the proxy itself may show."""

    proxy: str = ""
    ca_file: str = ""
    pin: str = ""
    proxy_pin: str = ""

    def frame(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Network:
    """``proxy`` is ``SYSTEM``, ``DIRECT`` or a URL without a password (``password_name``);
    ``no_proxy`` hosts that are reached without (as in the variable ``NO_PROXY``); ``ca_file`` the
    certificates of a company's own authority, in PEM format; ``stall`` the seconds of silence after
    which a call is given up; ``trusted`` single certificates of single hosts (``trusted.py``)."""

    proxy: str = SYSTEM
    no_proxy: str = ""
    ca_file: str = ""
    stall: float = STALL_SECONDS
    trusted: tuple[Trusted, ...] = ()

    @classmethod
    def of(cls, get: Callable[[str], Any]) -> Network:
        """As the settings say; ``get`` gives one by name."""
        trusted = tuple(trusted_of(get("trusted_certificates")))
        stall = float(get("stall_seconds"))
        return cls(get("proxy"), get("no_proxy"), get("ca_file"), stall, trusted)

    def route(self, address: str) -> Route:
        """The way to an address: never through a proxy to this computer itself."""
        ca_file = self.ca_file or os.environ.get("SSL_CERT_FILE", "")
        proxy = ""
        alone = is_loopback(address) or passed_by(address, self.no_proxy)
        if self.proxy != DIRECT and not alone:
            proxy = proxy_url(self.proxy) if self.proxy else system_proxy(address)
        return Route(proxy, ca_file, self._pin(address), self._pin(proxy))

    def _pin(self, address: str) -> str:
        if not address.lower().startswith("https:"):
            return ""
        at = place_of(address)
        return next((one.mark for one in self.trusted if one.at == at), "")


def system_proxy(address: str, environ: Mapping[str, str] | None = None) -> str:
    """The proxy URL that system and environment name for an address; empty for none.
    ``HTTPS_PROXY`` and the like before ``ALL_PROXY``, lower case before upper case; ``NO_PROXY``
    heeded."""
    from urllib.request import getproxies, proxy_bypass

    env = os.environ if environ is None else environ
    proxies = {k.lower(): v for k, v in getproxies().items()} if environ is None else {}
    for name in ("http", "https", "all"):
        for variable in (f"{name}_proxy".upper(), f"{name}_proxy"):
            if env.get(variable):
                proxies[name] = env[variable]
    scheme = address.partition("://")[0].lower()
    found = proxies.get(scheme) or proxies.get("all") or proxies.get("socks") or ""
    if not found or passed_by(address, env.get("no_proxy") or env.get("NO_PROXY") or ""):
        return ""
    host = urlsplit(address).hostname or ""
    if environ is None and not env.get("no_proxy") and proxy_bypass(host):
        return ""
    return proxy_url(found)


def proxy_url(value: str) -> str:
    """A proxy as the HTTP client takes it. ``socks`` and ``socks4`` have no meaning of their own
    there; ``host:port`` alone means http."""
    value = value.strip()
    if "://" not in value:
        value = f"http://{value}"
    scheme, _, rest = value.partition("://")
    return f"{'socks5' if scheme.lower() == 'socks' else scheme.lower()}://{rest}"


def passed_by(address: str, no_proxy: str) -> bool:
    """Whether ``NO_PROXY`` names the host of an address: a host and all below it (with or without
    a leading dot or ``*.``), host and port, an IP address, a network (``10.0.0.0/8``), ``*``."""
    try:
        parts = urlsplit(address)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return False
    port = port or {"http": 80, "https": 443}.get(parts.scheme.lower())
    return any(_names(entry.strip().lower(), host, port) for entry in no_proxy.split(","))


def _names(entry: str, host: str, port: int | None) -> bool:
    if entry in ("", "*"):
        return entry == "*"
    try:
        return ip_address(host) in ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        pass
    name, colon, number = entry.rpartition(":")
    if colon and number.isdigit() and ":" not in name.strip("[]"):
        if int(number) != port:
            return False
        entry = name
    entry = entry.strip("[]").removeprefix("*").lstrip(".")
    return host == entry or host.endswith(f".{entry}")


def is_proxy(value: str) -> bool:
    """Whether a person's proxy will do: a scheme that is spoken, a host, perhaps a port and a user;
    no password, which belongs into the keyring."""
    try:
        parts = urlsplit(proxy_url(value))
        return (
            parts.scheme in PROXY_SCHEMES
            and bool(parts.hostname)
            and (parts.port or 1) > 0
            and parts.password is None
            and not parts.path.strip("/")
        )
    except ValueError:
        return False


def password_name(proxy: str) -> str:
    """The name under which the keyring has the password of a proxy; empty for one that needs none
    or has it in its URL, as the system's may."""
    parts = urlsplit(proxy)
    if not parts.username or parts.password is not None:
        return ""
    return f"proxy {parts.username}@{host_of(proxy)}"


def with_password(proxy: str, password: str) -> str:
    """A proxy's URL for the models process."""
    scheme, _, rest = proxy.partition("://")
    user, _, host = rest.rpartition("@")
    return f"{scheme}://{user}:{quote(password, safe='')}@{host}"


def shown(proxy: str) -> str:
    """A proxy for people: host and port, never its password."""
    return host_of(proxy_url(proxy)) if proxy else ""
