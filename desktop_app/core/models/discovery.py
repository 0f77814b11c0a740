"""Model servers on this computer: one GET to each known port, and only to the loopback address.

Ollama 11434, LM Studio 1234, llama.cpp 8080, vLLM 8000 are the ports of their documentation. All
four answer ``GET /v1/models`` as OpenAI does; who answers is told apart by what only it says.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, cast

from .providers import BY_ID

PORTS: Mapping[str, int] = {"ollama": 11434, "lmstudio": 1234, "llamacpp": 8080, "vllm": 8000}
SECONDS = 0.3
MOST = 1_000_000  # bytes of an answer; more is no model list
HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Found:
    """A server that answers. ``windows`` holds what it says of a model's window."""

    provider: str
    address: str
    models: tuple[str, ...]
    windows: Mapping[str, int]


def discover(ports: Mapping[str, int] = PORTS) -> list[Found]:
    """The servers that answer within ``SECONDS``. Blocks; for a thread."""
    with ThreadPoolExecutor(len(ports) or 1, thread_name_prefix="discover") as pool:
        found = pool.map(probe, ports.keys(), ports.values())
        return [one for one in found if one is not None]


def probe(provider: str, port: int) -> Found | None:
    """Who answers at a port of the loopback address, or None. No proxy is asked, no redirect
    followed, and nothing but a list of models is taken for one."""
    import http.client  # read at first use: start-up time is measured

    connection = http.client.HTTPConnection(HOST, port, timeout=SECONDS)
    try:
        connection.request("GET", "/v1/models", headers={"Accept": "application/json"})
        answer = connection.getresponse()
        if answer.status != 200:
            return None
        value = json.loads(answer.read(MOST))
    except (OSError, ValueError, http.client.HTTPException, RecursionError):
        return None
    finally:
        connection.close()
    entries = model_entries(value)
    if not entries:
        return None
    address = f"http://{HOST}:{port}/v1"
    return Found(
        _owner(entries) or provider,
        address,
        tuple(entries),
        {name: window for name, e in entries.items() if (window := window_of(e)) is not None},
    )


def model_entries(value: Any) -> dict[str, dict[str, Any]]:
    """Models by name of an OpenAI-like list (``{"data": [{"id"}]}``)."""
    data = cast("dict[str, Any]", value).get("data") if isinstance(value, dict) else None
    made: dict[str, dict[str, Any]] = {}
    for entry in cast("list[Any]", data if isinstance(data, list) else []):
        if isinstance(entry, dict):
            fields = cast("dict[str, Any]", entry)
            name = fields.get("id")
            if isinstance(name, str) and name:
                made[name] = fields
    return made


_OWNERS = {"library": "ollama", "llamacpp": "llamacpp", "vllm": "vllm"}


def _owner(entries: Mapping[str, dict[str, Any]]) -> str:
    """Which server it is, by what it says of its models; empty when it does not say."""
    owners = {str(e.get("owned_by", "")) for e in entries.values()}
    for said, provider in _OWNERS.items():
        if said in owners and provider in BY_ID:
            return provider
    return ""


def window_of(entry: Mapping[str, Any]) -> int | None:
    """The window that a server's list gives for a model: vLLM ``max_model_len``, llama.cpp
    ``meta.n_ctx`` (or what it was trained with), OpenRouter and others ``context_length``."""
    meta = entry.get("meta")
    meta = cast("dict[str, Any]", meta) if isinstance(meta, dict) else {}
    for value in (
        entry.get("max_model_len"),
        meta.get("n_ctx"),
        entry.get("loaded_context_length"),
        entry.get("context_length"),
        entry.get("max_context_length"),
        entry.get("context_window"),
        entry.get("inputTokenLimit"),
        entry.get("max_input_tokens"),
        meta.get("n_ctx_train"),
    ):
        if isinstance(value, int) and not isinstance(value, bool) and value >= 1_024:
            return value
    return None
