"""The charts, as SVG: what is kept, and the score by summariser. No library."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from .matrix import TITLES
from .report import HEADS
from .summarise import MODES

FONT = "font-family='system-ui, Noto Sans, Noto Sans CJK SC, sans-serif'"
INK, MUTED, GRID, PAPER = "#1f2328", "#656d76", "#d8dee4", "#ffffff"
COLOURS = {
    "truncation": "#8c959f",
    "masking": "#b08800",
    "langchain": "#8250df",
    "langchain-tuned": "#bf3989",
    "agentscope": "#cf222e",
    "ours-ledger": "#54aeff",
    "ours": "#0550ae",
}
BAD, GOOD = (0xF6, 0xC7, 0xC3), (0xA6, 0xDD, 0xB4)  # of cells, black text on both
ARMS = tuple(COLOURS)


def write(whole: dict[str, Any], folder: Path) -> list[Path]:
    """Both charts into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    made = {"ctxbench-kept.svg": kept(whole), "ctxbench-score.svg": scores(whole)}
    for name, text in made.items():
        (folder / name).write_text(text, "utf-8")
    return [folder / name for name in made]


def _text(x: float, y: float, text: str, anchor: str = "start", more: str = "") -> str:
    return f"<text x='{x:g}' y='{y:g}' text-anchor='{anchor}' {more}>{escape(text)}</text>"


def _page(width: int, height: int, title: str, below: str, parts: Sequence[str]) -> str:
    head = (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' "
        f"height='{height}' role='img' {FONT} font-size='13' fill='{INK}'>"
        f"<title>{escape(title)}</title>"
        f"<rect width='{width}' height='{height}' rx='8' fill='{PAPER}'/>"
    )
    titles = [
        _text(20, 30, title, more="font-size='16' font-weight='600'"),
        _text(20, 50, below, more=f"fill='{MUTED}'"),
    ]
    return "\n".join([head, *titles, *parts, "</svg>", ""])


def _usual(whole: dict[str, Any], mode: str) -> dict[str, Any] | None:
    return whole["configurations"].get(f"{mode}, 32k, 220 steps")


def kept(whole: dict[str, Any]) -> str:
    """A table in colour: what stands in the last prompt, with a summariser that forgets."""
    config = _usual(whole, "lossy") or next(iter(whole["configurations"].values()))
    heads = [*HEADS.values(), "over window"]
    left, top, wide, high = 270, 92, 96, 34
    parts = [
        _text(left + wide * (n + 0.5), top - 12, h, "middle", f"fill='{MUTED}' font-size='12'")
        for n, h in enumerate(heads)
    ]
    arms = [a for a in ARMS if a in config["arms"]]
    for row, arm in enumerate(arms):
        y = top + row * high
        weight = "font-weight='600'" if arm.startswith("ours") else ""
        parts.append(_text(20, y + 22, TITLES[arm], more=weight))
        found = config["arms"][arm]
        cells = [found["visible"][k] for k in HEADS]
        for n, value in enumerate(cells):
            parts += _cell(left + n * wide, y, wide, high, value, _share(value))
        over = found["over"]
        share = 1.0 if over == 0 else 0.0
        parts += _cell(left + len(cells) * wide, y, wide, high, share, f"{over:.1f}")
    width, height = left + wide * len(heads) + 16, top + high * len(arms) + 44
    note = f"{config['seeds']} generated sessions · over window: prompts that no model takes"
    parts.append(_text(20, height - 14, note, more=f"fill='{MUTED}' font-size='12'"))
    title = "What the model still sees at the end of a long session"
    below = "32k window, a summariser that loses three of ten items at each call; 1.00 is all of it"
    return _page(width, height, title, below, parts)


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _cell(x: float, y: float, wide: int, high: int, value: float | None, text: str) -> list[str]:
    share = 1.0 if value is None else value
    mixed = [round(b + (g - b) * share) for b, g in zip(BAD, GOOD, strict=True)]
    colour = "#" + "".join(f"{c:02x}" for c in mixed)
    box = f"<rect x='{x + 2}' y='{y + 2}' width='{wide - 4}' height='{high - 4}' rx='4' "
    return [f"{box}fill='{colour}'/>", _text(x + wide / 2, y + 22, text, "middle")]


def scores(whole: dict[str, Any]) -> str:
    """The score of each system by how the summariser behaves, with its interval."""
    modes = [m for m in MODES if _usual(whole, m)]
    left, top, high, span = 120, 126, 40, 640
    parts: list[str] = []
    for tick in range(0, 11, 2):
        x = left + span * tick / 10
        bottom = top + high * len(modes)
        parts.append(f"<path d='M{x:g} {top - 8}V{bottom}' stroke='{GRID}'/>")
        parts.append(_text(x, bottom + 18, f"{tick / 10:.1f}", "middle", f"fill='{MUTED}'"))
    for n, arm in enumerate(ARMS):
        x, y = 20 + 265 * (n % 3), 70 + 18 * (n // 3)
        parts.append(f"<circle cx='{x + 5}' cy='{y - 4}' r='5' fill='{COLOURS[arm]}'/>")
        parts.append(_text(x + 16, y, TITLES[arm], more="font-size='12'"))
    top_rows = top + 26
    for row, mode in enumerate(modes):
        config = _usual(whole, mode)
        assert config is not None
        y = top_rows + high * row - 6
        parts.append(_text(20, y + 4, mode, more="font-weight='600'"))
        arms = [a for a in ARMS if a in config["arms"]]
        for n, arm in enumerate(arms):
            mean, low, high_end = config["arms"][arm]["score"]
            at = y + (n - len(arms) / 2) * 4
            colour = COLOURS[arm]
            parts.append(
                f"<path d='M{left + span * low:.1f} {at:g}H{left + span * high_end:.1f}' "
                f"stroke='{colour}' stroke-width='1.5'/>"
                f"<circle cx='{left + span * mean:.1f}' cy='{at:g}' r='4.5' fill='{colour}'/>"
            )
    width, height = left + span + 60, top + high * len(modes) + 36
    title = "Score Q by how the summariser behaves"
    below = "32k window, 220 steps; the line is the 95 % interval over the sessions"
    return _page(width, height, title, below, parts)
