"""The list of models."""

from __future__ import annotations

import subprocess
import sys

import pytest

from desktop_app.core.errors import ModelError
from desktop_app.core.models.base import ModelInfo
from desktop_app.core.models.definitions import ModelDefinition, encoding_of
from desktop_app.core.models.registry import DEFAULT_MODEL, Models
from desktop_app.core.models.scripted import ScriptedModel


def test_the_guide_is_always_there_and_the_default():
    models = Models()
    assert [m.id for m in models.list()] == ["guide"]
    guide = models.get(DEFAULT_MODEL)
    assert guide.info == models.info("guide")
    assert models.get("guide") is guide


def test_an_unknown_model_is_an_error_that_names_it():
    with pytest.raises(ModelError) as error:
        Models().get("openai:gpt-9")
    assert error.value.code == "model.unknown"
    assert error.value.params == {"model": "openai:gpt-9"}


def test_models_are_added_replaced_and_taken_out():
    models = Models()
    info = ModelInfo(id="x", name="X", window=1000, max_output=100)
    models.add(info, lambda: ScriptedModel(info=info))
    assert [m.id for m in models.list()] == ["guide", "x"]
    first = models.get("x")
    models.add(info, lambda: ScriptedModel(info=info))
    assert models.get("x") is not first
    models.remove("x")
    models.remove("x")
    with pytest.raises(ModelError):
        models.get("x")


def test_listing_models_loads_no_rules():
    """Start-up pays for what is used only."""
    code = (
        "import sys; from desktop_app.core.models.registry import Models; Models().list();"
        "print([m for m in sys.modules if 'guide.lexicon' in m or 'guide.plans' in m])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("gpt-5-mini", "o200k_base"),
        ("openai/gpt-6.1-sol", "o200k_base"),
        ("ft:gpt-4o-2024:org::1", "o200k_base"),
        ("o3", "o200k_base"),
        ("gpt-oss-20b", "o200k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("claude-opus-4-7", None),
        ("my-gpt-5-clone", None),
    ],
)
def test_a_model_s_own_encoding_is_known_by_its_name(model: str, encoding: str | None) -> None:
    assert encoding_of(model) == encoding
    definition = ModelDefinition("x:m", "openai", model, "M")
    assert definition.info().tokenizer == encoding
