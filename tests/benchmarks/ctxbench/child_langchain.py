"""LangChain's SummarizationMiddleware on a stream, in the bench's environment; see ``wire``.

``before_model`` runs before each call, as its agents do; the model's answers carry the provider's
usage, which it relies on. Waits between its tries are not waited.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from langchain.agents.middleware.summarization import (  # type: ignore[import-not-found]
    SummarizationMiddleware,
)
from langchain_core.language_models.chat_models import (  # type: ignore[import-not-found]
    BaseChatModel,
)
from langchain_core.messages import (  # type: ignore[import-not-found]
    AIMessage,
    HumanMessage,
    RemoveMessage,
    ToolMessage,
)
from langchain_core.outputs import (  # type: ignore[import-not-found]
    ChatGeneration,
    ChatResult,
)

sys.path.insert(0, str(Path(__file__).parent))
import wire

TRIGGER = 0.8  # it has no default; agentscope's is taken
SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "tuned": {"keep": ("tokens", 0.1), "trim_tokens_to_summarize": None},
}


class Model(BaseChatModel):
    """The bench's model; its answers come over the pipe."""

    @property
    def _llm_type(self) -> str:
        return "bench"

    def _get_ls_params(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        return {"ls_provider": "bench"}

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
        text = "\n".join(str(m.content) for m in messages)
        answer = wire.ask({"summarise": text.split("<messages>")[-1]})
        if answer["outcome"] == "slow":
            raise TimeoutError("the model did not answer in time")
        if answer["outcome"] == "fail":
            raise ConnectionError("the model cannot be reached")
        reason = "length" if answer["outcome"] == "cut" else "stop"
        message = AIMessage(answer["flat"], response_metadata={"finish_reason": reason})
        return ChatResult(generations=[ChatGeneration(message=message)])


def piece(msg: Any) -> dict[str, Any]:
    text = msg.content if isinstance(msg.content, str) else str(msg.content)
    if msg.type == "tool":
        return wire.piece("tool", text, call_id=msg.tool_call_id)
    made = msg.additional_kwargs.get("lc_source") == "summarization"
    found = wire.piece("assistant" if msg.type == "ai" else "user", text, made=made)
    if msg.type == "ai":
        found["calls"] = [[c["id"], c["name"], c["args"]] for c in msg.tool_calls]
    return found


def main() -> None:
    start = wire.read()
    time.sleep = lambda _: None  # type: ignore[assignment]
    window = start["window"]
    setting = dict(SETTINGS[start["setting"]])
    if "keep" in setting:
        setting["keep"] = ("tokens", int(setting["keep"][1] * window))
    trigger = ("tokens", int(TRIGGER * window))
    middleware = SummarizationMiddleware(model=Model(), trigger=trigger, **setting)
    messages: list[Any] = []
    number = 0
    while (op := wire.read()) is not None:
        number += 1
        if "person" in op:
            messages.append(HumanMessage(op["person"], id=f"m{number}"))
        elif "call" in op:
            messages = _call(middleware, messages)
        else:
            messages += _answered(op["agent"], op["usage"], number)


def _call(middleware: Any, messages: list[Any]) -> list[Any]:
    error, compacted = None, False
    started = time.process_time()
    try:
        update = middleware.before_model({"messages": messages}, None)
        if update:
            compacted = True
            messages = [m for m in update["messages"] if not isinstance(m, RemoveMessage)]
    except Exception as failure:
        error = repr(failure)[:200]
    seconds = time.process_time() - started
    wire.prompt([piece(m) for m in messages], seconds=seconds, compacted=compacted, error=error)
    return messages


def _answered(event: dict[str, Any], usage: list[int], number: int) -> list[Any]:
    calls = [{"id": i, "name": n, "args": a} for i, n, a in event["calls"]]
    answer = AIMessage(
        event["text"],
        id=f"m{number}",
        tool_calls=calls,
        usage_metadata={
            "input_tokens": usage[0],
            "output_tokens": usage[1],
            "total_tokens": sum(usage),
        },
        response_metadata={"model_provider": "bench"},
    )
    found: list[Any] = [answer]
    for place, ((call_id, name, _), (_, text, state)) in enumerate(
        zip(event["calls"], event["results"], strict=True)
    ):
        status = "success" if state == "success" else "error"
        found.append(
            ToolMessage(
                text, tool_call_id=call_id, name=name, id=f"m{number}-{place}", status=status
            )
        )
    return found


if __name__ == "__main__":
    main()
