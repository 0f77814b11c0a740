"""A folder of a few files that every task of the Guide can be tried on."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop_app.core.models.guide import GuideModel
from tests.helpers.models import Folder

FILES = {
    "contract.txt": (
        "This contract is between A and B.\n"
        "A late fee applies after 30 days.\n"
        "Liability is limited.\nLiability ends in 2026.\n"
    ),
    "notes/meeting.md": (
        "# Meeting\n\nWe agreed on a late fee of 2 %.\nThe budget is 4,000 euro.\n\n"
        "## Next\n\n- send the offer\n- the late fee starts in May\n"
    ),
    "notes/会议记录.md": "# 会议记录\n\n滞纳金从五月开始。\n预算是四千欧元。\n",
    "data/march.csv": "day,city,amount\n1,Lyon,10\n2,Paris,20\n3,Lyon,30\n",
    "data/april.csv": "day,city,amount\n1,Lyon,10\n2,Paris,25\n3,Lyon,30\n4,Nice,5\n",
    "inbox/2026-03-offer.txt": "An offer.\n",
    "inbox/2026-04-list.csv": "a,b\n1,2\n",
    "inbox/scan-2026-04-02.png": "not really a picture\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    root = tmp_path / "work"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", newline="\n")
    return Folder(root)


@pytest.fixture
def guide() -> GuideModel:
    return GuideModel(pace=0)
