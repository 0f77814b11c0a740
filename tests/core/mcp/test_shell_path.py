"""Where programs are looked for: what the login shell adds, and shells that misbehave."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from desktop_app.core.mcp import shell_path
from desktop_app.core.mcp.spec import ServerSpec
from desktop_app.core.mcp.transport import child_env
from tests.helpers.mcp import Bench, until


@pytest.fixture(autouse=True)
def anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell_path, "_found", {})


def shell(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "sh with space"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("SHELL", str(path))


async def test_the_login_shells_directories_come_first_and_it_is_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = tmp_path / "asked"
    shell(
        tmp_path,
        f'echo x >> {asked}; echo "Welcome!"\n'
        'PATH="/opt/node bin:$PATH"; shift; eval "$1"; echo bye',
        monkeypatch,
    )
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    parts = (await shell_path.login_path()).split(":")
    assert parts[0] == "/opt/node bin"
    assert parts.count("/usr/bin") == 1
    await shell_path.login_path()
    assert asked.read_text() == "x\n"


async def test_a_shell_that_hangs_or_fails_costs_little(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shell_path, "SECONDS", 0.2)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    shell(tmp_path, "sleep 60 & sleep 60", monkeypatch)
    began = time.monotonic()
    assert "/usr/bin" in await shell_path.login_path()
    assert time.monotonic() - began < 10
    monkeypatch.setenv("SHELL", "/no/such/shell")
    assert "/usr/bin" in await shell_path.login_path()


async def test_a_program_is_found_where_only_the_shell_knows(
    mcp: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    program = tools / "my-server"
    program.write_text("#!/bin/sh\necho started >&2\nexit 3\n")
    program.chmod(0o755)
    shell(tmp_path, f'PATH="{tools}:$PATH"; shift; eval "$1"', monkeypatch)
    c = mcp.start(ServerSpec("found", "stdio", ("my-server",)))
    await until(lambda: c.status.state in ("waiting", "failed"))
    assert c.status.code == "mcp.exited"
    assert c.status.params["detail"] == "started"


async def test_where_it_was_found_is_told_also_where_no_shell_helps(
    mcp: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Started from a dock, ``PATH=/usr/bin:/bin``, the shell fails: nvm's newest version counts."""
    for version in ("v9.1.0", "v22.3.0", "v18.0.0"):
        folder = tmp_path / ".nvm/versions/node" / version / "bin"
        folder.mkdir(parents=True)
        program = folder / "my-npx"
        program.write_text("#!/bin/sh\nexit 3\n")
        program.chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", "/no/such/shell")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    c = mcp.start(ServerSpec("found", "stdio", ("my-npx",)))
    await until(lambda: c.status.state in ("waiting", "failed"))
    assert c.status.code == "mcp.exited"
    assert c.status.program == str(tmp_path / ".nvm/versions/node/v22.3.0/bin/my-npx")


def test_the_programs_own_directory_comes_first_and_secrets_stay_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    spec = ServerSpec("x", "stdio", ("/opt/n/bin/npx", "-y"), env={"A": "b"})
    env = child_env(spec, "/usr/bin")
    assert env["PATH"] == os.pathsep.join(["/opt/n/bin", "/usr/bin"])
    assert (env["A"], env["LANG"]) == ("b", "zh_CN.UTF-8")
    assert "OPENAI_API_KEY" not in env
    assert child_env(ServerSpec("y", "stdio", ("npx",)), "/usr/bin")["PATH"] == "/usr/bin"
