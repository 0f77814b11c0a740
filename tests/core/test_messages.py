"""Messages and blocks by themselves."""

from __future__ import annotations

import pickle
from copy import copy

from desktop_app.core.messages import Msg, TextBlock


def test_a_message_made_of_what_is_known_is_one_like_any_other() -> None:
    content = [TextBlock(id="b1", text="hello", created_at=None)]
    fields = {"name": "n", "role": "user", "id": "m1", "content": content, "created_at": "now"}
    metadata = {"slipway": {"kind": "hint"}}
    made = Msg.made(**fields, metadata=metadata)
    usual = Msg.model_validate({**fields, "metadata": metadata})
    assert made == usual == Msg.model_construct(**fields, metadata=metadata)
    assert made.content is content
    assert made.to_json() == usual.to_json()
    assert made.model_fields_set == usual.model_fields_set
    assert made.model_extra == usual.model_extra == {}
    assert copy(made) == made.model_copy(deep=True) == pickle.loads(pickle.dumps(made)) == usual
    made.usage, other = None, Msg.made(**fields, metadata=metadata)
    other.finished_reason = "completed"
    assert made == usual != other  # nothing is shared but what was handed in
