"""The gauge adds up, keeps the order and says in words what it shows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor

from desktop_app.ui import i18n
from desktop_app.ui.theme.tokens import CATEGORY_ORDER, LIGHT
from desktop_app.ui.widgets import ContextGauge, MiniBar, Ring, Sparkline, Usage
from desktop_app.ui.widgets.charts import mini_bar_token
from desktop_app.ui.widgets.usage import category_name, describe, segments

parts = st.dictionaries(st.sampled_from(CATEGORY_ORDER), st.integers(0, 200_000))


@given(parts, st.integers(1000, 1_000_000), st.integers(0, 300_000), st.integers(60, 900))
def test_segments_keep_order_lie_in_the_bar_and_none_is_lost(amounts, window, estimated, width):
    usage = Usage(window, amounts, estimated)
    found = segments(usage, width)
    shown = [s.category for s in found]
    assert shown == [c for c in CATEGORY_ORDER if amounts.get(c, 0) > 0]
    end = 0.0
    for segment in found:
        assert segment.x >= end - 1e-6
        assert segment.width >= 1 - 1e-6
        assert segment.x - 1e-6 <= segment.hatch_from <= segment.x + segment.width + 1e-6
        end = segment.x + segment.width
    assert end <= width + 1e-6


def test_estimated_tokens_are_the_tail():
    found = segments(Usage(1000, {"system": 100, "user": 100, "result": 200}, 250), 1000)
    solid = {s.category: round(s.hatch_from - s.x) for s in found}
    assert solid["system"] > 90
    assert 40 < solid["user"] < 60
    assert solid["result"] == 0


def grab(gauge: ContextGauge):
    return gauge.grab().toImage()


def bar(qtbot, usage: Usage, **options) -> ContextGauge:
    gauge = ContextGauge(thick=10, width=200, ground="surface", **options)
    gauge.resize(200, 14)
    qtbot.addWidget(gauge)
    gauge.set_usage(usage)
    return gauge


def test_colours_ticks_and_reserve_are_where_they_belong(qtbot):
    usage = Usage(1000, {"system": 200, "result": 300}, 0, 100, alert=650, danger=850)
    image = grab(bar(qtbot, usage))
    assert image.pixelColor(20, 7) == QColor(LIGHT["cat-system"])
    assert image.pixelColor(80, 7) == QColor(LIGHT["cat-result"])
    assert image.pixelColor(110, 7) == QColor(LIGHT["cat-free"])
    for x in (130, 170):
        assert image.pixelColor(x, 0) == QColor(LIGHT["text"]), "2 px beyond the bar"
    hatched = {image.pixelColor(x, 7).name() for x in range(182, 196)}
    assert len(hatched) > 2, "the reserve is hatched, not plain"


def test_how_much_it_may_be_is_a_band_that_passes_the_mark(qtbot):
    usage = Usage(1000, {"system": 600}, 0, 100, alert=650, danger=850, upper=700)
    image = grab(bar(qtbot, usage))
    band = {image.pixelColor(x, 7).name() for x in range(121, 138)}
    assert len(band) > 2, "hatched, not plain"
    assert image.pixelColor(139, 7) == QColor(LIGHT["muted"]), "its end is a line"
    assert image.pixelColor(145, 7) == QColor(LIGHT["cat-free"])
    assert bar(qtbot, usage).part_at(130) == "margin"
    assert usage.tone == "warning", "the colour goes by what the mark goes by"
    assert "At most 700: what the marks go by" in describe(usage)
    sure = Usage(1000, {"system": 600}, 0, 100, alert=650, upper=600)
    assert sure.tone == "accent-text"
    assert "most" not in describe(sure)
    assert bar(qtbot, sure).part_at(130) == "free"


def test_words_name_every_part_in_both_languages():
    usage = Usage(200_000, {"system": 3200, "result": 30_400}, 1200, 16_000)
    text = describe(usage)
    assert "33.6k of 200k tokens used, 17%" in text
    assert "1.2k of them estimated" in text
    assert text.index("System prompt: 3.2k") < text.index("Tool results: 30.4k")
    english = {c: category_name(c) for c in (*CATEGORY_ORDER, "reserve", "free")}
    i18n.set_language("zh_CN")
    assert all(category_name(c) != words for c, words in english.items())


def test_pointer_keys_and_accessible_words(qtbot):
    usage = Usage(1000, {"system": 200, "result": 300}, 0, 100)
    gauge = bar(qtbot, usage)
    assert gauge.part_at(10) == "system"
    assert gauge.part_at(80) == "result"
    assert gauge.part_at(140) == "free"
    assert gauge.part_at(195) == "reserve"
    with qtbot.waitSignal(gauge.clicked):
        qtbot.mouseClick(gauge, Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    with qtbot.waitSignal(gauge.clicked):
        qtbot.keyClick(gauge, Qt.Key.Key_Return)
    assert "System prompt: 200" in gauge.accessibleDescription()


def test_follows_in_a_moment_and_ends_exact(qtbot, theme):
    theme.set_reduced_motion(False)
    gauge = bar(qtbot, Usage(1000, {"system": 100}))
    gauge.show()
    target = Usage(1000, {"system": 500})
    gauge.set_usage(target)
    assert gauge._shown.total < 500
    qtbot.waitUntil(lambda: gauge._shown == target)


def test_nothing_is_drawn_for_no_window(qtbot):
    image = grab(bar(qtbot, Usage()))
    assert image.pixelColor(100, 7) == QColor(LIGHT["cat-free"])


def test_ring_tone_follows_the_marks(qtbot):
    ring = Ring()
    qtbot.addWidget(ring)
    for total, tone in ((400, "accent-text"), (660, "warning"), (900, "danger")):
        usage = Usage(1000, {"user": total}, 0, 0, 650, 850)
        assert usage.tone == tone
        ring.set_usage(usage)
        image = ring.grab().toImage()
        assert image.pixelColor(15, 6) == QColor(LIGHT[tone])
    assert "90%" in ring.toolTip()


def test_sparkline_spans_its_width_and_says_its_values(qtbot):
    line = Sparkline("Tokens")
    qtbot.addWidget(line)
    line.resize(100, 24)
    line.set_values([0, 5, 10])
    points = line.points()
    assert (points[0].x(), points[-1].x()) == (0, 100)
    assert points[-1].y() < points[1].y() < points[0].y()
    assert line.accessibleDescription() == "0, 5, 10"
    line.set_values([3])
    assert line.points() == []
    line.set_values([0, 0, 0])
    assert len({p.y() for p in line.points()}) == 1


def test_mini_bar_tones():
    assert mini_bar_token(0.9, context=False) == "accent-text"
    tones = [mini_bar_token(share, context=True) for share in (0.2, 0.65, 0.85)]
    assert tones == ["outline", "warning", "danger"]


def test_mini_bar_names_its_share(qtbot):
    bar = MiniBar("Load")
    qtbot.addWidget(bar)
    bar.set_share(0.42)
    assert bar.accessibleName() == "Load 42%"
