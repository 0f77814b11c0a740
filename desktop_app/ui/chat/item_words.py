"""What a thing in the context is called in the window."""

from __future__ import annotations

from desktop_app.core.context.pricing import LABEL
from desktop_app.core.context.types import Item
from desktop_app.ui.i18n import tr
from desktop_app.ui.widgets.usage import category_name

from . import tool_words

_SPOKEN = ("assistant", "user", "thinking", "ledger")  # categories whose items begin as sentences


def item_name(item: Item) -> str:
    """An item's name on one line: the first words of a text without its Markdown, a call by the
    tool's name in the window; tools themselves by their own names, as in the list of tools."""
    label = next((line for line in item.label.splitlines() if line.strip()), "")
    label = tool_words.one_line(label, 120)
    if len(item.label) >= LABEL and item.category in _SPOKEN and item.label.endswith(label):
        label += "…"  # the core keeps the first words only
    if item.category == "system":
        return {"system": tr("System prompt"), "instructions": tr("Instructions")}.get(
            label, label or category_name("system")
        )
    if item.category == "ledger":
        names = {
            "pinned": tr("Task and constraints"),
            "summary": tr("Summary"),
            "tasks": tr("Tasks"),
        }
        return names.get(label, label or category_name("ledger"))
    if item.category == "mcp":
        return label.partition(": ")[2] or label
    if item.category in ("assistant", "result"):
        tool, _, rest = label.partition(" ")
        said = tool_words.title(tool)
        if tool in tool_words.ICONS or said != tool:
            return f"{said} {rest}".rstrip()
    if item.category in _SPOKEN:
        label = label.strip("#*_`> -").replace("**", "").replace("`", "")
    return label or category_name(item.category)
