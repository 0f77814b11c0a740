"""What a tile of the X-ray is called, and what is said about it."""

from __future__ import annotations

from desktop_app.ui.chat import figures
from desktop_app.ui.chat.foreign import visible
from desktop_app.ui.chat.item_words import item_name
from desktop_app.ui.i18n import tr, trn
from desktop_app.ui.widgets.tiles import ALL, REST
from desktop_app.ui.widgets.usage import category_name

from .xray_nodes import Node


def node_name(node: Node) -> str:
    """What is written on a tile."""
    if node.item is not None:
        return visible(item_name(node.item))[0]
    if node.key in (REST, ALL):
        return trn("{n} smaller", "{n} smaller", node.count)
    if node.key.startswith("group:"):
        return visible(node.key.removeprefix("group:mcp:"))[0]
    return category_name(node.category)


def node_figure(node: Node) -> str:
    """Its tokens; the hatching and the tooltip say what is estimated."""
    return figures.tokens(node.tokens)


def how_sure(node: Node) -> str:
    """Measured, estimated, or how much of it is; empty for what is no content."""
    if node.category in ("reserve", "free"):
        return ""
    if node.estimated <= 0:
        return tr("measured")
    if node.estimated >= node.tokens:
        return tr("estimated")
    return tr("{n} of it estimated", n=figures.tokens(node.estimated))


def node_detail(node: Node, total: int, window: int) -> str:
    """Its kind, tokens, share and how sure they are, on one line."""
    whole = window if node.category in ("reserve", "free") else total
    share = figures.percent(node.tokens / whole) if whole else figures.percent(0)
    of_what = (
        tr("{share} of the window", share=share)
        if node.category in ("reserve", "free")
        else tr("{share} of what is used", share=share)
    )
    parts = [figures.tokens(node.tokens), of_what, how_sure(node)]
    if node.key != node.category:
        parts.insert(0, category_name(node.category))
    return " · ".join(p for p in parts if p)


def node_words(node: Node, total: int, window: int) -> str:
    """Name and detail, for the tooltip and for screen readers."""
    return f"{node_name(node)}\n{node_detail(node, total, window)}"
