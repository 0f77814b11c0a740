"""MCP servers of a workspace: connected, supervised, offered to the model as tools."""
