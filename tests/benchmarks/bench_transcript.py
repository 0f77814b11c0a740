"""The transcript's figures: opening a long session, a streamed token, steady colour of long code.

CPU time of the process (other programs share the machine), every token painted. ``run()`` returns
rows of name, ours, baseline, unit, ratio, goal, met.
"""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

LONG, SHORT = 10_000, 100
STREAMED = 2_000
PIECE = 4


def _rss_mb() -> float:
    import psutil

    return psutil.Process().memory_info().rss / 2**20


def _application() -> Any:
    from PySide6.QtWidgets import QApplication

    from desktop_app.ui.theme import install
    from desktop_app.ui.transcript import highlight

    app = QApplication.instance() or QApplication([])
    theme = install(app, "light")
    theme.set_reduced_motion(True)
    for name in ("python", "bash", "json"):
        highlight.load(name)
    return app


def _open(app: Any, count: int) -> tuple[Any, float]:
    """A view with ``count`` messages, painted; and the milliseconds of CPU it took."""
    from desktop_app.ui.transcript import TranscriptModel, TranscriptView
    from tests.ui.transcript.samples import History

    source = History(count)
    gc.collect()
    start = time.process_time()
    model = TranscriptModel()
    model.set_rows([], source)
    view = TranscriptView(model)
    model.setParent(view)
    view.resize(900, 800)
    view.show()
    while not view.paints:
        app.processEvents()
    return view, (time.process_time() - start) * 1e3


def _stream_text() -> str:
    from tests.ui.transcript.samples import EN, LIST, PY, TABLE, ZH

    text = "\n\n".join(["## Plan 计划", EN, ZH, LIST, f"```python\n{PY}\n{PY}\n```", EN, TABLE, ZH])
    while len(text) < STREAMED:
        text += "\n\n" + EN
    return text[:STREAMED]


def _stream(app: Any, view: Any, text: str, piece: int) -> list[float]:
    """Milliseconds of CPU for each piece, appended and painted."""
    from desktop_app.ui.transcript import MarkdownRow

    view.rows.append(MarkdownRow(f"stream-{view.rows.rowCount()}", "", growing=True))
    row_id = view.rows.row(view.rows.rowCount() - 1).id
    app.processEvents()
    out: list[float] = []
    for at in range(0, len(text), piece):
        painted = view.paints
        start = time.process_time()
        view.rows.extend_text(row_id, text[at : at + piece])
        while view.paints == painted:
            app.processEvents()
        out.append((time.process_time() - start) * 1e3)
    return out


def _p95(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]


def _row(
    name: str, ours: float, unit: str, goal: str, met: bool, baseline: float | None = None
) -> dict[str, Any]:
    ratio = round(ours / baseline, 2) if baseline else None
    return {
        "name": name,
        "ours": round(ours, 3),
        "baseline": round(baseline, 3) if baseline is not None else None,
        "unit": unit,
        "ratio": ratio,
        "goal": goal,
        "met": met,
    }


def _best(make: Callable[[], tuple[Any, float]], times: int = 3) -> tuple[Any, float]:
    """The last view and the least of several openings: others run on this machine."""
    view, best = make()
    for _ in range(times - 1):
        view.close()
        view.deleteLater()
        view, ms = make()
        best = min(best, ms)
    return view, best


def measure() -> list[dict[str, Any]]:
    """All figures, in this process."""
    app = _application()
    _open(app, 20)[0].close()  # fonts and the first import are not the transcript's
    small, short_ms = _best(lambda: _open(app, SHORT))
    small.close()
    small.deleteLater()
    app.processEvents()
    gc.collect()
    from tests.ui.transcript.samples import History

    texts = History(LONG)  # the texts themselves are the session's, not the view's
    gc.collect()
    before = _rss_mb()
    del texts
    view, long_ms = _open(app, LONG)
    grown = _rss_mb() - before
    again = min(long_ms, *(_timed_close(app) for _ in range(2)))
    tokens = _stream(app, view, _stream_text(), PIECE)
    code = "Here:\n\n```python\n" + _code() + "```\n\nDone.\n"
    fence = _stream(app, view, code, 16)
    mean, p95 = statistics.fmean(tokens), _p95(tokens)
    fence_mean, fence_p95 = statistics.fmean(fence), _p95(fence)
    view.close()
    return [
        _row("open 10,000 messages to first paint", again, "ms", "<= 200 ms", again <= 200),
        _row(
            "open 10,000 messages against 100",
            again,
            "ms",
            "<= 2 x",
            again <= 2 * short_ms,
            short_ms,
        ),
        _row("memory growth at 10,000 messages", max(0.0, grown), "MB", "< 40 MB", grown < 40),
        _row("streamed token in 10,000 messages, mean", mean, "ms", "<= 1 ms", mean <= 1),
        _row("streamed token in 10,000 messages, p95", p95, "ms", "<= 5 ms", p95 <= 5),
        _row("streamed token, largest", max(tokens), "ms", "<= 16 ms", max(tokens) <= 16),
        _row("600-line code fence, mean", fence_mean, "ms", "<= 1.5 ms", fence_mean <= 1.5),
        _row("600-line code fence, p95", fence_p95, "ms", "<= 5 ms", fence_p95 <= 5),
    ]


def _timed_close(app: Any) -> float:
    view, ms = _open(app, LONG)
    view.close()
    view.deleteLater()
    app.processEvents()
    return ms


def _code() -> str:
    from tests.ui.transcript.samples import PY

    return "\n".join(f"# part {n}\n{PY}\n" for n in range(100))


def run() -> list[dict[str, Any]]:
    """The figures, measured in a process of its own."""
    import json

    done = subprocess.run(
        [sys.executable, "-c", "import json, tests.benchmarks.bench_transcript as b;"
         " print('\\n' + json.dumps(b.measure()))"],
        capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    return json.loads(done.stdout.strip().rsplit("\n", 1)[-1])


if __name__ == "__main__":
    for row in run():
        print(row)
