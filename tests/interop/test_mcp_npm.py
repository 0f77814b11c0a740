"""Our MCP client against what others wrote: the public conformance suite, servers of npm."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from desktop_app.core.mcp.asks import Ask, Asker, Reply, Sampling
from desktop_app.core.mcp.connection import Connection
from desktop_app.core.mcp.runner import Runner
from desktop_app.core.mcp.spec import ServerSpec
from tests.helpers.mcp import QUICK, Bench, call, until

pytestmark = pytest.mark.interop
Npm = Callable[[str], tuple[str, str]]
SUITE = "@modelcontextprotocol/conformance/dist/index.js"
DRIVER = Path(__file__).with_name("conformance_client.py")
PASSED = [
    "initialize",
    "tools_call",
    "elicitation-sep1034-client-defaults",
    "sse-retry",
    "auth/metadata-default",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/scope-from-www-authenticate",
    "auth/scope-from-scopes-supported",
    "auth/scope-omitted-when-undefined",
    "auth/scope-retry-limit",
    "auth/scope-step-up",
    "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-post",
    "auth/token-endpoint-auth-none",
    "auth/pre-registration",
    "auth/2025-03-26-oauth-endpoint-fallback",
    "auth/resource-mismatch",
    "auth/offline-access-scope",
    "auth/offline-access-not-supported",
]
# What we do not pass, and why. A scenario that is in neither list fails the test: it is new.
WHY_NOT = {
    "auth/basic-cimd": "a warning: we register, a client id that is a web page needs one we host",
    "auth/2025-03-26-oauth-metadata-backcompat": "the suite's metadata names another issuer than "
    "its address (/oauth); the SDK refuses that, as RFC 8414 3.3 says",
    "auth/client-credentials-jwt": "an extension for machines without a person",
    "auth/client-credentials-basic": "an extension for machines without a person",
    "auth/cross-app-access-complete-flow": "an extension for a company's identity provider",
}


def suite(npm: Npm, *args: str) -> subprocess.CompletedProcess[str]:
    root = str(Path(__file__).parents[2])
    return subprocess.run(
        [*npm(SUITE), *args],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": root},
    )


def test_every_scenario_is_judged(npm: Npm) -> None:
    listed = set(re.findall(r"^  - (\S+)", suite(npm, "list", "--client").stdout, re.M))
    assert listed == {*PASSED, *WHY_NOT}


@pytest.mark.parametrize("scenario", PASSED)
def test_the_conformance_suite_passes(npm: Npm, scenario: str) -> None:
    driver = shlex.join([sys.executable, str(DRIVER)])
    done = suite(npm, "client", "--command", driver, "--scenario", scenario)
    assert done.returncode == 0, done.stdout[-3000:]
    said = done.stdout + done.stderr
    counted = re.search(r"Passed: (\d+)/(\d+), 0 failed, 0 warnings", said)
    assert counted is not None
    assert counted[1] == counted[2] != "0"


@pytest_asyncio.fixture
async def mcp() -> AsyncIterator[Bench]:
    bench = Bench(Runner())
    yield bench
    await bench.close()


async def up(
    mcp: Bench, command: tuple[str, ...], cwd: Path, ask: Asker | None = None
) -> Connection:
    spec = ServerSpec("npm", "stdio", command)
    made = Connection(spec, mcp.runner, str(cwd), lambda _: None, QUICK, ask)
    mcp.connections.append(made)
    made.start()
    await until(lambda: made.status.state in ("ok", "failed"), 40)
    assert made.status.state == "ok", made.status
    return made


async def test_the_filesystem_server(npm: Npm, mcp: Bench, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("first\nsecond\n")
    script = "@modelcontextprotocol/server-filesystem/dist/index.js"
    c = await up(mcp, (*npm(script), str(tmp_path)), tmp_path)
    assert not c.status.bad
    assert {"read_text_file", "write_file", "list_directory"} <= {t.name for t in c.status.tools}
    assert (await call(c, "read_text_file", path=str(tmp_path / "a.txt"))).text.startswith("first")
    refused = await call(c, "read_text_file", path="/etc/hostname")
    assert refused.state == "error"
    await call(c, "write_file", path=str(tmp_path / "b.txt"), content="中文")
    assert (tmp_path / "b.txt").read_text() == "中文"
    assert c.listings == 1


async def test_the_everything_server(npm: Npm, mcp: Bench, tmp_path: Path) -> None:
    asked: list[Ask] = []

    async def ask(what: Ask) -> Reply:
        asked.append(what)
        if isinstance(what.what, Sampling):
            return Reply("accept", text="a plum", model="m")
        return Reply("decline")

    script = "@modelcontextprotocol/server-everything/dist/index.js"
    c = await up(mcp, npm(script), tmp_path, ask)
    names = {t.name for t in c.status.tools}
    assert not c.status.bad
    assert "hello" in (await call(c, "echo", message="hello")).text
    assert (await call(c, "no-such-tool")).state == "error"
    sampling = next(n for n in names if "sampling" in n.lower())
    said = await call(c, sampling, prompt="Name a fruit.", maxTokens=20)
    assert "a plum" in said.text
    assert isinstance(asked[0].what, Sampling)
    assert asked[0].tool == sampling
