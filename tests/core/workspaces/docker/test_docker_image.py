"""What a container is made of: refused when it cannot be, named by content, built with progress."""

from __future__ import annotations

import gc
import json
import os
import subprocess
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.workspaces.docker import image
from desktop_app.core.workspaces.docker.image import (
    build,
    dockerfile,
    failure,
    is_built,
    recipe,
    telling,
)
from desktop_app.core.workspaces.docker.spec import DockerSpec
from tests.helpers.docker import base_image, engine_or_skip
from tests.helpers.mcp import until

UNTRUSTED = "docker.untrusted"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("base_image", "python\nRUN curl evil"),
        ("base_image", ""),
        ("base_image", "-v"),
        ("packages", ("requests; rm -rf /",)),
        ("packages", ('x"y',)),
        ("packages", ("--editable=evil",)),
        ("node", "22 AS x\nRUN evil"),
        ("env", {"A B": "1"}),
        ("env", {"A": "1\n2"}),
        ("user", "root; x"),
        ("cpus", 0.0),
        ("memory", 1),
        ("pids", 0),
        ("mount", "relative/path"),
        ("capabilities", ("SYS_ADMIN,ALL x",)),
    ],
)
def test_a_value_that_would_mean_something_else_is_refused(name: str, value: object) -> None:
    with pytest.raises(WorkspaceError) as raised:
        replace(DockerSpec(), **{name: value}).check()
    assert (raised.value.code, raised.value.params["field"]) == ("docker.spec", name)


def test_usual_values_pass() -> None:
    DockerSpec(
        base_image="registry.example.com:5000/team/py@sha256:" + "a" * 64,
        packages=("requests", "pandas==2.2.*", "uvicorn[standard]>=0.30"),
        node="22.4.1",
        env={"TOKEN": "x=y;$(z)"},
        user="1000:1000",
        mount=os.path.abspath("/tmp"),
        capabilities=("NET_RAW",),
    ).check()


def test_what_is_kept_has_no_value_of_the_environment_and_comes_back() -> None:
    spec = DockerSpec(packages=("a",), env={"TOKEN": "secret-value"}, cpus=1, memory=512)
    kept = json.loads(json.dumps(spec.kept()))
    assert "secret-value" not in json.dumps(kept)
    assert kept["env"] == ["TOKEN"]
    assert DockerSpec.of(kept, {"TOKEN": "secret-value"}) == spec


def test_a_catalogue_of_another_version_opens() -> None:
    kept = {"base_image": 7, "cpus": "many", "pids": True, "later": 1, "node": "22", "init": 0}
    assert DockerSpec.of(kept) == DockerSpec(node="22")


async def test_the_name_follows_the_content(tmp_path: Path, monkeypatch) -> None:
    ca = tmp_path / "ca.pem"
    ca.write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    plain = await recipe(DockerSpec())
    tags = {plain.tag}
    certified = DockerSpec(ca_bundle=str(ca))
    for other in (DockerSpec(node="22"), DockerSpec(packages=("x",)), certified):
        tags.add((await recipe(other)).tag)
    ca.write_text(ca.read_text().replace("AAAA", "BBBB"))
    tags.add((await recipe(certified)).tag)
    monkeypatch.setattr(image, "__version__", "99.0")
    tags.add((await recipe(DockerSpec())).tag)
    assert len(tags) == 6
    # what is no part of the image does not rebuild it
    assert (await recipe(DockerSpec(cpus=1))).tag == (await recipe(DockerSpec())).tag


async def test_a_file_without_certificates_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none.pem", tmp_path / "key.pem"):
        (tmp_path / "key.pem").write_text("-----BEGIN PRIVATE KEY-----\n")
        with pytest.raises(WorkspaceError) as raised:
            await recipe(DockerSpec(ca_bundle=str(path)))
        assert raised.value.code == "docker.ca"


def test_node_comes_from_its_own_image() -> None:
    text = dockerfile(DockerSpec(node="22"), ca=False, gateway=False)
    assert text.startswith("FROM node:22-slim AS node\nFROM ")
    assert "COPY --from=node /usr/local/bin/node" in text


def test_a_failure_is_told_by_the_lines_that_speak_of_it() -> None:
    pip = ["Collecting x", "ERROR: No matching distribution found for x", "hint: See PEP 668"]
    assert telling(pip) == "ERROR: No matching distribution found for x"
    assert telling(["one", "two", "three", "out of luck"]) == "two\nthree\nout of luck"
    assert telling(["npm ERR! code E404", "more"]) == "npm ERR! code E404"


@pytest.mark.parametrize(
    ("command", "line", "code"),
    [
        ("FROM node:22-slim AS node", "Step 1/14", "docker.no_image"),
        ("RUN pip", "(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]", UNTRUSTED),
        ("RUN npm i", "npm ERR! unable to get local issuer certificate", UNTRUSTED),
        ("RUN pip", "[Errno -3] Temporary failure in name resolution'))", "docker.offline"),
        ("RUN exit 7", "out of luck", "docker.build"),
    ],
)
def test_why_a_build_failed_is_told_by_what_to_do_about_it(
    command: str, line: str, code: str
) -> None:
    error = failure(command, [line, "ERROR: No matching distribution"], "the engine's word")
    assert error.code == code
    assert error.params["command"] == command


async def test_docker_builds_once_and_tells_each_step() -> None:
    engine = engine_or_skip()
    try:
        spec = DockerSpec(base_image=base_image(), env={}, capabilities=())
        wanted = await recipe(spec, gateway=False)
        async with aclosing(build(engine, wanted)) as steps:
            seen = [step async for step in steps]
        assert seen[-1].step == seen[-1].steps > 3
        assert await is_built(engine, wanted)
        assert not await is_built(engine, replace(wanted, tag="slipway-workspace:none"))
    finally:
        await engine.close()


async def test_docker_build_that_fails_names_the_step_and_what_it_said() -> None:
    engine = engine_or_skip()
    try:
        wanted = await recipe(DockerSpec(base_image=base_image()), gateway=False)
        text = wanted.files["Dockerfile"] + b"RUN echo out of luck && exit 7\n"
        broken = replace(wanted, files={"Dockerfile": text}, tag="slipway-test/broken:1")
        with pytest.raises(WorkspaceError) as raised:
            async with aclosing(build(engine, broken)) as steps:
                async for _ in steps:
                    pass
        assert raised.value.code == "docker.build"
        assert "exit 7" in raised.value.params["command"]
        assert "out of luck" in raised.value.params["detail"]
        missing = replace(
            wanted, files={"Dockerfile": b"FROM slipway-test/never-made:9\n"}, tag="x:1"
        )
        with pytest.raises(WorkspaceError) as raised:
            async with aclosing(build(engine, missing)) as steps:
                async for _ in steps:
                    pass
        assert raised.value.code in ("docker.build", "docker.no_image")
    finally:
        await engine.close()


async def test_docker_build_that_is_left_ends_at_the_engine_too() -> None:
    """At once, and not when the garbage collector comes by."""
    engine = engine_or_skip()
    gc.disable()
    try:
        wanted = await recipe(DockerSpec(base_image=base_image()), gateway=False)
        text = wanted.files["Dockerfile"] + b"RUN sleep 6021\n"
        slow = replace(wanted, files={"Dockerfile": text}, tag="slipway-test/slow:1")
        async with aclosing(build(engine, slow)) as steps:
            async for step in steps:
                if "sleep 6021" in step.text:
                    await until(lambda: _runs("sleep 6021"))
                    break
        await until(lambda: not _runs("sleep 6021"))
        assert not (await engine.client()).connector._acquired
    finally:
        gc.enable()
        await engine.close()


def _runs(command: str) -> bool:
    """Whether a container runs this."""
    listed = subprocess.run(
        ["docker", "ps", "--no-trunc", "--format", "{{.Command}}"], capture_output=True, text=True
    )
    return command in listed.stdout
