"""Where a Docker engine is looked for, with the homes and sockets of the products people have."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import socket
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.workspaces.docker.discovery import Endpoint, colima_without_docker, find
from desktop_app.core.workspaces.docker.engine import Engine
from desktop_app.core.workspaces.docker.engines import Engines

pytestmark = pytest.mark.skipif(os.name == "nt", reason="sockets of POSIX systems")


def listening(path: Path) -> socket.socket:
    path.parent.mkdir(parents=True, exist_ok=True)
    one = socket.socket(socket.AF_UNIX)
    one.bind(str(path))
    return one


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A short one: the path of a socket holds about a hundred characters."""
    with tempfile.TemporaryDirectory(prefix="d") as made:
        yield Path(made)


@pytest.fixture
def place(tmp_path: Path) -> Callable[..., list[Endpoint]]:
    home, root = tmp_path / "h", tmp_path / "r"
    home.mkdir()

    def look(env: dict[str, str] | None = None, chosen: str = "") -> list[Endpoint]:
        run = {"XDG_RUNTIME_DIR": str(root / "run/user/1000"), **(env or {})}
        return find(run, home, root=root, platform="linux", chosen=chosen)

    return look


@pytest.mark.parametrize(
    ("where", "how"),
    [
        ("r/var/run/docker.sock", "default"),
        ("h/.docker/run/docker.sock", "desktop"),
        ("h/.docker/desktop/docker.sock", "desktop"),
        ("r/run/user/1000/docker.sock", "rootless"),
        ("h/.colima/default/docker.sock", "colima"),
        ("h/.config/colima/default/docker.sock", "colima"),
        ("h/.orbstack/run/docker.sock", "orbstack"),
        ("h/.rd/docker.sock", "rancher"),
        ("r/run/user/1000/podman/podman.sock", "podman"),
        ("r/run/podman/podman.sock", "podman"),
    ],
)
def test_each_products_socket_is_found(place, tmp_path: Path, where: str, how: str) -> None:
    with listening(tmp_path / where):
        assert place() == [Endpoint(f"unix://{tmp_path / where}", how)]


def test_nothing_there_is_nothing_found(place) -> None:
    assert place() == []


def test_what_the_person_named_comes_first_even_where_nothing_is(place, tmp_path: Path) -> None:
    with listening(tmp_path / "r/var/run/docker.sock"):
        found = place({"DOCKER_HOST": f"unix://{tmp_path}/none.sock"})
        assert [(one.how, one.missing) for one in found] == [("env", True), ("default", False)]
        assert place({"DOCKER_HOST": "tcp://10.1.2.3:2375"}, chosen="tcp://a:1")[0].how == "chosen"


def test_a_context_is_read_as_dockers_own_tools_do(place, tmp_path: Path) -> None:
    config = tmp_path / "h/.docker"
    key = hashlib.sha256(b"remote").hexdigest()
    meta = config / "contexts/meta" / key
    meta.mkdir(parents=True)
    (meta / "meta.json").write_text(
        json.dumps({"Name": "remote", "Endpoints": {"docker": {"Host": "tcp://10.0.0.9:2376"}}})
    )
    (config / "contexts/tls" / key / "docker").mkdir(parents=True)
    (config / "config.json").write_text(json.dumps({"currentContext": "remote"}))
    (one,) = place()
    assert (one.url, one.how, one.name) == ("tcp://10.0.0.9:2376", "context", "remote")
    assert one.tls.endswith("/docker")
    by_env = place({"DOCKER_CONTEXT": "nowhere"})
    assert (by_env[0].how, by_env[0].name, by_env[0].missing) == ("context-env", "nowhere", True)


def test_broken_settings_of_docker_are_passed_over(place, tmp_path: Path) -> None:
    (tmp_path / "h/.docker").mkdir()
    (tmp_path / "h/.docker/config.json").write_text("{broken")
    assert place() == []


def test_colima_with_containerd_is_known(tmp_path: Path) -> None:
    (tmp_path / ".colima/default").mkdir(parents=True)
    assert not colima_without_docker(tmp_path)
    with listening(tmp_path / ".colima/default/containerd.sock"):
        assert colima_without_docker(tmp_path)


@asynccontextmanager
async def speaker(path: Path, answer: bytes | None) -> AsyncIterator[str]:
    """A socket that accepts; ``answer`` to every request, None for never a word."""
    done = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            if answer is None:
                await done.wait()
            else:
                writer.write(answer)
                await writer.drain()
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()

    async with await asyncio.start_unix_server(serve, path):
        yield f"unix://{path}"
        done.set()


async def test_an_engine_that_accepts_and_says_nothing_is_told_in_three_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("desktop_app.core.workspaces.docker.engine.PING_SECONDS", 0.2)
    async with speaker(tmp_path / "s", None) as url:
        engine = Engine(Endpoint(url, "chosen"))
        with pytest.raises(WorkspaceError) as raised:
            await engine.ping()
        await engine.close()
    assert raised.value.code == "docker.silent"


async def test_something_else_at_the_socket_is_told(tmp_path: Path) -> None:
    async with speaker(tmp_path / "s", b"SSH-2.0-OpenSSH_9.2\r\n") as url:
        engine = Engine(Endpoint(url, "chosen"))
        with pytest.raises(WorkspaceError) as raised:
            await engine.ping()
        await engine.close()
    assert raised.value.code in ("docker.failed", "docker.not_running")


async def test_no_engine_says_what_is_wrong_with_the_one_that_was_named(tmp_path: Path) -> None:
    missing = Endpoint(f"unix://{tmp_path}/none", "env", missing=True)
    engines = Engines(look=lambda _: [missing])
    with pytest.raises(WorkspaceError) as raised:
        await engines.engine()
    assert (raised.value.code, raised.value.params["engine"]) == (
        "docker.not_running",
        missing.url,
    )
    with pytest.raises(WorkspaceError) as raised:
        await Engines(look=lambda _: []).engine()
    assert raised.value.code in ("docker.none", "docker.colima")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may use every socket")
async def test_a_socket_of_somebody_else_is_told(tmp_path: Path) -> None:
    with listening(tmp_path / "s"):
        (tmp_path / "s").chmod(0)
        engine = Engine(Endpoint(f"unix://{tmp_path}/s", "default"))
        with pytest.raises(WorkspaceError) as raised:
            await engine.ping()
        await engine.close()
    assert raised.value.code == "docker.denied"
