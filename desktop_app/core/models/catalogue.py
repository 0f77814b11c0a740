"""What is generally known of models: window and price, from the genai-prices catalogue.

Only in a thread: importing the catalogue takes a tenth of a second. Its entries are of the day it
was released; the person may correct them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .base import Price
from .providers import BY_ID

# Names of the makers at OpenRouter, whose list has windows that the makers' own lists lack.
_MAKERS = {
    "openai": "openai",
    "openai_chat": "openai",
    "anthropic": "anthropic",
    "google": "google",
    "deepseek": "deepseek",
    "dashscope": "qwen",
    "moonshot": "moonshotai",
    "zhipu": "z-ai",
    "xai": "x-ai",
    "mistral": "mistralai",
}


@dataclass(frozen=True, slots=True)
class Known:
    """``window`` in tokens, or None; ``price`` is the base price where it depends on length or
    time of day."""

    window: int | None = None
    price: Price | None = None


def look_up(provider: str, model: str) -> Known:
    """What the catalogue says of a provider's model; empty for one that it does not have."""
    spec = BY_ID.get(provider)
    found = _find(spec.catalogue, model) if spec is not None and spec.catalogue else Known()
    if found.window is None and (maker := _MAKERS.get(provider)):
        other = _find("openrouter", f"{maker}/{model}")
        found = Known(other.window, found.price or other.price)
    return found


def _find(provider_id: str, model: str) -> Known:
    from genai_prices import data_snapshot

    snapshot = data_snapshot.get_snapshot()
    try:
        _, info = snapshot.find_provider_model(model, None, provider_id, None)
    except LookupError:
        return Known()
    return Known(info.context_window, _price(info))


def _price(info: Any) -> Price | None:
    import datetime

    try:
        prices = info.get_prices(datetime.datetime.now(datetime.UTC))
    except IndexError:  # a model without prices
        return None
    per_input, per_output = (_base(prices, n) for n in ("input_mtok", "output_mtok"))
    if per_input is None or per_output is None:
        return None
    return Price(
        per_input, per_output, _base(prices, "cache_read_mtok"), _base(prices, "cache_write_mtok")
    )


def _base(prices: Any, name: str) -> float | None:
    value = getattr(prices, name, None)
    value = getattr(value, "base", value)
    return None if value is None else float(value)
