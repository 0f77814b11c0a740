"""A local server that speaks the providers' wire formats, as their documentation gives them.

``Server`` answers each request with the next ``Answer`` of its list (or what a function makes of
the request) and keeps what was asked. The builders below make the bodies.
"""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Asked:
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Answer:
    """``pieces`` are written one by one; an Event among them is waited for (10 s at most);
    ``cut`` closes the connection hard afterwards, without the end of the body."""

    pieces: Sequence[bytes | threading.Event] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False


Play = Answer | Callable[[Asked], Answer]


class Server:
    """Use as a context manager. ``gone`` is set when a client left before the end; ``tls`` makes it
    speak TLS."""

    def __init__(self, *answers: Play, tls: ssl.SSLContext | None = None) -> None:
        self.answers: list[Play] = list(answers)
        self.asked: list[Asked] = []
        self.gone = threading.Event()
        self.began = threading.Event()
        self._lock = threading.Lock()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_args: Any) -> None: ...

            def do_GET(self) -> None:
                owner._serve(self)

            def do_POST(self) -> None:
                owner._serve(self)

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_args: Any) -> None: ...

        self._http = Quiet(("127.0.0.1", 0), Handler)
        self._tls = tls is not None
        if tls is not None:
            # Shaking hands is for the thread of each client: one that only connects would hold all.
            self._http.socket = tls.wrap_socket(
                self._http.socket, server_side=True, do_handshake_on_connect=False
            )
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    @property
    def port(self) -> int:
        return self._http.server_address[1]

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    def __enter__(self) -> Server:
        self._thread.start()
        return self

    def __exit__(self, *_exc: Any) -> None:
        self._http.shutdown()
        self._http.server_close()

    def _next(self, asked: Asked) -> Answer:
        with self._lock:
            self.asked.append(asked)
            play = self.answers.pop(0) if self.answers else json_answer({}, status=599)
        return play if isinstance(play, Answer) else play(asked)

    def _serve(self, http: BaseHTTPRequestHandler) -> None:
        length = int(http.headers.get("content-length") or 0)
        raw = http.rfile.read(length)
        body = json.loads(raw) if raw else None
        headers = {k.lower(): v for k, v in http.headers.items()}
        answer = self._next(Asked(http.command, http.path, headers, body))
        http.send_response(answer.status)
        for name, value in answer.headers.items():
            http.send_header(name, value)
        http.send_header("Transfer-Encoding", "chunked")
        http.send_header("Connection", "close")
        http.close_connection = True
        http.end_headers()
        try:
            self._write(http, answer)
        except OSError:
            self.gone.set()

    def _write(self, http: BaseHTTPRequestHandler, answer: Answer) -> None:
        for piece in answer.pieces:
            if isinstance(piece, threading.Event):
                http.wfile.flush()
                self.began.set()
                self._wait(http, piece)
                continue
            http.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            http.wfile.flush()
        if answer.cut:
            http.connection.shutdown(socket.SHUT_RDWR)
            return
        http.wfile.write(b"0\r\n\r\n")
        http.wfile.flush()

    def _wait(self, http: BaseHTTPRequestHandler, event: threading.Event) -> None:
        """Wait for the event, or for the client to hang up."""
        http.connection.settimeout(0.02)
        for _ in range(500):
            if event.is_set():
                return
            try:
                if http.connection.recv(1) == b"":
                    raise ConnectionResetError
            except TimeoutError:
                continue


def json_answer(value: Any, status: int = 200, **headers: str) -> Answer:
    """A JSON body; header names with ``_`` for ``-``."""
    named = {k.replace("_", "-"): v for k, v in headers.items()}
    return Answer(
        [json.dumps(value).encode()], status, {"Content-Type": "application/json", **named}
    )


def sse(*events: Any, cut: bool = False) -> Answer:
    """Server-sent events: dicts as ``data:``, those with a ``type`` named by it; texts as they
    are; threading.Events are waited for."""
    pieces: list[bytes | threading.Event] = []
    for event in events:
        if isinstance(event, threading.Event):
            pieces.append(event)
            continue
        data = event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)
        name = f"event: {event['type']}\n" if isinstance(event, dict) and "type" in event else ""
        pieces.append(f"{name}data: {data}\n\n".encode())
    return Answer(pieces, 200, {"Content-Type": "text/event-stream"}, cut)


# -- OpenAI, chat completions -----------------------------------------------------------------


def chat_chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        **more,
    }


def chat_usage(prompt: int, completion: int, cached: int = 0) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": "m",
        "choices": [],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": cached},
        },
    }


def chat(
    *texts: str,
    thinking: Iterable[str] = (),
    calls: Sequence[tuple[str, str, str]] = (),
    usage: tuple[int, int, int] | None = (100, 10, 0),
    finish: str | None = None,
) -> Answer:
    """A whole answer; ``calls`` are (id, name, arguments), their arguments sent in two pieces."""
    events: list[Any] = [chat_chunk({"role": "assistant", "content": ""})]
    events += [chat_chunk({"reasoning_content": t}) for t in thinking]
    events += [chat_chunk({"content": t}) for t in texts]
    for index, (call_id, name, arguments) in enumerate(calls):
        head = {"index": index, "id": call_id, "type": "function"}
        half = len(arguments) // 2
        first = {**head, "function": {"name": name, "arguments": arguments[:half]}}
        rest = {"index": index, "function": {"arguments": arguments[half:]}}
        events += [chat_chunk({"tool_calls": [first]}), chat_chunk({"tool_calls": [rest]})]
    events.append(chat_chunk({}, finish or ("tool_calls" if calls else "stop")))
    if usage is not None:
        events.append(chat_usage(*usage))
    return sse(*events, "[DONE]")


def openai_error(
    status: int, message: str, code: str | None = None, kind: str | None = None, **headers: str
) -> Answer:
    body = {"error": {"message": message, "type": kind, "param": None, "code": code}}
    return json_answer(body, status, **headers)


# -- OpenAI, responses ------------------------------------------------------------------------


def _response(status: str, output: list[Any], usage: Any = None, **more: Any) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_700_000_000,
        "status": status,
        "model": "m",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": usage,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "temperature": 1.0,
        "top_p": 1.0,
        **more,
    }


def responses(
    text: str = "",
    *,
    thinking: str = "",
    encrypted: str = "",
    calls: Sequence[tuple[str, str, str]] = (),
    usage: tuple[int, int, int] = (100, 10, 0),
    incomplete: str = "",
) -> Answer:
    """An answer with reasoning, text and function calls; ``incomplete`` says why it is not whole
    (``max_output_tokens``)."""
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": _response("in_progress", [])}
    ]
    output: list[dict[str, Any]] = []

    def add(item: dict[str, Any], *between: dict[str, Any], **done: Any) -> None:
        at = len(output)
        events.append({"type": "response.output_item.added", "output_index": at, "item": item})
        events.extend({"output_index": at, "item_id": item["id"], **e} for e in between)
        whole = {**item, **done}
        output.append(whole)
        events.append({"type": "response.output_item.done", "output_index": at, "item": whole})

    if thinking or encrypted:
        part = {"type": "summary_text", "text": ""}
        full = {"type": "summary_text", "text": thinking}
        add(
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": None},
            {"type": "response.reasoning_summary_part.added", "summary_index": 0, "part": part},
            {
                "type": "response.reasoning_summary_text.delta",
                "summary_index": 0,
                "delta": thinking,
            },
            {"type": "response.reasoning_summary_text.done", "summary_index": 0, "text": thinking},
            {"type": "response.reasoning_summary_part.done", "summary_index": 0, "part": full},
            summary=[full],
            encrypted_content=encrypted or None,
        )
    if text:
        empty = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
        full = {**empty, "text": text}
        half = len(text) // 2
        where = {"content_index": 0}
        delta = {"type": "response.output_text.delta", **where, "logprobs": []}
        add(
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "status": "in_progress",
                "content": [],
            },
            {"type": "response.content_part.added", **where, "part": empty},
            {**delta, "delta": text[:half]},
            {**delta, "delta": text[half:]},
            {"type": "response.output_text.done", **where, "text": text, "logprobs": []},
            {"type": "response.content_part.done", **where, "part": full},
            status="completed",
            content=[full],
        )
    for number, (call_id, name, arguments) in enumerate(calls):
        add(
            {
                "type": "function_call",
                "id": f"fc_{number}",
                "call_id": call_id,
                "name": name,
                "arguments": "",
                "status": "in_progress",
            },
            {"type": "response.function_call_arguments.delta", "delta": arguments},
            {
                "type": "response.function_call_arguments.done",
                "arguments": arguments,
                "name": name,
            },
            arguments=arguments,
            status="completed",
        )
    prompt, completion, cached = usage
    counted = {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": cached},
        "output_tokens": completion,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": prompt + completion,
    }
    status = "incomplete" if incomplete else "completed"
    details = {"reason": incomplete} if incomplete else None
    done = {**_response(status, output, counted), "incomplete_details": details}
    events.append({"type": f"response.{status}", "response": done})
    for number, event in enumerate(events):
        event["sequence_number"] = number
    return sse(*events)


# -- Anthropic, messages ----------------------------------------------------------------------


def anthropic(
    text: str = "",
    *,
    thinking: str = "",
    signature: str = "",
    calls: Sequence[tuple[str, str, str]] = (),
    usage: tuple[int, int, int, int] = (100, 10, 0, 0),
    stop: str | None = None,
    last: Sequence[Any] = (),
) -> Answer:
    """``usage`` is (input without cache, output, cache read, cache written), as Anthropic counts.
    ``last`` replaces what comes after the blocks."""
    fresh, output, read, written = usage
    counted = {
        "input_tokens": fresh,
        "output_tokens": 1,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
    }
    start = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": counted,
    }
    events: list[Any] = [{"type": "message_start", "message": start}]
    at = 0

    def block(head: dict[str, Any], *deltas: dict[str, Any]) -> None:
        nonlocal at
        events.append({"type": "content_block_start", "index": at, "content_block": head})
        events.extend({"type": "content_block_delta", "index": at, "delta": d} for d in deltas)
        events.append({"type": "content_block_stop", "index": at})
        at += 1

    if thinking:
        block(
            {"type": "thinking", "thinking": "", "signature": ""},
            {"type": "thinking_delta", "thinking": thinking},
            {"type": "signature_delta", "signature": signature},
        )
    if text:
        half = len(text) // 2
        block(
            {"type": "text", "text": ""},
            {"type": "text_delta", "text": text[:half]},
            {"type": "text_delta", "text": text[half:]},
        )
    for call_id, name, arguments in calls:
        block(
            {"type": "tool_use", "id": call_id, "name": name, "input": {}},
            {"type": "input_json_delta", "partial_json": arguments},
        )
    if last:
        return sse(*events, *last)
    reason = stop or ("tool_use" if calls else "end_turn")
    delta = {"stop_reason": reason, "stop_sequence": None}
    events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": output}})
    events.append({"type": "message_stop"})
    return sse(*events)


def anthropic_error(status: int, kind: str, message: str, **headers: str) -> Answer:
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "r"}
    return json_answer(body, status, **headers)


# -- Google, generateContent ------------------------------------------------------------------


def google(
    text: str = "",
    *,
    thinking: str = "",
    calls: Sequence[tuple[str, dict[str, Any]]] = (),
    signature: str = "",
    usage: tuple[int, int, int] = (100, 10, 0),
    finish: str = "STOP",
) -> Answer:
    """``signature`` (base64) comes with the first function call, as Gemini 3 sends it."""
    prompt, output, cached = usage
    parts: list[list[dict[str, Any]]] = []
    if thinking:
        parts.append([{"text": thinking, "thought": True}])
    if text:
        half = len(text) // 2
        parts += [[{"text": text[:half]}], [{"text": text[half:]}]]
    if calls:
        made = [{"functionCall": {"name": n, "args": a}} for n, a in calls]
        if signature:
            made[0]["thoughtSignature"] = signature
        parts.append(made)
    events: list[dict[str, Any]] = []
    for n, some in enumerate(parts):
        candidate: dict[str, Any] = {"content": {"parts": some, "role": "model"}, "index": 0}
        event: dict[str, Any] = {"candidates": [candidate], "modelVersion": "m"}
        if n == len(parts) - 1:
            candidate["finishReason"] = finish
            event["usageMetadata"] = {
                "promptTokenCount": prompt,
                "candidatesTokenCount": output,
                "totalTokenCount": prompt + output,
                "cachedContentTokenCount": cached,
            }
        events.append(event)
    return sse(*events)


def google_error(status: int, kind: str, message: str) -> Answer:
    return json_answer({"error": {"code": status, "message": message, "status": kind}}, status)
