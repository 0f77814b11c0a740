"""Snapshots of a session's projections: files beside the journal, three kept, checked by hash.

A file is one line of JSON ``{"v", "seq", "chain", "sha256"}`` and then the bytes. ``chain`` is the
journal's hash at ``seq``: a snapshot of another history is never used.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from .disk import from_os, private_dir, write_whole

KEPT = 3


class Snapshots:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, seq: int, chain: bytes, data: bytes) -> None:
        head = {
            "v": 1,
            "seq": seq,
            "chain": chain.hex(),
            "sha256": hashlib.sha256(data).hexdigest(),
        }
        try:
            private_dir(self._folder)
            write_whole(self._folder / f"{seq:012d}.snap", json.dumps(head).encode() + b"\n" + data)
            for old in self._files()[KEPT:]:
                old.unlink(missing_ok=True)
        except OSError as error:
            raise from_os(error, self._folder) from error

    def newest(self, chain_at: Callable[[int], bytes | None]) -> tuple[int, bytes] | None:
        """The newest whole snapshot that belongs to the journal; damaged ones are passed over and
        left where they are."""
        for path in self._files():
            try:
                line, _, data = path.read_bytes().partition(b"\n")
                head: Any = json.loads(line)
            except (OSError, ValueError):
                continue
            if not isinstance(head, dict):
                continue
            fields = cast(dict[str, Any], head)
            seq: Any = fields.get("seq")
            if (
                fields.get("v") == 1
                and isinstance(seq, int)
                and fields.get("sha256") == hashlib.sha256(data).hexdigest()
                and (chain := chain_at(seq)) is not None
                and fields.get("chain") == chain.hex()
            ):
                return seq, data
        return None

    def _files(self) -> list[Path]:
        return sorted(self._folder.glob("*.snap"), reverse=True)
