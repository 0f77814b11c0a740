"""A real Docker engine for tests: found or started, and a base image made of this computer's own
Python, so that no registry is needed.

``engine_or_skip`` is what tests call; where no engine can run it skips with the reason, unless
``SLIPWAY_NEED_DOCKER`` says that one must.
"""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from desktop_app.core.gateway.bundle import REQUIREMENTS
from desktop_app.core.workspaces.docker.channel import ExecChannel, open_channel
from desktop_app.core.workspaces.docker.discovery import Endpoint, find
from desktop_app.core.workspaces.docker.engine import Engine
from desktop_app.core.workspaces.docker.spec import host_user
from desktop_app.core.workspaces.remote.backend import RemoteBackend

LOCK = Path(tempfile.gettempdir()) / "slipway-test-docker.lock"
CA = "/etc/ssl/certs/ca-certificates.crt"
# Debian's own Python, a shell and the usual tools: what python:slim has, copied off this machine.
PACKAGES = """
base-files bash coreutils dash findutils grep sed tar gzip libc6 libc-bin libtinfo6 libselinux1
libpcre2-8-0 libacl1 libattr1 libgmp10 libcrypt1 libgcc-s1 libstdc++6 zlib1g libbz2-1.0 liblzma5
libssl3 libffi8 libsqlite3-0 libexpat1 libuuid1 libncursesw6 libreadline8 libdb5.3 libnsl2
libtirpc3 libgssapi-krb5-2 libkrb5-3 libk5crypto3 libkrb5support0 libcom-err2 libkeyutils1
ca-certificates media-types readline-common python3.11-minimal libpython3.11-minimal
libpython3.11-stdlib python3-minimal procps libproc2-0 libsystemd0 libcap2 liblz4-1 libzstd1
libgcrypt20 libgpg-error0 util-linux libsmartcols1 libmount1 libblkid1 libudev1 libcap-ng0 hostname
"""
UNWANTED = ("/usr/share/doc", "/usr/share/man", "/usr/share/locale", "/usr/share/info")
PASSWD = "root:x:0:0:root:/root:/bin/bash\nagent:x:1000:1000::/workspace:/bin/bash\n"


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    with LOCK.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@cache
def why_no_engine() -> str:
    """Empty when an engine answers here, else why none does."""
    if os.name == "nt" or shutil.which("docker") is None:
        return "no docker command here"
    done = subprocess.run(["docker", "version"], capture_output=True, text=True, timeout=30)
    return "" if done.returncode == 0 else done.stderr.strip()[-200:]


def engine_or_skip() -> Engine:
    if why := why_no_engine():
        import pytest  # not where `make tour` makes an image

        if os.environ.get("SLIPWAY_NEED_DOCKER"):
            pytest.fail(f"an engine must run here: {why}")
        pytest.skip(f"no Docker engine: {why}")
    found = [endpoint for endpoint in find() if not endpoint.missing]
    return Engine(found[0] if found else Endpoint("unix:///var/run/docker.sock", "default"))


def why_no_image() -> str:
    """Empty when a base image can be made here, else why none can."""
    if Path("/var/lib/dpkg/info/libpython3.11-stdlib:amd64.list").exists():
        return ""
    return "the base image is made of Debian's Python 3.11, which is not here"


@cache
def base_image() -> str:
    """The name of the base image, made once a machine."""
    if why := why_no_image():
        import pytest

        pytest.skip(why)
    digest = hashlib.sha256(Path(__file__).read_bytes() + sys.version.encode()).hexdigest()[:12]
    name = f"slipway-test/base:{digest}"
    with _one_at_a_time():
        if _docker("image", "inspect", name, check=False).returncode != 0:
            with tempfile.NamedTemporaryFile(suffix=".tar") as file:
                _make(file.name)
                changes = [
                    *("-c", "ENV PATH=/usr/local/bin:/usr/bin:/bin"),
                    *("-c", "ENV LANG=C.UTF-8"),
                    *("-c", 'CMD ["python3"]'),
                ]
                _docker("import", *changes, file.name, name)
    return name


def _docker(*words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(["docker", *words], capture_output=True, text=True, timeout=120)
    assert not check or done.returncode == 0, done.stderr[-500:]
    return done


def _files() -> list[str]:
    found: set[str] = set()
    for package in PACKAGES.split():
        done = subprocess.run(["dpkg", "-L", package], capture_output=True, text=True)
        found |= {
            line
            for line in done.stdout.splitlines()
            if not line.startswith(UNWANTED) and "/__pycache__" not in line
        }
    found -= {"/bin", "/sbin", "/lib", "/lib64"}  # links on a merged system, made below
    return sorted(path for path in found if os.path.islink(path) or os.path.isfile(path))


def _make(target: str) -> None:
    with tarfile.open(target, "w") as tar:
        for name, mode in (("tmp", 0o1777), ("var/tmp", 0o1777), ("root", 0o700), ("etc", 0o755)):
            _entry(tar, name, tarfile.DIRTYPE, mode=mode)
        for name in ("dev", "proc", "sys", "run", "usr/bin", "usr/sbin", "usr/lib", "usr/lib64"):
            _entry(tar, name, tarfile.DIRTYPE, mode=0o755)
        for name in ("bin", "sbin", "lib", "lib64"):
            _entry(tar, name, tarfile.SYMTYPE, link=f"usr/{name}")
        made = {"usr/bin/python3", "usr/bin/sh", "etc/passwd", "etc/group", CA.lstrip("/")}
        for path in _files():
            inside = path.lstrip("/")
            top = inside.split("/", 1)[0]
            inside = f"usr/{inside}" if top in ("bin", "sbin", "lib", "lib64") else inside
            if inside not in made:
                made.add(inside)
                tar.add(path, inside)
        _entry(tar, "usr/bin/python3", tarfile.SYMTYPE, link="python3.11")
        _entry(tar, "usr/bin/sh", tarfile.SYMTYPE, link="bash")
        _entry(tar, "etc/passwd", data=PASSWD.encode())
        _entry(tar, "etc/group", data=b"root:x:0:\nagent:x:1000:\n")
        _entry(tar, "etc/nsswitch.conf", data=b"hosts: files dns\n")
        tar.add(os.path.realpath(CA), CA.lstrip("/"))
        with tempfile.TemporaryDirectory() as folder:
            pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
            subprocess.run(
                [*pip, "--no-compile", "--target", folder, "pip==25.3", *REQUIREMENTS],
                check=True,
                capture_output=True,
            )
            tar.add(folder, "usr/lib/python3/dist-packages")


def _entry(
    tar: tarfile.TarFile,
    name: str,
    kind: bytes = tarfile.REGTYPE,
    *,
    mode: int = 0o644,
    link: str = "",
    data: bytes = b"",
) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.linkname, entry.size = kind, mode, link, len(data)
    tar.addfile(entry, io.BytesIO(data))


def remove_leftovers(prefix: str) -> None:
    """Containers of test workspaces whose id begins so."""
    listed = _docker("ps", "-aq", "--filter", "label=slipway.workspace", check=False)
    for container in listed.stdout.split():
        label = _docker(
            "inspect", "-f", '{{index .Config.Labels "slipway.workspace"}}', container, check=False
        )
        if label.stdout.strip().startswith(prefix):
            _docker("rm", "-f", container, check=False)


@cache
def contract_container() -> str:
    """A container in which the contract suite runs: it sees the tests' own folder, this Python and
    this computer's processes at their own names, so that a test can look from outside."""
    engine_or_skip()
    places = {tempfile.gettempdir(): "rw", sys.base_prefix: "ro", sys.prefix: "ro"}
    done = _docker(
        *("run", "-d", "--init", "--pid=host", "--network=none", "--workdir=/"),
        *("--cap-drop=ALL", "--security-opt=no-new-privileges"),
        *("--user", host_user(), "--label", f"slipway.workspace=contract-{os.getpid()}"),
        *(word for place, how in places.items() for word in ("-v", f"{place}:{place}:{how}")),
        *(base_image(), "sleep", "infinity"),
    )
    container = done.stdout.strip()
    atexit.register(_docker, "rm", "-f", container, check=False)
    return container


class ContractBackend(RemoteBackend):
    """``RemoteBackend`` in the suite's container."""

    def __init__(self, cwd: Path) -> None:
        self._container = contract_container()
        self._engine = engine_or_skip()
        super().__init__("docker", str(cwd), self._open)

    async def _open(self) -> ExecChannel:
        return await open_channel(self._engine, self._container)

    async def close(self) -> None:
        await super().close()
        await self._engine.close()
