"""``python -m tests.helpers.whole_tour …``: the tour with a base image made of this computer's own
files and a cloud on it, so that its parts in a container and a sandbox need no network and no
account. What cannot be had here is left out; the tour says so.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

from desktop_app.core.workspaces.docker.image import recipe
from desktop_app.core.workspaces.docker.spec import DockerSpec

from . import docker, e2b_cloud


@contextmanager
def fresh_image() -> Iterator[str]:
    """A base image under a name of its own, so that a workspace's image is built in view; taken
    away with it in the end."""
    name = f"slipway-test/tour:{secrets.token_hex(6)}"
    text = f"FROM {docker.base_image()}\nLABEL tour={name}\n"
    subprocess.run(
        ["docker", "build", "-q", "-t", name, "-"], input=text, text=True, check=True,
        capture_output=True, timeout=120,
    )  # fmt: skip
    try:
        yield name
    finally:
        with ThreadPoolExecutor(1) as aside:  # a test has a loop of its own
            made = aside.submit(asyncio.run, recipe(DockerSpec(base_image=name)))
        built = made.result().tag
        for image in (built, name):
            subprocess.run(["docker", "rmi", "-f", image], capture_output=True, timeout=120)


def run(arguments: Sequence[str], wanted: Sequence[str] = ("docker", "e2b")) -> int:
    """The tour's exit code."""
    words, environment = list(arguments), dict(os.environ)
    with ExitStack() as stack:
        if "docker" in wanted and not docker.why_no_engine() and not docker.why_no_image():
            words += ["--image", stack.enter_context(fresh_image())]
        if "e2b" in wanted and not e2b_cloud.why_not():
            cloud = stack.enter_context(e2b_cloud.Cloud())
            words += ["--e2b", cloud.url]
            environment["E2B_API_KEY"] = e2b_cloud.KEY
        command = [sys.executable, "-m", "desktop_app", "tour", *words]
        return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
