"""The models that there are: the Guide always, others as providers add them."""

from __future__ import annotations

from collections.abc import Callable

from desktop_app.core.errors import ModelError

from .base import ChatModel, ModelInfo
from .guide.info import GUIDE

DEFAULT_MODEL = "guide"


def _guide() -> ChatModel:
    from .guide import GuideModel

    return GuideModel()


class Models:
    """Models by id. What a model needs is imported when it is first asked for."""

    def __init__(self) -> None:
        self._infos: dict[str, ModelInfo] = {}
        self._makers: dict[str, Callable[[], ChatModel]] = {}
        self._made: dict[str, ChatModel] = {}
        self.add(GUIDE, _guide)

    def add(self, info: ModelInfo, make: Callable[[], ChatModel]) -> None:
        """Register a model, in place of one with the same id."""
        self._infos[info.id] = info
        self._makers[info.id] = make
        self._made.pop(info.id, None)

    def remove(self, model_id: str) -> None:
        """Take a model out; nothing happens when it is not there."""
        for table in (self._infos, self._makers, self._made):
            table.pop(model_id, None)

    def list(self) -> list[ModelInfo]:
        """All models, in the order of their registration."""
        return [*self._infos.values()]

    def info(self, model_id: str) -> ModelInfo:
        """What is known of a model. ModelError ``model.unknown``."""
        if (info := self._infos.get(model_id)) is None:
            raise ModelError("model.unknown", model=model_id)
        return info

    def get(self, model_id: str) -> ChatModel:
        """The model itself, the same object each time. ModelError ``model.unknown``."""
        if (made := self._made.get(model_id)) is not None:
            return made
        self.info(model_id)
        made = self._made[model_id] = self._makers[model_id]()
        return made
