"""What MCP servers ask the person while their calls run: the card above the composer."""

from .card import RequestCard

__all__ = ["RequestCard"]
