"""A server that asks the client, written by hand: ``asks.py [notes]``. Protocol 2025-11-25.

Its tools send a request, wait for the reply to it, and answer with that reply as JSON. What was
asked when no call ran, what was refused, and what the client said of itself, goes into the file of
notes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

NOTES = sys.argv[1] if len(sys.argv) > 1 else ""
FORM: dict[str, Any] = json.loads(Path(__file__).with_name("form.json").read_text())
SAY = {"role": "user", "content": {"type": "text", "text": "Name a fruit."}}
SAMPLE: dict[str, Any] = {
    "messages": [SAY],
    "systemPrompt": "One word.",
    "maxTokens": 50,
    "stopSequences": ["END"],
}
URL = {"mode": "url", "message": "Sign in first.", "elicitationId": "e1"}
ADDRESS = "https://user:pw@example.org/start?token=secret#x"
TOOLS = ("sample", "form", "hopeless", "visit", "visit_file", "visit_first", "many", "roots",
         "take_back", "both", "silent", "echo")  # fmt: skip
ids = iter(range(1, 10_000))


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def note(what: Any) -> None:
    if NOTES:
        with open(NOTES, "a", encoding="utf-8") as file:
            file.write(json.dumps(what) + "\n")


def read() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def ask(method: str, params: dict[str, Any]) -> str:
    asked = f"s{next(ids)}"
    send({"id": asked, "method": method, "params": params})
    return asked


def replies(*asked: str) -> list[Any]:
    """What the client answers to these, in this order; None for those of a call that it gave up."""
    got: dict[str, Any] = {}
    while len(got) < len(asked):
        message = read()
        if message.get("method") == "notifications/cancelled":
            note("cancelled")
            return [got.get(a) for a in asked]
        if "method" not in message:
            got[message["id"]] = message.get("result", message.get("error"))
            if "error" in message:
                note(message["error"])
    return [got[a] for a in asked]


def call(name: str) -> dict[str, Any]:
    match name:
        case "sample":
            found = replies(ask("sampling/createMessage", SAMPLE))
        case "form":
            params = {"message": "Where to?", "requestedSchema": FORM}
            found = replies(ask("elicitation/create", params))
        case "hopeless":
            schema = {"type": "object", "properties": {"o": {"type": "object"}}, "required": ["o"]}
            params = {"message": "?", "requestedSchema": schema}
            found = replies(ask("elicitation/create", params))
        case "visit":
            found = replies(ask("elicitation/create", {**URL, "url": ADDRESS}))
        case "visit_file":
            found = replies(ask("elicitation/create", {**URL, "url": "file:///etc/passwd"}))
        case "many":
            found = replies(*[ask("sampling/createMessage", SAMPLE) for _ in range(12)])
        case "both":
            params = {"message": "Where to?", "requestedSchema": FORM}
            found = replies(
                ask("elicitation/create", params), ask("sampling/createMessage", SAMPLE)
            )
        case "roots":
            found = replies(ask("roots/list", {}))
        case "silent":
            note("silent")
            found = replies("nobody's")
        case "take_back":
            asked = ask("sampling/createMessage", SAMPLE)
            send({"method": "notifications/cancelled", "params": {"requestId": asked}})
            found = ["taken back"]
        case _:
            found = ["hello"]
    return {"content": [{"type": "text", "text": json.dumps(found)}]}


def main() -> None:
    while True:
        message = read()
        method, number = message.get("method"), message.get("id")
        if method is None or number is None:
            if method == "notifications/initialized":
                ask("sampling/createMessage", SAMPLE)  # out of the blue
            elif method is None:
                note(message)
            continue
        if method == "initialize":
            note(message["params"]["capabilities"])
            info = {"name": "asks", "version": "1"}
            result: dict[str, Any] = {"protocolVersion": "2025-11-25", "serverInfo": info}
            result["capabilities"] = {"tools": {}}
        elif method == "tools/list":
            empty = {"type": "object", "properties": {}}
            result = {"tools": [{"name": n, "inputSchema": empty} for n in TOOLS]}
        elif method == "tools/call" and message["params"]["name"] == "visit_first":
            data = {"elicitations": [{**URL, "url": "https://example.org/consent"}]}
            error = {"code": -32042, "message": "Consent first.", "data": data}
            send({"id": number, "error": error})
            continue
        elif method == "tools/call":
            result = call(message["params"]["name"])
        else:
            send({"id": number, "error": {"code": -32601, "message": f"no method {method}"}})
            continue
        send({"id": number, "result": result})


main()
