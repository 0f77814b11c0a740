"""Workspaces of every kind at once: the table, a workspace's detail, the dialog for a new one."""
