"""The counter over whole sessions against a real tokenizer, on text that it was not fitted to.
``tests/benchmarks/bench_counter.py`` is the same with six tokenizers more."""

from __future__ import annotations

import pytest

from desktop_app.core.context.tokens import load_ranks
from desktop_app.core.models.base import ModelInfo
from tests.benchmarks.bench_counter import Found, session
from tests.benchmarks.contents import contents
from tests.benchmarks.ctxbench.truth import Scales


@pytest.mark.parametrize(
    ("model", "under", "off"),
    [
        ("openai:gpt-5", 0.02, 0.02),  # counted by its own ranks
        ("llama", 0.12, 0.05),  # by the prices of a family much like it
        ("x:a-model", 0.20, 0.08),  # by those of no family
    ],
)
def test_the_upper_estimate_is_never_under_the_truth_on_any_kind_of_content(
    model: str, under: float, off: float
) -> None:
    load_ranks(ModelInfo("o", "o", 1, 1, tokenizer="o200k_base"))
    scales, found, texts = Scales("o200k"), Found(), contents()
    for kind in texts:
        session(scales, model, kind, texts, found)
    assert found.steps == 12 * 24
    assert found.wrong == 0
    assert found.under <= under, found.where
    assert sum(found.errors) / found.steps <= off
