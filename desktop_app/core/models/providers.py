"""The providers that there are, each with the address and the wire format that it documents."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Literal
from urllib.parse import urlsplit

Wire = Literal["chat", "responses", "anthropic", "google"]


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider. ``catalogue`` is its id in genai-prices; ``models`` says whether its models
    can be listed; ``local`` ones need no key."""

    id: str
    name: str
    wire: Wire
    address: str
    catalogue: str = ""
    example: str = ""  # a model's name, as a hint
    local: bool = False
    images: bool = False  # most of its models take images


# Addresses: the providers' own documentation of their (OpenAI-compatible) interfaces.
PROVIDERS: tuple[Provider, ...] = (
    Provider(
        "openai",
        "OpenAI",
        "responses",
        "https://api.openai.com/v1",
        "openai",
        "gpt-6.1-sol",
        images=True,
    ),
    Provider(
        "openai_chat",
        "OpenAI (chat completions)",
        "chat",
        "https://api.openai.com/v1",
        "openai",
        "gpt-5.4-mini",
        images=True,
    ),
    Provider(
        "anthropic",
        "Anthropic",
        "anthropic",
        "https://api.anthropic.com",
        "anthropic",
        "claude-sonnet-5-5",
        images=True,
    ),
    Provider(
        "google",
        "Google Gemini",
        "google",
        "https://generativelanguage.googleapis.com",
        "google",
        "gemini-3.8-flash",
        images=True,
    ),
    Provider(
        "deepseek", "DeepSeek", "chat", "https://api.deepseek.com", "deepseek", "deepseek-v4-pro"
    ),
    Provider(
        "dashscope",
        "Qwen (DashScope)",
        "chat",
        "https://dashscope.aliyuncs.com/compatible-mode/v1",
        "",
        "qwen3-max",
    ),
    Provider(
        "moonshot",
        "Moonshot (Kimi)",
        "chat",
        "https://api.moonshot.cn/v1",
        "moonshotai",
        "kimi-k3",
    ),
    Provider(
        "zhipu", "Zhipu (GLM)", "chat", "https://open.bigmodel.cn/api/paas/v4", "zhipuai", "glm-5.3"
    ),
    Provider("xai", "xAI", "chat", "https://api.x.ai/v1", "x-ai", "grok-4.7", images=True),
    Provider(
        "mistral",
        "Mistral",
        "chat",
        "https://api.mistral.ai/v1",
        "mistral",
        "mistral-large-4",
    ),
    Provider(
        "openrouter",
        "OpenRouter",
        "chat",
        "https://openrouter.ai/api/v1",
        "openrouter",
        "openai/gpt-6.1-sol",
    ),
    Provider("ollama", "Ollama", "chat", "http://127.0.0.1:11434/v1", local=True),
    Provider("lmstudio", "LM Studio", "chat", "http://127.0.0.1:1234/v1", local=True),
    Provider("llamacpp", "llama.cpp", "chat", "http://127.0.0.1:8080/v1", local=True),
    Provider("vllm", "vLLM", "chat", "http://127.0.0.1:8000/v1", local=True),
    Provider("compatible", "OpenAI-compatible", "chat", "", local=True),
)
BY_ID = {p.id: p for p in PROVIDERS}


def is_loopback(address: str) -> bool:
    """Whether an address is this computer: no proxy is asked for it."""
    host = urlsplit(address).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def with_scheme(address: str) -> str:
    """An address as people write it, made whole: without a scheme it is ``http`` on this computer
    and in private networks, ``https`` anywhere else. Never changes one that has a scheme."""
    if not address or "://" in address:
        return address
    try:
        host = urlsplit(f"//{address}").hostname or ""
    except ValueError:
        return address
    if not host:
        return address
    try:
        near = not ip_address(host).is_global
    except ValueError:
        near = host.endswith((".local", ".lan", ".internal")) or "." not in host
    return f"{'http' if near else 'https'}://{address}"


def host_of(address: str) -> str:
    """Host and port, for people: never a user, a password or a query."""
    try:
        parts = urlsplit(address)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return ""
    return f"{parts.hostname or ''}{port}"
