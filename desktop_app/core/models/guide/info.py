"""What is known of the Guide without loading its rules."""

from __future__ import annotations

from desktop_app.core.models.base import ModelInfo

GUIDE = ModelInfo(
    id="guide",
    name="Guide",
    window=32_768,
    max_output=4_096,
    window_source="built_in",
    offline=True,
    is_ai=False,
)
