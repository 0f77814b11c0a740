"""What an agent can use, for every page that shows it: skills, MCP servers, lists with a switch."""
