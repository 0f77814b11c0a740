"""What tools and skills take of the window now, by the same count as the gauge and the X-ray."""

from __future__ import annotations

from desktop_app.core.context.types import Breakdown

_CATEGORIES = ("tools", "mcp", "skills")


class Costs:
    """``total`` tokens go into every request for tools, servers and skills; ``measured`` says
    whether the provider counted them. What is not in the prompt has no cost here: None."""

    def __init__(self, breakdown: Breakdown | None = None) -> None:
        every = [] if breakdown is None else [*breakdown.items, *breakdown.rest]
        items = [i for i in every if i.category in _CATEGORIES]
        self.known = breakdown is not None
        self.total = sum(i.tokens for i in items)
        self.measured = bool(items) and all(i.measured for i in items)
        self._one = {i.ref: i.tokens for i in items if i.count == 1}
        self._built_in = {i.ref: i.tokens for i in items if i.count == 1 and i.category == "tools"}

    def tools(self) -> dict[str, int]:
        """The built-in tools in the prompt, by name."""
        return dict(self._built_in)

    def tool(self, name: str) -> int | None:
        """Of a tool, by the name that the model calls it by."""
        return self._one.get(name)

    def skill(self, name: str) -> int | None:
        """Of a skill's line in the prompt."""
        return self._one.get(f"skill:{name}")
