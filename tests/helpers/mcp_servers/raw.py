"""A server written by hand, line by line, so that it can misbehave: ``raw.py MODE [argument]``.

It speaks the handshake protocol 2025-06-18 and answers what it does not know with an error."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import threading
import time
from typing import Any

MODE = sys.argv[1]
ARGUMENT = sys.argv[2] if len(sys.argv) > 2 else ""
EMPTY: dict[str, Any] = {"type": "object", "properties": {}}
PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
listings = 0


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def note(text: str) -> None:
    """Where a test reads what happened."""
    if ARGUMENT and MODE != "gate":
        with open(ARGUMENT, "a", encoding="utf-8") as file:
            file.write(text + "\n")


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": f"Tool {name}.", "inputSchema": EMPTY, **more}


def tools(params: dict[str, Any]) -> dict[str, Any]:
    if MODE == "bytes":
        return {"tools": [tool("odd_bytes")]}
    if MODE == "bad_items":
        return {
            "tools": [
                tool("good"),
                {"description": "nameless", "inputSchema": EMPTY},
                {"name": "no_schema"},
                {"name": "array_schema", "inputSchema": {"type": "array"}},
                tool("odd_hints", annotations=[]),
                tool("bare", inputSchema={}),
                tool("refs", inputSchema={
                    "type": "object",
                    "properties": {"p": {"$ref": "#/$defs/P"}},
                    "required": ["p", "ghost"],
                    "$defs": {"P": {"type": "string"}},
                }),
                tool("good"),
                "a string",
            ]
        }  # fmt: skip
    if MODE == "pages":
        page = int(params.get("cursor") or 0)
        listed: dict[str, Any] = {"tools": [tool(f"t{page}_{n}") for n in range(3)]}
        if page < 4:
            listed["nextCursor"] = str(page + 1)
        return listed
    if MODE == "endless_pages":
        return {"tools": [tool("one")], "nextCursor": "again"}
    if MODE in ("slow_start", "ten"):
        return {"tools": [tool(f"tool_{n}") for n in range(10)]}
    if MODE == "changes" and listings > 1:
        return {"tools": [tool("before"), tool("after")]}
    if MODE == "changes":
        return {"tools": [tool("before"), tool("change")]}
    return {"tools": [tool("echo"), tool("die"), tool("hang"), tool("odd"),
                      tool("ask_roots"), tool("ask_sampling")]}  # fmt: skip


def call(name: str, params: dict[str, Any]) -> dict[str, Any] | None:
    note(f"call {name}")
    if name == "die":
        os._exit(3)
    if name == "hang":
        return None
    if name == "odd":
        content = [
            {"type": "text", "text": "first"},
            {"type": "hologram", "shape": "cube"},
            {"type": "image", "data": "AAAA", "mimeType": "image/svg+xml"},
            {"type": "resource_link", "uri": "file:///a", "name": "A"},
            {"type": "resource", "resource": {"uri": "file:///b", "text": "inside"}},
        ]
        return {"content": content}
    if name == "odd_bytes":

        def picture(data: bytes, kind: str) -> dict[str, Any]:
            text = base64.b64encode(data).decode()
            return {"type": "image", "data": text, "mimeType": kind}

        blob = {"uri": "mem://doc", "blob": base64.b64encode(b"%PDF").decode()}
        content = [
            picture(b"<svg/>", "image/svg+xml"),
            picture(b"", "image/png"),
            picture(b"no picture", "image/png"),
            picture(PNG, "image/webp"),
            {"type": "resource", "resource": blob},
        ]
        return {"content": content}
    if name == "ask_roots":
        send({"id": "r1", "method": "roots/list"})
        reply = json.loads(sys.stdin.readline())
        return {"content": [{"type": "text", "text": json.dumps(reply.get("result"))}]}
    if name == "ask_sampling":
        params = {"messages": [], "maxTokens": 10}
        send({"id": "s1", "method": "sampling/createMessage", "params": params})
        reply = json.loads(sys.stdin.readline())
        return {"content": [{"type": "text", "text": json.dumps(reply)}]}
    if name == "change":
        send({"method": "notifications/tools/list_changed"})
    return {"content": [{"type": "text", "text": f"{name} {os.getpid()}"}]}


def flood() -> None:
    line = b"e" * 65535 + b"\n"
    until = time.monotonic() + float(os.environ.get("FLOOD_SECONDS", "3600"))
    while time.monotonic() < until:
        os.write(2, line)
        time.sleep(0.005)


def pour(piece: bytes) -> None:
    """Onto standard output, whole each time: what a pipe takes at once."""
    while True:
        os.write(1, piece)


def answer(message: dict[str, Any]) -> None:
    global listings
    method, params = message["method"], message.get("params") or {}
    if "id" not in message:
        if method == "notifications/cancelled":
            note("cancelled")
        return
    result: dict[str, Any] | None
    if method == "initialize":
        if MODE == "mute":
            return
        capabilities = {"tools": {"listChanged": True}} if MODE != "no_tools" else {}
        result = {
            "protocolVersion": "2025-06-18",
            "capabilities": capabilities,
            "serverInfo": {"name": "raw", "version": "1"},
        }
    elif method == "tools/list" and MODE != "list_fails":
        listings += 1
        note("list")
        result = tools(params)
    elif method == "tools/call":
        result = call(params["name"], params)
        if result is None:
            return
    else:
        error = {"code": -32601, "message": f"no method {method}"}
        send({"id": message["id"], "error": error})
        return
    send({"id": message["id"], "result": result})


def main() -> None:
    note(f"start {os.getpid()}")
    if MODE == "dies_at_once":
        sys.stderr.write("cannot read the token\n")
        sys.exit(1)
    if MODE == "slow_start":
        time.sleep(1.0)
    while MODE == "gate" and not os.path.exists(ARGUMENT):
        time.sleep(0.01)
    if MODE == "chatty":
        sys.stdout.write("Welcome!\n\n{not json\n")
        sys.stdout.flush()
    if MODE == "flood":
        threading.Thread(target=flood, daemon=True).start()
    if MODE == "loud":
        threading.Thread(target=pour, args=(b"x" * 4000 + b"\n",), daemon=True).start()
    if MODE == "endless_line":
        pour(b"x" * 4000)
    if MODE == "stays":  # ignores the end of its input, and has a child that does too
        import signal

        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        note(f"child {child.pid}")
    for line in sys.stdin:
        if line.strip():
            answer(json.loads(line))
    if MODE == "stays":
        time.sleep(600)
    if MODE == "late":
        time.sleep(0.5)


main()
