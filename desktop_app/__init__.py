"""Slipway: chat with agents inside workspaces, and look after those workspaces."""

__version__ = "0.1.0"
