"""What the providers' counts have taught: measured tokens per estimated one, a ratio a model.

    x = ln(measured / estimated)        the ratio is e^mean(x), the newest calls weighing most

Ratios belong to a model and a counter (another counter's estimates are other numbers), are shared
by all sessions, and are kept in a file, so that the first turn of a new session is taught.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from desktop_app.core.errors import SettingsError
from desktop_app.core.settings.jsonfile import read_object, write_object

TAUGHT_MARGIN = 0.18  # of a whole prompt, in which kinds of content mix
MOST = math.log(4.0)  # real ratios reach 2.7; beyond 4 something else is wrong

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class TokenRatio:
    """Measured tokens per estimated one. ``worst`` is a decaying maximum of its errors (in ln)."""

    n: int = 0
    log_ratio: float = 0.0
    worst: float = 0.0

    @property
    def ratio(self) -> float:
        return math.exp(self.log_ratio)

    def margin(self, spread: float) -> float:
        """How far a whole prompt may be over its estimate, as a share; ``spread`` is the
        counter's."""
        if not self.n:
            return spread
        return max(min(TAUGHT_MARGIN, spread), math.expm1(min(self.worst, 1.0)))

    def learn(self, measured: int, estimated: float) -> None:
        x = min(max(math.log(measured / estimated), -MOST), MOST)
        error = abs(x - self.log_ratio) if self.n else 0.0
        self.worst = max(0.95 * self.worst, error)
        self.log_ratio += max(0.2, 1 / (self.n + 1)) * (x - self.log_ratio)
        self.n += 1


class Ratios:
    """Ratios by model and counter; one object for all sessions, so that a new one starts taught.

    With a ``path`` they are read from it and ``save`` writes them; a file that cannot be read
    teaches nothing, and is replaced: nothing in it is anybody's words."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._known: dict[str, TokenRatio] = {}
        self._saved: dict[str, Any] = {}
        if path is not None:
            raw, problem = read_object(path)
            if problem is not None:
                logger.warning("token ratios are learned anew: %s", problem.params.get("reason"))
            self._take(raw)
            self._saved = self.to_json()

    def of(self, model: str, counter: str) -> TokenRatio:
        return self._known.setdefault(f"{model}|{counter}", TokenRatio())

    def to_json(self) -> dict[str, Any]:
        return {k: [r.n, r.log_ratio, r.worst] for k, r in [*self._known.items()] if r.n}

    def save(self) -> None:
        """Write what was learned since; blocking, atomic. A disk that refuses is logged: only
        figures of the next start are less exact."""
        now = self.to_json()
        if self._path is None or now == self._saved:
            return
        try:
            write_object(self._path, now)
        except SettingsError as error:
            logger.warning("token ratios are not saved: %s", error.params.get("reason"))
        else:
            self._saved = now

    def _take(self, value: Mapping[str, Any]) -> None:
        for key, entry in value.items():
            if isinstance(entry, list) and (found := _ratio(cast("list[Any]", entry))):
                self._known[key] = found

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Ratios:
        """Entries that are not what ``to_json`` writes are left out."""
        ratios = cls()
        ratios._take(value)
        return ratios


def _ratio(entry: list[Any]) -> TokenRatio | None:
    try:
        n, log_ratio, worst = entry
        found = TokenRatio(int(n), float(log_ratio), float(worst))
    except (TypeError, ValueError, OverflowError):
        return None
    sound = found.n > 0 and abs(found.log_ratio) <= MOST and 0 <= found.worst <= 4
    return found if sound else None  # a NaN compares false
