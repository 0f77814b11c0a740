"""What went wrong with a call, in our codes. Only imported in the models process.

Texts of providers are kept as ``detail``: masked, on one line, at most ``DETAIL`` characters.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator
from typing import Any, cast

import httpx2
from pydantic_ai import exceptions as ai

from desktop_app.core.errors import ModelError
from desktop_app.core.log import mask

from .network import shown
from .providers import host_of

DETAIL = 400

# Overflow in the words of servers that send no code for it. LM Studio, llama.cpp, Ollama, vLLM,
# DashScope, Mistral and others, from their sources and from reports of users.
_OVERFLOW = re.compile(
    r"context[ _](?:length|window|size|limit)|maximum context|prompt is too long|"
    r"input (?:is|length|token)[\w ]{0,24}(?:too long|exceed)|too many (?:input |prompt )?tokens|"
    r"exceeds? the (?:available|maximum|model'?s?) (?:context|input|number of tokens)|"
    r"context.{0,24}(?:overflow|exceed)|range of input length|n_ctx|n_keep",
    re.IGNORECASE,
)
# The answer that was asked for is longer than the model gives, or than its window has room for.
_ANSWER = re.compile(
    r"(?:max_(?:completion_|output_|new_)?tokens|maxOutputTokens)\b(?=.*?\d{3})"
    r"(?=.*?(?:too large|exceed|less than|at most|maximum|range|larger|>))",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"insufficient_quota|insufficient balance|exceeded your current quota|billing|credit balance|"
    r"out of credits|余额不足|欠费",
    re.IGNORECASE,
)
_KEY = re.compile(r"api[ _-]?key (?:is )?(?:not valid|invalid)|invalid api[ _-]?key", re.IGNORECASE)


def to_model_error(
    error: BaseException, model: str, address: str, proxy: str, *, begun: bool
) -> ModelError:
    """``error`` as ours. ``proxy`` is the URL of the one on the way; ``begun`` says that parts of
    the answer had arrived."""
    if isinstance(error, ModelError):
        return error
    text = _detail(error)
    if proxy and getattr(error, "status_code", 0) == 407:
        return ModelError("model.proxy", model=model, proxy=shown(proxy), detail=text)
    if (found := _transport(error, model, address, proxy)) is not None and not (
        begun and found.code in ("model.unreachable", "model.timeout")
    ):
        return found
    if isinstance(error, ai.ModelAPIError) and not isinstance(error, ai.ModelConnectionError):
        return _answered(error, model, text)
    if isinstance(error, ai.ContentFilterError):
        return ModelError("model.refused", model=model)
    if isinstance(error, ai.UnexpectedModelBehavior) and not begun and "ended without" in text:
        return ModelError("model.empty", retryable=True, model=model)
    if begun and (found is not None or isinstance(error, httpx2.HTTPError)):
        if found is not None and found.code == "model.timeout":
            return ModelError("model.stalled", retryable=True, model=model)
        return ModelError("model.cut", retryable=True, model=model)
    return ModelError("model.failed", model=model, detail=text)


def _answered(error: ai.ModelAPIError, model: str, text: str) -> ModelError:
    """The provider answered with an error."""
    status = getattr(error, "status_code", 0)
    if status in (400, 413, 422) and _ANSWER.search(text):
        return ModelError("model.max_output", model=model, detail=text)
    overflow = _OVERFLOW.search(text)
    if isinstance(error, ai.ModelContextWindowExceededError) or (
        overflow and not isinstance(error, ai.ModelRateLimitError)
    ):
        return ModelError("model.overflow", model=model, detail=text)
    if isinstance(error, ai.ModelQuotaExceededError) or status == 402 or _QUOTA.search(text):
        return ModelError("model.quota", model=model, detail=text)
    if isinstance(error, ai.ModelRateLimitError) or status == 429:
        return ModelError(
            "model.rate_limited", retryable=True, model=model, retry_after=error.retry_after
        )
    if isinstance(error, ai.ModelAuthenticationError) or status in (401, 403) or _KEY.search(text):
        return ModelError("model.auth", model=model, detail=text)
    if isinstance(error, ai.ModelOverloadedError) or status == 529:
        return ModelError(
            "model.overloaded", retryable=True, model=model, retry_after=error.retry_after
        )
    if isinstance(error, ai.ModelUnavailableError | ai.ModelServerError) or status >= 500:
        return ModelError(
            "model.unavailable",
            retryable=True,
            model=model,
            status=status or 500,
            retry_after=error.retry_after,
        )
    if isinstance(error, ai.ModelNotFoundError) or status == 404:
        return ModelError("model.not_found", model=model, detail=text)
    return ModelError("model.rejected", model=model, detail=text)


def _transport(error: BaseException, model: str, address: str, proxy: str) -> ModelError | None:
    """The provider was not reached, or not as it should be."""
    causes = list(_chain(error))
    host = host_of(address)
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError) or "CERTIFICATE_VERIFY" in str(cause):
            reason = getattr(cause, "verify_message", "") or mask(str(cause))[:DETAIL]
            return ModelError(
                "model.certificate", model=model, host=host, detail=reason, certificate=""
            )
    for cause in causes:
        proxied = isinstance(cause, httpx2.ProxyError)
        if proxied or (isinstance(cause, ImportError) and "socks" in str(cause).lower()):
            detail = mask(str(cause))[:DETAIL]
            return ModelError("model.proxy", model=model, proxy=shown(proxy), detail=detail)
    for cause in causes:
        if isinstance(cause, httpx2.TimeoutException | TimeoutError):
            return ModelError("model.timeout", retryable=True, model=model, host=host)
    for cause in causes:
        if isinstance(cause, httpx2.TransportError | OSError):
            return _unreached(causes, model, proxy, host)
    if isinstance(error, ai.ModelConnectionError):
        return _unreached(causes, model, proxy, host)
    return None


def _unreached(causes: list[BaseException], model: str, proxy: str, host: str) -> ModelError:
    """No connection; through a proxy, the proxy is named."""
    refused = any(isinstance(c, httpx2.ConnectError) for c in causes)
    if refused and proxy:
        detail = mask(str(causes[-1]))[:DETAIL]
        return ModelError("model.proxy", model=model, proxy=shown(proxy), detail=detail)
    return ModelError("model.unreachable", retryable=True, model=model, host=host)


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    queue: list[BaseException] = [error]
    while queue:
        one = queue.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        queue += [c for c in (one.__cause__, one.__context__) if c is not None]
        if isinstance(one, BaseExceptionGroup):
            queue += cast("BaseExceptionGroup[Any]", one).exceptions


def _detail(error: BaseException) -> str:
    """The provider's own words, without wrapping and without secrets."""
    text = _message(getattr(error, "body", None)) or str(error) or type(error).__name__
    return " ".join(mask(text).split())[:DETAIL]


def _message(body: object) -> str:
    """The message in an error's body: ``{"error": {"message"}}``, ``{"message"}`` or text."""
    for _ in range(3):
        if isinstance(body, str):
            return body
        if isinstance(body, list) and body:
            body = cast("list[object]", body)[0]
        if not isinstance(body, dict):
            return ""
        fields = cast("dict[str, object]", body)
        body = fields.get("message") or fields.get("error") or fields.get("detail")
    return body if isinstance(body, str) else ""
