"""Where a Docker engine may be, in the order in which Docker's own tools look, then the sockets of
the products that people have instead of it.

Order: ``DOCKER_HOST``; ``DOCKER_CONTEXT``; the current context of ``config.json``; the default
socket; Docker Desktop, rootless, Colima, OrbStack, Rancher Desktop, Podman. Sources: Docker's
documentation of contexts and of ``DOCKER_HOST``; each product's documentation of its socket.
"""

from __future__ import annotations

import hashlib
import json
import os
import ssl
import stat
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

How = Literal[
    "env", "context-env", "context", "default", "desktop", "rootless", "colima", "orbstack",
    "rancher", "podman", "chosen",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address of an engine, and why this one. ``name`` is that of a context. ``missing`` says
    that nothing is at that path; ``tls`` is a directory with ca.pem, cert.pem, key.pem."""

    url: str
    how: How
    name: str = ""
    missing: bool = False
    tls: str = ""
    verify: bool = True

    def tls_context(self) -> ssl.SSLContext | None:
        """For an address over TLS, else None. Slow: reads files. OSError, ssl.SSLError."""
        if not self.tls:
            return None
        folder = Path(self.tls)
        ca = folder / "ca.pem"
        context = ssl.create_default_context(cafile=str(ca) if ca.exists() else None)
        if not self.verify:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if (folder / "cert.pem").exists():
            context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
        return context


def find(
    env: Mapping[str, str] | None = None,
    home: Path | None = None,
    *,
    root: Path = Path("/"),
    platform: str = sys.platform,
    chosen: str = "",
) -> list[Endpoint]:
    """All endpoints worth a try, best first. What a person or their environment named comes first
    and is kept even where nothing is there (``missing``), so that it can be told. Reads a few small
    files; never raises."""
    env = os.environ if env is None else env
    home = Path.home() if home is None else home
    found: dict[str, Endpoint] = {}
    named = [
        *([Endpoint(chosen, "chosen")] if chosen else []),
        *_named(env, Path(env.get("DOCKER_CONFIG") or home / ".docker")),
    ]
    for endpoint in named:
        found.setdefault(endpoint.url, _look(endpoint))
    for endpoint in _known(env, home, root, platform):
        looked = _look(endpoint)
        if not looked.missing:
            found.setdefault(endpoint.url, looked)
    return list(found.values())


def _named(env: Mapping[str, str], config: Path) -> Iterator[Endpoint]:
    host = env.get("DOCKER_HOST", "")
    if host:
        verify = bool(env.get("DOCKER_TLS_VERIFY"))
        tls = env.get("DOCKER_CERT_PATH") or str(config)
        yield Endpoint(host, "env", tls=tls if verify else "", verify=verify)
    if name := env.get("DOCKER_CONTEXT", ""):
        yield from _context(config, name, "context-env")
    settings = _json(config / "config.json")
    if name := str(settings.get("currentContext") or ""):
        yield from _context(config, name, "context")


def _context(config: Path, name: str, how: How) -> Iterator[Endpoint]:
    """A context by name; its directory is the SHA-256 of the name."""
    if name == "default":
        return
    key = hashlib.sha256(name.encode()).hexdigest()
    meta = _json(config / "contexts" / "meta" / key / "meta.json")
    endpoints: Any = meta.get("Endpoints")
    docker: Any = cast(dict[str, Any], endpoints).get("docker") if endpoints else None
    if not isinstance(docker, dict) or not cast(dict[str, Any], docker).get("Host"):
        yield Endpoint("", how, name, missing=True)
        return
    entry = cast(dict[str, Any], docker)
    tls = config / "contexts" / "tls" / key / "docker"
    has_tls = tls.is_dir()
    yield Endpoint(
        str(entry["Host"]),
        how,
        name,
        tls=str(tls) if has_tls else "",
        verify=not entry.get("SkipTLSVerify"),
    )


def _json(path: Path) -> dict[str, Any]:
    try:
        value: Any = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _known(env: Mapping[str, str], home: Path, root: Path, platform: str) -> Iterator[Endpoint]:
    if platform == "win32":
        yield Endpoint("npipe:////./pipe/docker_engine", "default")
        yield Endpoint("npipe:////./pipe/dockerDesktopLinuxEngine", "desktop")
        yield Endpoint("npipe:////./pipe/podman-machine-default", "podman")
        return
    runtime = Path(env.get("XDG_RUNTIME_DIR") or root / "run/user" / str(os.getuid()))
    sockets: list[tuple[How, Path]] = [
        ("default", root / "var/run/docker.sock"),
        ("default", root / "run/docker.sock"),
        ("desktop", home / ".docker/run/docker.sock"),
        ("desktop", home / ".docker/desktop/docker.sock"),
        ("rootless", runtime / "docker.sock"),
        *(("colima", path) for path in _colima(env, home)),
        ("orbstack", home / ".orbstack/run/docker.sock"),
        ("rancher", home / ".rd/docker.sock"),
        ("podman", runtime / "podman/podman.sock"),
        ("podman", home / ".local/share/containers/podman/machine/podman.sock"),
        ("podman", root / "run/podman/podman.sock"),
    ]
    seen: set[str] = set()
    for how, path in sockets:
        real = os.path.realpath(path)
        if real not in seen:  # /var/run is a link to /run
            seen.add(real)
            yield Endpoint(f"unix://{path}", how)


def _colima(env: Mapping[str, str], home: Path) -> list[Path]:
    bases = [Path(env["COLIMA_HOME"])] if env.get("COLIMA_HOME") else []
    bases += [home / ".colima", home / ".config/colima"]
    return [base / name / "docker.sock" for base in bases for name in ("default", "docker")]


def _look(endpoint: Endpoint) -> Endpoint:
    if not endpoint.url.startswith("unix://"):
        return endpoint
    path = endpoint.url.removeprefix("unix://")
    try:
        there = stat.S_ISSOCK(os.stat(path).st_mode)
    except PermissionError:
        there = True  # somebody else's: told when it is tried
    except OSError:
        there = False
    if there:
        return endpoint
    return Endpoint(endpoint.url, endpoint.how, endpoint.name, True, endpoint.tls, endpoint.verify)


def colima_without_docker(home: Path | None = None) -> bool:
    """Whether Colima runs with containerd, which has no socket that a Docker client can use."""
    base = (Path.home() if home is None else home) / ".colima"
    return (base / "default/containerd.sock").exists() and not (
        base / "default/docker.sock"
    ).exists()
