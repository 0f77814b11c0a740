"""Twelve kinds of content, none of which the estimator was fitted to: this project's own files, and
generated text of other shapes than those of the fitting. The same on every run."""

from __future__ import annotations

import base64
import difflib
import hashlib
import json
import random
from pathlib import Path

from .figures import ROOT

LONGEST = 60_000  # characters of a kind


def contents() -> dict[str, str]:
    """Text by kind, each of 20,000 characters or more."""
    rng = random.Random(20_261_129)
    made = {
        "english": _files(ROOT, "README.md", "desktop_app/ARCHITECTURE.md", "CHANGELOG.md"),
        "chinese": _chinese(),
        "chinese and english": _pairs(),
        "python": _files(ROOT, *_some("desktop_app/core/*/*.py", 9)),
        "shell, toml, make": _files(
            ROOT, "Makefile", "pyproject.toml", *_some("packaging/**/*.sh", 1), ".ci/run"
        ),
        "diff": _diff(),
        "json": _json(rng),
        "json, indented": _indented(rng),
        "logs": _logs(rng),
        "paths": "\n".join(_some("**/*.*", 1)),
        "base64 and hashes": _noise(rng),
        "tables": _tables(rng),
    }
    return {kind: _long(text) for kind, text in made.items()}


def _long(text: str) -> str:
    return (text * (20_000 // len(text) + 1))[:LONGEST]


def _some(pattern: str, every: int) -> list[str]:
    found = sorted(
        p.relative_to(ROOT).as_posix()
        for top in ("desktop_app", "tests", "packaging", "resources")
        for p in (ROOT / top).rglob("*")
        if p.is_file() and p.suffix not in (".pyc",) and p.relative_to(ROOT).match(pattern)
    )
    return found[::every]


def _files(root: Path, *names: str) -> str:
    found = [root / n for n in names if (root / n).is_file()]
    return "\n".join(p.read_text("utf-8", "replace")[:12_000] for p in found)


def _translations() -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for path in sorted((ROOT / "resources/i18n/zh_CN").glob("*.json")):
        value = json.loads(path.read_text("utf-8"))
        pairs += [(k, v) for k, v in value.items() if isinstance(v, str)]
    return pairs


def _chinese() -> str:
    note = ROOT / "resources/demo/field-sales/notes/客户走访记录.md"
    return note.read_text("utf-8") + "\n".join(v for _, v in _translations() if len(v) > 12)


def _pairs() -> str:
    return "\n".join(f"{k} = {v}" for k, v in _translations())


def _diff() -> str:
    old = _files(ROOT, *_some("desktop_app/core/*/*.py", 11)).splitlines()
    rng = random.Random(3)
    new = [f"{line}  # {n}" if rng.random() < 0.2 else line for n, line in enumerate(old)]
    return "\n".join(difflib.unified_diff(old, new, "a/core.py", "b/core.py", lineterm="", n=2))


_DEPOT = "harbour invoice pallet tariff courier ledger depot margin carton freight booking customs"
_WORDS = f"{_DEPOT} forklift manifest reorder supplier warehouse voucher credit dispatch".split(" ")


def _words(rng: random.Random, n: int) -> str:
    return " ".join(rng.choices(_WORDS, k=n))


def _json(rng: random.Random) -> str:
    rows = [
        {
            "invoiceNo": f"INV-{rng.randrange(10**6):06d}",
            "issued": f"2026-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}",
            "lines": [
                {"sku": f"{rng.choice(_WORDS)[:3].upper()}{rng.randrange(999)}", "qty": n}
                for n in range(3)
            ],
            "note": _words(rng, 3),
            "paid": rng.random() < 0.5,
            "total": round(rng.random() * 4000, 2),
        }
        for _ in range(250)
    ]
    return json.dumps(rows, separators=(",", ":"))


def _indented(rng: random.Random) -> str:
    rows = {
        f"{rng.choice(_WORDS)}-{n}": {
            "replicas": rng.randrange(9),
            "image": f"registry.local/{rng.choice(_WORDS)}:{rng.randrange(9)}.{rng.randrange(20)}",
            "env": {"LOG_LEVEL": "info", "MAX_CONN": rng.randrange(500)},
            "ready": True,
        }
        for n in range(160)
    }
    return json.dumps(rows, indent=2)


def _logs(rng: random.Random) -> str:
    return "\n".join(
        f"{1_764_400_000 + n}.{rng.randrange(1000):03d} [{rng.choice(('INFO', 'WARN', 'ERROR'))}] "
        f"{rng.choice(_WORDS)}.{rng.choice(_WORDS)}:{rng.randrange(900)} - {_words(rng, 4)} "
        f"ip=10.{rng.randrange(256)}.{rng.randrange(256)}.{rng.randrange(256)} "
        f"trace={rng.getrandbits(64):016x} took={rng.randrange(5000)}ms"
        for n in range(300)
    )


def _noise(rng: random.Random) -> str:
    blob = base64.b64encode(rng.randbytes(12_000)).decode()
    sums = "\n".join(hashlib.sha1(rng.randbytes(9)).hexdigest() for _ in range(250))
    return blob + "\n" + sums


def _tables(rng: random.Random) -> str:
    lines = ["region;depot;units;revenue;change"]
    for n in range(500):
        lines.append(
            f"{rng.choice(('north', 'south', 'east', 'west'))};D{n:03d};{rng.randrange(9000)};"
            f"{rng.random() * 90_000:.2f};{rng.gauss(0, 9):+.1f}%"
        )
    return "\n".join(lines)
