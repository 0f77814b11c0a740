"""The image of a Docker workspace: its recipe, its name by content, its build with progress."""

from __future__ import annotations

import asyncio
import hashlib
import io
import re
import tarfile
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desktop_app import __version__
from desktop_app.core.errors import WorkspaceError
from desktop_app.core.gateway.bundle import REQUIREMENTS

from .engine import Engine, told
from .spec import WORKDIR, DockerSpec

REPOSITORY = "slipway-workspace"
LABEL = "slipway.image"
CA_FILE = "/etc/slipway/ca.pem"
CA_BYTES = 4 << 20
LAST, ERRORS = 40, 3  # lines of output that are searched for the reason of a failure; told of it
# pip, npm, apt and the shell begin so what is wrong; colours are of the engine for standard error.
_ERROR = re.compile(r"\s*(error\b|npm err|e: |fatal|\S*sh: )", re.IGNORECASE)
# What pip and npm write when a server's certificate is not trusted, or none answers.
_UNTRUSTED = "unable to get local issuer certificate"
_OFFLINE = (
    *("Temporary failure in name resolution", "Name or service not known", "EAI_AGAIN"),
    *("Network is unreachable", "ENETUNREACH", "Failed to establish a new connection"),
)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
LIBRARIES = "/opt/slipway/lib"  # of the gateway, apart from what the agent's own programs import
# Who reads which of these is in the documentation of OpenSSL, pip, requests, curl, Node and npm.
CA_NAMES = (
    *("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
    *("NODE_EXTRA_CA_CERTS", "npm_config_cafile", "UV_SYSTEM_CERTS_FILE"),
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """The files of a build context and the name of the image that they make."""

    files: dict[str, bytes]
    tag: str

    def archive(self) -> io.BytesIO:
        """The context as the engine takes it; the same bytes for the same recipe."""
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as tar:
            for name, data in sorted(self.files.items()):
                entry = tarfile.TarInfo(name)
                entry.size, entry.mode = len(data), 0o644
                tar.addfile(entry, io.BytesIO(data))
        out.seek(0)
        return out


def dockerfile(spec: DockerSpec, *, ca: bool, gateway: bool) -> str:
    """The recipe as text, for the classic builder: no mounts, no here-documents."""
    lines: list[str] = []
    if spec.node:
        lines.append(f"FROM node:{spec.node}-slim AS node")
    lines += [f"FROM {spec.base_image}", "USER root"]
    if ca:
        lines.append(f"COPY ca.pem {CA_FILE}")
        lines += [f"ENV {name}={CA_FILE}" for name in CA_NAMES]
    if spec.node:
        lines += [
            "COPY --from=node /usr/local/bin/node /usr/local/bin/node",
            "COPY --from=node /usr/local/lib/node_modules /usr/local/lib/node_modules",
            "RUN ln -sf ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm"
            " && ln -sf ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx",
        ]
    pip = "RUN python3 -m pip install --no-cache-dir --disable-pip-version-check"
    if gateway:
        lines.append(f"{pip} --target {LIBRARIES} " + " ".join(REQUIREMENTS))
    # The machine is the agent's own: what a system's package manager guards (PEP 668, Debian's and
    # Ubuntu's Python) may be installed beside it, now and by the agent later.
    lines.append("ENV PIP_BREAK_SYSTEM_PACKAGES=1")
    if spec.packages:
        lines.append(f"{pip} " + " ".join(f'"{one}"' for one in spec.packages))
    # Any uid may be the container's user, so everybody may write where the agent works.
    lines.append(f"RUN mkdir -p {WORKDIR} /home/agent && chmod 1777 {WORKDIR} /home/agent")
    lines += [
        "ENV HOME=/home/agent LANG=C.UTF-8",
        f"WORKDIR {WORKDIR}",
        f'LABEL {LABEL}="{__version__}"',
        'ENTRYPOINT []\nCMD ["sleep", "infinity"]',
    ]
    return "\n".join(lines) + "\n"


async def recipe(spec: DockerSpec, *, gateway: bool = True) -> Recipe:
    """The recipe of ``spec``. WorkspaceError ``docker.ca`` when the CA bundle cannot be read."""
    spec.check()
    files: dict[str, bytes] = {}
    if spec.ca_bundle:
        files["ca.pem"] = await asyncio.to_thread(_certificates, spec.ca_bundle)
    files["Dockerfile"] = dockerfile(spec, ca=bool(spec.ca_bundle), gateway=gateway).encode()
    digest = hashlib.sha256(__version__.encode())
    for name, data in sorted(files.items()):
        digest.update(f"\0{name}\0{len(data)}\0".encode() + data)
    return Recipe(files, f"{REPOSITORY}:{digest.hexdigest()[:16]}")


def _certificates(path: str) -> bytes:
    try:
        with Path(path).open("rb") as file:
            data = file.read(CA_BYTES + 1)
    except OSError as error:
        raise WorkspaceError("docker.ca", path=path, detail=error.strerror or "") from error
    if b"-----BEGIN CERTIFICATE-----" not in data or len(data) > CA_BYTES:
        raise WorkspaceError("docker.ca", path=path, detail="no PEM certificates")
    return data


@dataclass(frozen=True, slots=True)
class BuildStep:
    """Where a build is: a line of its output, and of how many steps which one runs."""

    text: str
    step: int
    steps: int


async def is_built(engine: Engine, recipe: Recipe) -> bool:
    client = await engine.client()
    try:
        await client.images.inspect(recipe.tag)
    except Exception as error:
        if getattr(error, "status", 0) == 404:
            return False
        raise told(error, engine) from error
    return True


async def build(engine: Engine, recipe: Recipe) -> AsyncGenerator[BuildStep]:
    """Build the image, a step at a time; closing the generator ends the build. WorkspaceError as
    ``failure`` makes it."""
    client = await engine.client()
    steps = recipe.files["Dockerfile"].decode().count("\n")
    step, command, last = 0, "", [""]
    built: Any = client.images.build(
        fileobj=recipe.archive(),
        encoding="identity",
        tag=recipe.tag,
        forcerm=True,  # a failed step leaves no container behind
        stream=True,
    )
    try:
        async with aclosing(built) as items:  # its connection, and with it the build at the engine
            async for item in items:
                for line in _lines(item):
                    if line.startswith("Step "):
                        numbers, _, command = line.partition(" : ")
                        step, steps = _numbers(numbers, step, steps)
                    last = [*last, line][-LAST:]
                    yield BuildStep(line, step, steps)
    except Exception as error:
        if type(error).__name__ != "DockerStreamError":
            raise told(error, engine) from error
        raise failure(command, last, str(getattr(error, "message", error)).strip()) from error


def failure(command: str, lines: list[str], message: str) -> WorkspaceError:
    """Why the step ``command`` failed, from its output and the engine's last word:
    ``docker.no_image``, ``docker.untrusted`` (a server's certificate), ``docker.offline``, else
    ``docker.build``."""
    code, told_so = "docker.build", telling([*lines, message])
    if command.startswith("FROM "):
        code, told_so = "docker.no_image", message
    elif any("CERTIFICATE_VERIFY_FAILED" in line or _UNTRUSTED in line for line in lines):
        code = "docker.untrusted"
    elif any(sign in line for line in lines for sign in _OFFLINE):
        code = "docker.offline"
    detail = told_so[-2000:]
    return WorkspaceError(code, retryable=True, command=command[:200], detail=detail)


def telling(lines: list[str]) -> str:
    """What a failed step's output says of the reason: its lines that speak of an error, else its
    last ones. The whole of it was told line by line."""
    errors = [line.strip() for line in lines if _ERROR.match(line)]
    return "\n".join(errors[:ERRORS] or [line for line in lines if line][-ERRORS:])


def _lines(item: dict[str, Any]) -> list[str]:
    if "status" in item:  # a base image that is being fetched
        progress = f"{item.get('id', '')} {item['status']} {item.get('progress', '')}"
        return [" ".join(progress.split())]
    text = _COLOUR.sub("", str(item.get("stream", "")))
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def _numbers(text: str, step: int, steps: int) -> tuple[int, int]:
    at, _, of = text.removeprefix("Step ").partition("/")
    return (int(at), int(of)) if at.isdigit() and of.isdigit() else (step, steps)
