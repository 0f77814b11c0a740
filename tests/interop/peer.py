"""What the real agentscope does, as commands for the tests; runs in an interpreter of its own.

peer.py write DIR          a workspace with a session, results, data, skills
peer.py read DIR SESSION   what it understands of a session and of the skills
peer.py append DIR SESSION adds one message to a session
peer.py purge DIR AGENT SESSION
peer.py declared DIR       the MCP servers it knows, by agent and session
peer.py skills DIR AGENT…  the skills of each agent, after it opened the folder
peer.py results DIR SESSION ID…   it offloads a result under each id
peer.py states DIR FILE…   each AgentState loaded and dumped again; DIR is left alone
"""

from __future__ import annotations

import asyncio
import json
import os
import sys

from agentscope.message import (
    Base64Source,
    DataBlock,
    HintBlock,
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from agentscope.workspace import LocalWorkspace

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def image() -> DataBlock:
    return DataBlock(source=Base64Source(data=PNG, media_type="image/png"), name="dot.png")


def messages() -> list[Msg]:
    result = ToolResultBlock(
        id="call_1", name="Bash", output=[TextBlock(text="a.txt"), image()], state="success"
    )
    blocks = [
        ThinkingBlock(thinking="hm", signature="sig=="),
        ToolCallBlock(id="call_1", name="Bash", input='{"command": "ls"}', state="finished"),
        result,
        HintBlock(hint="a hint", source="test"),
        TextBlock(text="完成 👩‍👩‍👧"),
    ]
    return [
        Msg(name="user", role="user", content=[TextBlock(text="看 this"), image()]),
        Msg(name="coder", role="assistant", content=blocks),
    ]


async def write(workspace: LocalWorkspace, _: list[str]) -> object:
    await workspace.offload_context("s1", messages())
    more = Msg(name="user", role="user", content=[TextBlock(text="more")])
    await workspace.offload_context("s1", [more])
    for _ in range(2):
        await workspace.offload_tool_result(
            "s1", ToolResultBlock(id="call_9", name="x", output=[TextBlock(text="t"), image()])
        )
    return sorted(os.listdir(os.path.join(workspace.workdir, "sessions", "s1")))


async def read(workspace: LocalWorkspace, args: list[str]) -> object:
    path = os.path.join(workspace.workdir, "sessions", args[0], "context.jsonl")
    with open(path, encoding="utf-8") as file:
        lines = [Msg.model_validate_json(line) for line in file if line.strip()]
    agent = args[1] if len(args) > 1 else None
    return {
        "messages": [json.loads(msg.model_dump_json()) for msg in lines],
        "skills": [skill.name for skill in await workspace.list_skills(agent_id=agent)],
    }


async def append(workspace: LocalWorkspace, args: list[str]) -> object:
    msg = Msg(name="user", role="user", content=[TextBlock(text="theirs"), image()])
    return await workspace.offload_context(args[0], [msg])


async def purge(workspace: LocalWorkspace, args: list[str]) -> object:
    await workspace.purge_session(agent_id=args[0], session_id=args[1])
    return sorted(os.listdir(os.path.join(workspace.workdir, "sessions")))


async def declared(workspace: LocalWorkspace, _: list[str]) -> object:
    return {
        " ".join(pair): [getattr(spec, "name", spec) for spec in specs]
        for pair, specs in workspace._mcp_specs.items()
    }


async def skills(workspace: LocalWorkspace, args: list[str]) -> object:
    return {a: [s.name for s in await workspace.list_skills(agent_id=a)] for a in args}


async def results(workspace: LocalWorkspace, args: list[str]) -> object:
    session, *ids = args
    for call in ids:
        block = ToolResultBlock(id=call, name="x", output=[TextBlock(text="their " + call)])
        await workspace.offload_tool_result(session, block)
    return sorted(os.listdir(os.path.join(workspace.workdir, "sessions", session)))


def states(files: list[str]) -> object:
    from agentscope.state import AgentState

    answers = []
    for name in files:
        with open(name, encoding="utf-8") as file:
            state = AgentState.model_validate_json(file.read())
        answers.append(json.loads(state.model_dump_json()))
    return answers


async def main() -> None:
    command, folder, *args = sys.argv[1:]
    if command == "states":
        print(json.dumps(states(args)))
        return
    workspace = LocalWorkspace(workdir=folder)
    await workspace.initialize()
    try:
        answer = await globals()[command](workspace, args)
    finally:
        await workspace.close()
    print(json.dumps(answer))


if __name__ == "__main__":
    asyncio.run(main())
