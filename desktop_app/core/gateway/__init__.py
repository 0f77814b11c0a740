"""MCP servers inside a container or sandbox.

``inside/`` runs there and holds the MCP sessions, with the ``mcp`` package, uvicorn and starlette;
``bundle`` packs it into one self-contained file. ``client`` speaks to it (and to AgentScope's),
``machine`` brings it up over a remote backend and keeps it, ``connection`` is what the agent's MCP
manager has for each server.
"""
