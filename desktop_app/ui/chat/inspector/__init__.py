"""The inspector beside the chat: context, files, tools, compactions."""

from .inspector import Inspector

__all__ = ["Inspector"]
