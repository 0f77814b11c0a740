"""The command ``slipway``: its arguments, and where they lead. Nothing heavy is imported before it
is known what is wanted."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from desktop_app import __version__


def main(argv: Sequence[str] | None = None) -> int:
    """The command ``slipway``; returns the exit code."""
    args = list(sys.argv[1:] if argv is None else argv)
    if args and args[0] in ("tour", "shots"):
        from desktop_app.tour.command import run

        return run(args)
    if args and args[0] == "--models-process":  # of the program itself: core/models/process.py
        from desktop_app.core.models.child import main as models_process

        models_process(float(args[1]))
    options = _options(args)
    if options.home:
        os.environ["SLIPWAY_HOME"] = str(Path(options.home).absolute())
    if (why := _no_display()) is not None:
        print(why, file=sys.stderr)
        return 2
    from desktop_app.app import run_window

    return run_window(options.folder)


def _options(args: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="slipway",
        description="Chat with agents inside workspaces, and look after those workspaces.",
        epilog="slipway tour --out DIR does the main job by itself and leaves pictures of it.",
    )
    parser.add_argument("folder", nargs="?", help="a folder to open as a workspace")
    parser.add_argument("--home", help="keep data, settings, logs and cache in this folder")
    parser.add_argument("--version", action="version", version=f"slipway {__version__}")
    return parser.parse_args(args)


def _no_display() -> str | None:
    """Why no window can open here, or None. Qt itself would abort the process."""
    if not sys.platform.startswith("linux") or os.environ.get("QT_QPA_PLATFORM"):
        return None
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        return None
    return (
        "slipway: there is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set).\n"
        "Try: slipway tour --out DIR, which runs on a virtual one."
    )
