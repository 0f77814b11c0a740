"""What the parts in containers and sandboxes need, and why one is left out."""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Sequence

from desktop_app.core.errors import SlipwayError
from desktop_app.core.workspaces.docker.engines import Engines
from desktop_app.core.workspaces.docker.spec import BASE_IMAGE

from .plan import DOCKER, E2B

IMAGE, KEY = "SLIPWAY_TOUR_IMAGE", "SLIPWAY_TOUR_E2B_KEY"


def left_out(wanted: Sequence[str], image: str, e2b: str) -> dict[str, str]:
    """Plans that cannot be played here, and why, in words."""
    found: dict[str, str] = {}
    if DOCKER in wanted and (why := asyncio.run(_why_no_container(image or BASE_IMAGE))):
        found[DOCKER] = why
    if E2B in wanted:
        if not e2b:
            found[E2B] = "no address was given (--e2b URL)"
        elif not os.environ.get("E2B_API_KEY"):
            found[E2B] = "there is no key in E2B_API_KEY"
    return found


async def _why_no_container(image: str) -> str:
    """Nothing is fetched for a tour: the base image must be at the engine."""
    engines = Engines()
    try:
        client = await (await engines.engine()).client()
        await client.images.inspect(image)
    except SlipwayError as error:
        return f"no Docker engine answers ({error.code})"
    except Exception as error:
        if getattr(error, "status", 0) != 404:
            raise
        return f"the engine has no image {image} (--image NAME takes another)"
    finally:
        await engines.close()
    return ""


def environment(options: argparse.Namespace) -> dict[str, str]:
    """For the processes of the parts. The key is typed by the tour, so the program must not find
    it by itself, and nothing of the tour reaches the keyring of a person."""
    return {
        IMAGE: options.image,
        KEY: os.environ.get("E2B_API_KEY", ""),
        "E2B_API_KEY": "",
        "E2B_API_URL": options.e2b,
        "E2B_SANDBOX_URL": options.e2b,
        "SLIPWAY_KEYRING": "none",
    }
