"""Workspaces that are somewhere else: one backend over a helper that works at the other end."""
