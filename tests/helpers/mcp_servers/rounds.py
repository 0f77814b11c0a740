"""A server of the newest protocol, which asks inside the answer to a call."""

from __future__ import annotations

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp_types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    TextContent,
)

server = MCPServer("rounds")
SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer", "minimum": 1}},
    "required": ["n"],
}


@server.tool()
async def survey(ctx: Context) -> str | InputRequiredResult:
    """Ask for a number, for a word of the model, for the folder."""
    given = ctx.input_responses
    if given is None:
        said = SamplingMessage(role="user", content=TextContent(text="Name a fruit."))
        return InputRequiredResult(
            input_requests={
                "form": ElicitRequest(
                    params=ElicitRequestFormParams(message="How many?", requested_schema=SCHEMA)
                ),
                "word": CreateMessageRequest(
                    params=CreateMessageRequestParams(messages=[said], max_tokens=20)
                ),
                "roots": ListRootsRequest(),
            }
        )
    form, word, roots = given["form"], given["word"], given["roots"]
    return f"{form.action} {form.content} {word.content.text} {roots.roots[0].uri}"


if __name__ == "__main__":
    server.run("stdio")
