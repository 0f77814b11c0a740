"""The one style sheet, generated from the tokens: frames, padding and radii of Qt's own widgets.

What a palette can say is in the palette, what must be exact is painted in ``ui/widgets``. Variants
are picked by the dynamic properties ``variant``, ``ground`` and ``invalid``, never by a sheet on a
single widget (that costs a polish of its whole subtree).
"""

from __future__ import annotations

import string
from typing import Protocol


class Values(Protocol):
    """What the sheet takes from a theme: lengths scaled by font size, colours as ``#rrggbb``."""

    def px(self, n: float) -> int: ...

    def hex(self, token: str) -> str: ...


class _Sheet(string.Template):
    """``$token`` and ``${12}`` (a length) in one template."""

    idpattern = r"[a-z0-9][a-z0-9-]*"


class _Filled(dict[str, str]):
    def __init__(self, theme: Values) -> None:
        super().__init__()
        self._theme = theme

    def __missing__(self, name: str) -> str:
        if name.isdigit():
            return f"{self._theme.px(int(name))}px"
        return self._theme.hex(name)


def qss(theme: Values) -> str:
    """The application's style sheet for ``theme``."""
    return _Sheet(_TEMPLATE).substitute(_Filled(theme))


_TEMPLATE = """
QWidget[ground="bg"] { background: $bg; }
QWidget[ground="surface"] { background: $surface; }
QWidget[ground="raised"] { background: $raised; }
QWidget[ground="sunken"] { background: $sunken; }

QToolTip {
  background: $raised; color: $text; border: 1px solid $border-strong;
  padding: ${4} ${8}; font-size: ${12};
}

QPushButton {
  background: $raised; color: $text; border: 1px solid $border-strong;
  border-radius: ${6}; padding: 0 ${11}; min-height: ${26}; font-weight: 500;
}
QPushButton:hover { background: $hover; }
QPushButton:pressed { background: $pressed; }
QPushButton:focus { border-color: $focus; }
QPushButton:disabled { background: transparent; color: $disabled; border-color: $border; }

QToolButton { background: transparent; border: none; border-radius: ${6}; padding: ${4}; }
QToolButton:hover { background: $hover; }
QToolButton:pressed { background: $pressed; }
QToolButton:checked { background: $selection; }
QToolButton:focus { border: 1px solid $focus; }

QLineEdit, QComboBox, QSpinBox, QDoubleSpinBox {
  background: $raised; color: $text; border: 1px solid $border-strong;
  border-radius: ${6}; padding: 0 ${7}; min-height: ${26};
  selection-background-color: $text-selection; selection-color: $text;
}
QPlainTextEdit, QTextEdit {
  background: $raised; color: $text; border: 1px solid $border-strong;
  border-radius: ${6}; padding: ${4};
  selection-background-color: $text-selection; selection-color: $text;
}
QLineEdit:focus, QComboBox:focus, QSpinBox:focus, QDoubleSpinBox:focus,
QPlainTextEdit:focus, QTextEdit:focus { border: 2px solid $focus; }
QLineEdit:focus { padding: 0 ${6}; min-height: ${24}; }
QComboBox { padding-left: ${9}; }
QComboBox:focus, QSpinBox:focus, QDoubleSpinBox:focus { padding: 0 ${6}; min-height: ${24}; }
QComboBox:focus { padding-left: ${8}; }
QPlainTextEdit:focus, QTextEdit:focus { padding: ${3}; }
QLineEdit[invalid="true"] { border-color: $danger; }
QLineEdit:disabled, QComboBox:disabled, QSpinBox:disabled, QPlainTextEdit:disabled {
  background: transparent; color: $disabled; border-color: $border;
}
QLineEdit[bare="true"], QPlainTextEdit[bare="true"], QTextEdit[bare="true"] {
  background: transparent; border: none; border-radius: 0; padding: 0; min-height: 0;
}
QComboBox::drop-down { border: none; width: ${20}; }
QComboBox QAbstractItemView {
  background: $raised; border: 1px solid $border-strong; padding: ${4}; outline: none;
}

QSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::up-button,
QDoubleSpinBox::down-button { width: 0; border: none; }
QSizeGrip { image: none; width: 0; height: 0; }

QRadioButton, QCheckBox { spacing: ${8}; }
QRadioButton::indicator {
  width: ${13}; height: ${13}; border: 1px solid $outline; border-radius: ${7}; background: $raised;
}
QRadioButton::indicator:checked {
  width: ${7}; height: ${7}; border: ${4} solid $accent; background: $accent-fg;
}

QMenu {
  background: $raised; color: $text; border: 1px solid $border-strong; padding: ${4};
}
QMenu::item { min-height: ${18}; padding: ${4} ${24} ${4} ${8}; border-radius: ${5}; }
QMenu::item:selected { background: $selection; }
QMenu::item:disabled { color: $disabled; }
QMenu::icon { padding-left: ${6}; }
QMenu::separator { height: 1px; background: $border; margin: ${4} ${6}; }
QMenuBar { background: $bg; color: $text; border: none; }
QMenuBar::item { padding: ${4} ${8}; background: transparent; border-radius: ${5}; }
QMenuBar::item:selected { background: $hover; }
QMenuBar::item:pressed { background: $pressed; }

QAbstractItemView {
  background: $surface; border: none; outline: none;
  selection-background-color: $selection; selection-color: $text;
}
QListView[floats="true"] {
  background: $raised; color: $text; border: 1px solid $border-strong; padding: ${4};
}
QListView[floats="true"]::item { min-height: ${24}; padding: 0 ${6}; }
QTreeView[ownGround="true"] { selection-background-color: transparent; }
QHeaderView { background: $bg; border: none; }
QHeaderView::section {
  background: $bg; color: $muted; border: none; border-bottom: 1px solid $border;
  min-height: ${27}; padding: 0 ${8}; font-size: ${12}; font-weight: 500;
}
QTableView QHeaderView::section:first { padding-left: ${16}; }
QTableView QHeaderView::section:last { padding-right: ${12}; }

QSplitter::handle { background: $border; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }

QScrollBar { background: transparent; border: none; }
QScrollBar:vertical { width: ${10}; margin: 0; }
QScrollBar:horizontal { height: ${10}; margin: 0; }
QScrollBar::handle { background: $border-strong; border-radius: ${3}; }
QScrollBar::handle:hover { background: $outline; }
QScrollBar::handle:vertical { min-height: ${32}; margin: ${2}; }
QScrollBar::handle:horizontal { min-width: ${32}; margin: ${2}; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea::corner { background: transparent; }

QDialog { background: $surface; }
QStatusBar { background: $bg; color: $muted; border-top: 1px solid $border; }
QStatusBar::item { border: none; }
QLabel[tone="muted"] { color: $muted; }
QLabel[tone="faint"] { color: $faint; }
QLabel[tone="danger"] { color: $danger; }
QLabel[tone="warning"] { color: $warning; }
QLabel[tone="success"] { color: $success; }
QFrame[line="true"] { background: $border; border: none; max-height: 1px; min-height: 1px; }
"""
