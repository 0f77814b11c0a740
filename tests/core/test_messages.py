"""Messages and blocks by themselves."""

from __future__ import annotations

import pickle
from copy import copy
from typing import Any

import pytest

from desktop_app.core.messages import Msg, TextBlock, ToolCallBlock, ToolResultBlock, WireModel

BLOCK: dict[str, Any] = {"id": "b1", "created_at": "now"}
TEXT = TextBlock(id="t1", text="hello", created_at=None)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (Msg, {"id": "m1", "name": "n", "role": "user", "content": [TEXT], "created_at": None,
               "metadata": {"slipway": {"kind": "hint"}}}),
        (TextBlock, {**BLOCK, "text": "hello"}),
        (ToolCallBlock, {**BLOCK, "name": "Read", "suggested_rules": []}),
        (ToolResultBlock, {**BLOCK, "name": "Read", "output": [TEXT], "metadata": {}}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("extra", [{}, {"op_id": "r1:1:0"}])
def test_what_is_made_of_fields_that_are_right_is_one_like_any_other(
    kind: type[WireModel], fields: dict[str, Any], extra: dict[str, Any]
) -> None:
    made, usual = kind.made(dict(extra), **fields), kind(**fields, **extra)
    assert made == usual
    assert made.to_json() == usual.to_json()  # in the same order
    assert made.model_extra == usual.model_extra == extra
    assert kind.model_validate(made) is made
    assert copy(made) == made.model_copy(deep=True) == pickle.loads(pickle.dumps(made)) == usual


def test_nothing_is_shared_between_messages_but_what_is_handed_in() -> None:
    content: list[Any] = [TEXT]
    fields: Any = {"name": "n", "role": "user", "id": "m1", "created_at": None, "metadata": {}}
    made, other = Msg.made(content=content, **fields), Msg.made(content=[TEXT], **fields)
    other.finished_reason = "completed"
    other.content.append(TEXT)
    setattr(other, "added", 1)  # noqa: B010 - a field that is not declared
    assert made == Msg(content=content, **fields)
    assert made.content is content
