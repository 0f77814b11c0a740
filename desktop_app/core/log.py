"""The program's log: a rotating file in the state folder, secrets masked before they are written.

Masking works on the finished line, so that it also covers tracebacks and other libraries. It knows
common shapes of keys and whatever was registered with ``hide``.
"""

from __future__ import annotations

import logging
import logging.handlers
import re
import threading
from pathlib import Path

from desktop_app.core.paths import ensure

MASK = "•••"
_BYTES, _KEPT = 1_000_000, 3

# Shapes of secrets. The name of a field is kept, its value is not.
_SHAPES = (
    re.compile(r"\b(?:sk|pk|rk|e2b|ghp|gho|ghs|glpat|xox[abprs]|hf|AKIA)[-_]?[A-Za-z0-9_\-]{16,}"),
    re.compile(r"\bgithub_pat_[A-Za-z0-9_]{20,}"),
    re.compile(r"\beyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]+"),
    re.compile(
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.S
    ),
)
# What each of the shapes above holds: far quicker to look for.
_LIKE_A_KEY = re.compile(r"[A-Za-z0-9_\-]{18}|eyJ|-----BEGIN ")
_NAMED = re.compile(
    r"(?i)((?:api[_-]?key|secret|token|passwo?r?d|passwd|authorization|cookie)"
    r"[\"']?\s*[:=]\s*[\"']?(?:bearer\s+|basic\s+)?)([^\s\"',;&}]{6,})"
)
_URL = re.compile(r"(?i)(\b[a-z][a-z0-9+.\-]*://[^\s/:@]+:)([^\s/@]+)(@)")

_hidden: set[str] = set()
_lock = threading.Lock()


def hide(secret: str) -> None:
    """Never write ``secret`` (a key the program manages) into the log."""
    if len(secret) >= 6:
        with _lock:
            _hidden.add(secret)


def mask(text: str) -> str:
    """``text`` without secrets."""
    with _lock:
        known = sorted(_hidden, key=len, reverse=True)
    for secret in known:
        text = text.replace(secret, MASK)
    if _LIKE_A_KEY.search(text):
        for shape in _SHAPES:
            text = shape.sub(MASK, text)
    if "://" in text:
        text = _URL.sub(rf"\1{MASK}\3", text)
    return _NAMED.sub(rf"\1{MASK}", text) if ":" in text or "=" in text else text


class MaskingFormatter(logging.Formatter):
    """Masks the whole line, traceback included; what a message brings stays on its own lines."""

    def format(self, record: logging.LogRecord) -> str:
        return mask(super().format(record))


class Ring(logging.Handler):
    """The last lines in memory, for error reports: ``lines``."""

    def __init__(self, size: int = 500) -> None:
        super().__init__(logging.INFO)
        self._size = size
        self.lines: list[str] = []
        self.setFormatter(MaskingFormatter(_FORMAT))

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))
        del self.lines[: -self._size]


_FORMAT = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"


def start(path: Path, level: int = logging.INFO) -> Ring:
    """Log to ``path`` (1 MB, three old files) and into memory. A folder that cannot be written
    costs the file, not the start: the first line in the ring says so."""
    root = logging.getLogger()
    root.setLevel(level)
    ring = Ring()
    root.addHandler(ring)
    try:
        ensure(path.parent)
        handler = logging.handlers.RotatingFileHandler(
            path, maxBytes=_BYTES, backupCount=_KEPT, encoding="utf-8", delay=False
        )
    except OSError as error:
        logging.getLogger(__name__).warning("no log file: %s", error)
        return ring
    path.chmod(0o600)
    handler.setFormatter(MaskingFormatter(_FORMAT))
    root.addHandler(handler)
    return ring


def stop() -> None:
    """Close what ``start`` opened."""
    root = logging.getLogger()
    for handler in list(root.handlers):
        if isinstance(handler, (Ring, logging.handlers.RotatingFileHandler)):
            root.removeHandler(handler)
            handler.close()
