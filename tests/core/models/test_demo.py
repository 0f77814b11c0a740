"""The folder to try things on is what the tour and the help count on."""

from __future__ import annotations

import csv
import subprocess
import sys

from desktop_app.core import resources

DEMO = resources.path("demo", "field-sales")


def test_it_is_small_and_has_every_kind_of_file():
    files = [p for p in DEMO.rglob("*") if p.is_file()]
    assert sum(p.stat().st_size for p in files) < 1_500_000
    assert {p.suffix for p in files} >= {".csv", ".md", ".txt", ".py", ".png"}
    assert any("客户" in p.name for p in files)


def test_each_month_is_long_enough_to_leave_the_context():
    months = sorted((DEMO / "sales").glob("*.csv"))
    assert len(months) == 4
    for path in months:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) >= 2000
        assert all(float(row["amount"]) > 0 for row in rows)
        assert all(row["date"].startswith(path.name[:7]) for row in rows)


def test_its_script_works():
    script, data = DEMO / "scripts/monthly_totals.py", DEMO / "sales"
    done = subprocess.run(
        [sys.executable, str(script), str(data)], capture_output=True, text=True, check=True
    )
    assert "2026-03-march: 2310 orders" in done.stdout


def test_its_pictures_are_pictures():
    for path in DEMO.rglob("*.png"):
        assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
