"""Small pieces of Markdown: code style that survives backticks, tables, fences, quotes."""

from __future__ import annotations

import re
from collections.abc import Sequence

LANGUAGES = {
    "py": "python", "js": "javascript", "ts": "typescript", "sh": "bash", "md": "markdown",
    "json": "json", "yaml": "yaml", "yml": "yaml", "toml": "toml", "html": "html", "css": "css",
    "sql": "sql", "xml": "xml", "ini": "ini", "c": "c", "cpp": "cpp", "rs": "rust", "go": "go",
}  # fmt: skip


def code(text: str) -> str:
    """Inline code; the fence is longer than any run of backticks inside."""
    text = text.replace("\n", " ")
    ticks = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (ticks + 1)
    pad = " " if ticks else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def fence(text: str, language: str = "") -> str:
    ticks = max((len(run) for run in re.findall(r"^`{3,}", text, re.M)), default=2)
    marks = "`" * (ticks + 1)
    return f"{marks}{language}\n{text}\n{marks}"


def cell(text: str, limit: int = 80) -> str:
    text = re.sub(r"\s+", " ", text).strip().replace("\\", "\\\\").replace("|", "\\|")
    return text if len(text) <= limit else text[: limit - 1] + "…"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """A pipe table; columns of ``right`` are aligned right. Cells are escaped by the caller
    (``cell``) or are code."""
    rule = ["---:" if n in right else "---" for n in range(len(head))]
    lines = [list(head), rule, *[list(row) for row in rows]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def quote(text: str) -> str:
    return "\n".join(f"> {line}" if line else ">" for line in text.split("\n"))


def extension(path: str) -> str:
    name = path.rsplit("/", 1)[-1]
    return name.rsplit(".", 1)[-1].lower() if "." in name.strip(".") else ""


def number(value: int) -> str:
    return f"{value:,}"
