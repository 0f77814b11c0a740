"""The model: rows by number and id, lazily built."""

from __future__ import annotations

import pytest

from desktop_app.ui.transcript import (
    HeaderRow,
    MarkdownRow,
    NoticeRow,
    RowRole,
    ToolRow,
    TranscriptModel,
    UserRow,
)
from tests.ui.transcript.samples import History, english


def ids(model: TranscriptModel) -> list[str]:
    return [model.row(n).id for n in range(model.rowCount())]


def test_it_is_a_proper_item_model(qtmodeltester) -> None:
    model = TranscriptModel()
    qtmodeltester.check(model)
    model.set_rows(english())
    model.append(UserRow("x", "1", "hello"))
    model.prepend([UserRow("o", "0", "older")])
    model.extend_text("m3", " more")
    model.remove("u2")
    qtmodeltester.check(model)


def test_rows_are_found_by_id_after_any_change() -> None:
    model = TranscriptModel()
    model.set_rows([UserRow("b", "", "b"), UserRow("c", "", "c")])
    model.prepend([UserRow("a", "", "a")], has_older=True)
    model.append(MarkdownRow("d", "d"))
    model.insert(1, NoticeRow("n", "info", "n"))
    model.remove("b")
    assert ids(model) == ["a", "n", "c", "d"]
    assert [model.index_of(i) for i in ids(model)] == [0, 1, 2, 3]
    assert model.index_of("b") == -1
    assert model.has_older
    model.truncate(2)
    assert ids(model) == ["a", "n"]
    assert model.index_of("c") == -1


def test_a_source_is_built_only_where_asked() -> None:
    source = History(5000)
    model = TranscriptModel()
    model.set_rows([UserRow("new", "", "x")], source)
    assert model.rowCount() == 5001
    assert source.built == 0
    assert model.hint(7) == len(source.texts[7])
    assert source.built == 0
    assert model.row(4999).id == "s4999"
    assert model.row(5000).id == "new"
    assert source.built == 1
    assert model.index_of("s4999") == 4999
    for n in range(2000):
        model.row(n)
    assert model.row(0).id == "s0"


def test_a_source_keeps_its_rows_through_changes() -> None:
    model = TranscriptModel()
    model.set_rows([], History(6))
    model.prepend([UserRow("p", "", "p")])
    model.remove(model.row(3).id)
    model.insert(2, UserRow("i", "", "i"))
    assert ids(model) == ["p", "s0", "i", "s1", "s3", "s4", "s5"]
    assert [model.index_of(i) for i in ids(model)] == list(range(7))


def test_growing_text_goes_where_it_belongs() -> None:
    model = TranscriptModel()
    model.set_rows(
        [MarkdownRow("m", "a", growing=True), ToolRow("t", "Shell", "x", "", "running"),
         HeaderRow("h", "A", "", "")]
    )  # fmt: skip
    for row_id in ("m", "t", "h"):
        model.extend_text(row_id, "b")
    assert model.get("m").text == "ab"
    assert model.get("t").output == "b"
    assert model.get("h").thinking == "b"
    with pytest.raises(KeyError):
        model.extend_text("none", "x")


def test_rows_speak() -> None:
    model = TranscriptModel()
    model.set_rows(english())
    from PySide6.QtCore import Qt

    said = [
        model.data(model.index(n), Qt.ItemDataRole.AccessibleTextRole)
        for n in range(model.rowCount())
    ]
    assert said[1].startswith("You: Find the regions")
    assert said[3] == "Tool Read, Done, lines 1–400 of 48,212, data/sales/2025-09.csv"
    assert "Error: The model did not answer" in said[model.index_of("n1")]
    assert model.data(model.index(1), RowRole).id == "u1"
