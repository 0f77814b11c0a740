"""AskUser: the agent asks the person; the run waits for the answer."""

from __future__ import annotations

from typing import Any, Literal, cast

from desktop_app.core.errors import ToolFailure

from .args import bad, schema, validate
from .base import ToolOutcome


class AskUser:
    """An external tool: a person answers. Answers are ``{"answers": [{"question", "selected": [],
    "other"?}]}``, in any order; the result's metadata carries them as AgentScope does."""

    name: str = "AskUser"
    description: str = (
        "Ask the person one to four questions with two to four choices each; they can always "
        "write something else instead. Use it when a decision is theirs and you cannot go on "
        "without it, not for what you can find out."
    )
    parameters: dict[str, Any] = schema(
        {
            "questions": {
                "type": "array",
                "minItems": 1,
                "maxItems": 4,
                "items": {
                    "type": "object",
                    "properties": {
                        "question": {"type": "string", "minLength": 1},
                        "header": {
                            "type": "string",
                            "minLength": 1,
                            "description": "A label of one to three words.",
                        },
                        "context": {
                            "type": "string",
                            "description": "What one needs to know to answer.",
                        },
                        "options": {
                            "type": "array",
                            "minItems": 2,
                            "maxItems": 4,
                            "items": {
                                "type": "object",
                                "properties": {
                                    "label": {"type": "string", "minLength": 1},
                                    "description": {"type": "string"},
                                    "preview": {"type": "string"},
                                },
                                "required": ["label", "description"],
                            },
                        },
                        "multi_select": {
                            "type": "boolean",
                            "description": "Whether several choices may be taken.",
                        },
                    },
                    "required": ["question", "header", "options"],
                },
            }
        },
        required=["questions"],
    )
    external: Literal[True] = True

    def questions(self, args: dict[str, Any]) -> list[dict[str, Any]]:
        """The checked questions; ToolFailure ``tool.bad_arguments``."""
        args = validate(self.name, self.parameters, args)
        questions = cast(list[dict[str, Any]], args["questions"])
        texts = [q["question"] for q in questions]
        if len(set(texts)) < len(texts):
            bad(self.name, "two questions are the same")
        for i, question in enumerate(questions):
            labels = [o["label"] for o in question["options"]]
            if len(set(labels)) < len(labels):
                bad(self.name, f"questions[{i}].options: two labels are the same")
        return questions

    def validate(self, args: dict[str, Any]) -> None:
        """ToolFailure ``tool.bad_arguments`` when the arguments make no question."""
        self.questions(args)

    def result(self, args: dict[str, Any], answer: dict[str, Any]) -> ToolOutcome:
        """The outcome of an answer; ToolFailure ``tool.bad_answer`` when it does not fit."""
        questions = self.questions(args)
        raw: Any = answer.get("answers")
        given: dict[Any, dict[str, Any]] = {}
        if isinstance(raw, list):
            items = cast(list[Any], raw)
            entries = [cast(dict[str, Any], a) for a in items if isinstance(a, dict)]
            given = {a.get("question"): a for a in entries}
        known = {q["question"] for q in questions}
        if not given or not set(given) <= known:
            raise ToolFailure("tool.bad_answer", "The answer names no question that was asked.")
        lines: list[str] = []
        clean: list[dict[str, Any]] = []
        for question in questions:
            entry = _answer(question, given.get(question["question"], {}))
            clean.append(entry)
            said = [*entry["selected"]]
            if entry.get("other"):
                said.append(f"(in their own words) {entry['other']}")
            lines.append(f"{question['question']} -> {'; '.join(said) or '(no answer)'}")
        return ToolOutcome("\n".join(lines), metadata={"answers": clean})


def _answer(question: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    labels = [o["label"] for o in question["options"]]
    raw: Any = given.get("selected") or []
    selected = [s for s in labels if s in raw] if isinstance(raw, list) else []
    if len(selected) != len(cast(list[Any], raw)):
        raise ToolFailure("tool.bad_answer", "The answer holds a choice that was not offered.")
    if len(selected) > 1 and not question.get("multi_select"):
        raise ToolFailure("tool.bad_answer", "Only one choice may be taken.")
    entry: dict[str, Any] = {"question": question["question"], "selected": selected}
    if isinstance(given.get("other"), str) and given["other"].strip():
        entry["other"] = given["other"]
    return entry
