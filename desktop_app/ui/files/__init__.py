"""A workspace's files, for every page that shows them: the lazy tree, the beginning of a file."""
