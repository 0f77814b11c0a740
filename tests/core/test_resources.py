"""The files that ship with the program are found."""

from __future__ import annotations

import hashlib

from desktop_app.core import resources


def test_the_tokenizer_ranks_ship_with_the_program_unchanged() -> None:
    ranks = resources.path("tokenizers", "fb374d419588a4632f3f557e76b4b70aebbca790")
    digest = hashlib.sha256(ranks.read_bytes()).hexdigest()
    assert digest == "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
