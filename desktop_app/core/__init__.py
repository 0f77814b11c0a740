"""The workspace-and-agent core: no Qt, plain asyncio, usable from a script."""
