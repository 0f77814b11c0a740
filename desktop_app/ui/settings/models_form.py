"""The fields of one model: provider, address, key, name, window, price and what it can do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QCompleter,
    QHBoxLayout,
    QLineEdit,
    QListView,
    QStyledItemDelegate,
    QVBoxLayout,
    QWidget,
)

from desktop_app.core.models.base import EFFORTS, LimitSource, Price
from desktop_app.core.models.catalogue import Known
from desktop_app.core.models.definitions import (
    ASSUMED_WINDOW,
    MIN_WINDOW,
    ModelDefinition,
)
from desktop_app.core.models.library import Listed
from desktop_app.core.models.providers import BY_ID, PROVIDERS, with_scheme
from desktop_app.ui.i18n import mark, tr
from desktop_app.ui.widgets import Button, Choice, Field, Label, Switch
from desktop_app.ui.widgets.base import Text, follow
from desktop_app.ui.widgets.dialogs import FactRow

SOURCES: dict[str, str] = {
    "user": mark("set by you"),
    "error": mark("from an error of the provider"),
    "provider": mark("from the provider's list"),
    "catalogue": mark("from the catalogue"),
    "assumed": mark("assumed: the provider does not say"),
}
_EFFORT_WORDS = {"low": mark("Low"), "medium": mark("Medium"), "high": mark("High")}


@dataclass(frozen=True, slots=True)
class Entered:
    """What stands in the fields, the key too: while the dialog is open, and nowhere else."""

    provider: str
    texts: tuple[str, ...]
    effort: str
    fallback: str
    images: bool
    source: LimitSource = field(default="assumed", compare=False)


class ModelForm(QWidget):
    """Shows a definition and gives the one that its fields describe. ``listWanted`` asks for the
    provider's models, ``modelChosen(provider, model)`` for what is known of one,
    ``keysWanted`` for where keys are kept."""

    listWanted = Signal()
    modelChosen = Signal(str, str)
    keysWanted = Signal()
    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._one: ModelDefinition | None = None
        self._source: LimitSource = "assumed"
        self._names: dict[str, Listed] = {}
        self._rows = QVBoxLayout(self)
        follow(self._rows, setContentsMargins=(0, 0, 0, 0), setSpacing=8)
        self._build_service()
        self._build_model()
        for one in (self.address, self.key, self.model, self.name, self.window_size):
            one.edit.textEdited.connect(self._edited)

    # -- building ------------------------------------------------------------------------------

    def _build_service(self) -> None:
        self.provider = Choice(lambda: tr("Provider"))
        choices: list[tuple[str, Text]] = [(p.id, p.name) for p in PROVIDERS]
        self.provider.set_choices(choices, "openai")
        self.provider.chosen.connect(self._provider_chosen)
        self._row(lambda: tr("Provider"), self.provider)
        self.address = Field(
            lambda: tr("Address"),
            placeholder=lambda: BY_ID[self.provider.value()].address or "https://…/v1",
        )
        self._row(lambda: tr("Address"), self.address)
        self.key = Field(lambda: tr("Key"))
        self.key.edit.setEchoMode(QLineEdit.EchoMode.Password)
        self.key_note = Label("", role="caption", tone="faint", wrap=True)
        follow(self.key_note, setMinimumHeight=30)  # two lines: it comes after the dialog
        self.keys = Button(lambda: tr("Keys…"), glyph="key-round")
        self.keys.clicked.connect(self.keysWanted.emit)
        self._row(lambda: tr("Key"), _line(self.key, self.keys), self.key_note)

    def _build_model(self) -> None:
        self._build_name()
        self._build_sizes()
        self._build_price()
        self._build_answering()

    def _build_name(self) -> None:
        """Which model it is, and what it is called here."""
        self.model = Field(
            lambda: tr("Model"), placeholder=lambda: BY_ID[self.provider.value()].example
        )
        self.list = Button(lambda: tr("List models"), glyph="list")
        self.list.clicked.connect(self.listWanted.emit)
        line = _line(self.model, self.list)
        self._row(lambda: tr("Model"), line)
        self.model.edit.editingFinished.connect(self._model_entered)
        self.name = Field(lambda: tr("Name"), placeholder=lambda: self.model.text())
        self._row(lambda: tr("Name"), self.name)

    def _build_sizes(self) -> None:
        self.window_size = Field(lambda: tr("Context window"))
        self.window_note = Label("", role="caption", tone="faint")
        self._row(lambda: tr("Context window"), self.window_size, self.window_note)
        self.longest = Field(lambda: tr("Longest answer"), placeholder=self._longest_hint)
        note = _note(lambda: tr("In tokens. That much of the window is kept free for it."))
        self._row(lambda: tr("Longest answer"), self.longest, note)

    def _build_price(self) -> None:
        self.price_in = Field(
            lambda: tr("Dollars for a million tokens in"), placeholder=lambda: tr("in")
        )
        self.price_out = Field(
            lambda: tr("Dollars for a million tokens out"), placeholder=lambda: tr("out")
        )
        prices = _line(self.price_in, self.price_out)
        note = _note(lambda: tr("US dollars for a million tokens: in, out."))
        self._row(lambda: tr("Price"), prices, note)

    def _build_answering(self) -> None:
        """How it answers, and who does when it cannot."""
        self.effort = Choice(lambda: tr("Thinking effort"))
        efforts: list[tuple[str, Text]] = [("", lambda: tr("As the provider sets it"))]
        for effort in EFFORTS:
            efforts.append((effort, lambda e=effort: tr(_EFFORT_WORDS[e])))
        self.effort.set_choices(efforts)
        self._row(lambda: tr("Thinking effort"), self.effort)
        self.fallback = Choice(lambda: tr("Stand-in"))
        self.fallback_note = _note(lambda: tr("Answers for one turn when this model cannot."))
        self._row(lambda: tr("Stand-in"), self.fallback, self.fallback_note)
        self.images = Switch(lambda: tr("Takes images"))
        holder = QWidget()
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.images)
        row.addStretch(1)
        holder.setFocusProxy(self.images)
        self._row(lambda: tr("Images"), holder)

    def _row(self, label: Text, control: QWidget, note: QWidget | None = None) -> None:
        if note is None:
            self._rows.addWidget(FactRow(label, control))
            return
        holder = QWidget()
        column = QVBoxLayout(holder)
        follow(column, setContentsMargins=(0, 0, 0, 0), setSpacing=2)
        column.addWidget(control)
        column.addWidget(note)
        holder.setFocusProxy(control)
        self._rows.addWidget(FactRow(label, holder))

    # -- showing -------------------------------------------------------------------------------

    def show_model(
        self, one: ModelDefinition, others: Sequence[tuple[str, str]], *, key_note: str
    ) -> None:
        """Fill the fields. ``others`` are (id, name) of possible stand-ins; ``key_note`` says
        where the key lies. The key itself is never shown."""
        self._one, self._source = one, one.window_source
        self._names = {}
        self.provider.set_value(one.provider)
        self.address.edit.setText(one.address)
        self.key.edit.clear()
        self.key_note.set_source(key_note)
        self.model.edit.setText(one.model)
        self.name.edit.setText(one.name if one.name != one.model else "")
        self.window_size.edit.setText(str(one.window))
        own = one.max_output != _longest(one.window) and bool(one.id)
        self.longest.edit.setText(str(one.max_output) if own else "")
        self._show_price(one.price)
        self.effort.set_value(one.effort or "")
        stand_ins: list[tuple[str, Text]] = [("", lambda: tr("None")), *others]
        self.fallback.set_choices(stand_ins, one.fallback)
        self.images.setChecked(one.images)
        for entry in (self.address, self.model, self.window_size, self.longest, self.price_in):
            entry.set_error("")
        self._show_hints()

    def _show_price(self, price: Price | None) -> None:
        self.price_in.edit.setText(f"{price.input:g}" if price else "")
        self.price_out.edit.setText(f"{price.output:g}" if price else "")

    def _show_hints(self) -> None:
        for entry in (self.address, self.model, self.name, self.longest):
            entry.retranslate()
        source = SOURCES.get(self._source, SOURCES["assumed"])
        self.window_note.set_source(lambda: tr(source))

    def _provider_chosen(self, provider: str) -> None:
        self.images.setChecked(BY_ID[provider].images)
        self._names = {}
        self._edited()
        if self.model.text().strip():
            self.modelChosen.emit(provider, self.model.text().strip())

    def _edited(self) -> None:
        if self.sender() is self.window_size.edit:
            self._source = "user"
        self._show_hints()
        self.changed.emit()

    def _model_entered(self) -> None:
        name = self.model.text().strip()
        if name and self._one is not None and name != self._one.model:
            self.modelChosen.emit(self.provider.value(), name)

    def show_list(self, listed: Sequence[Listed]) -> None:
        """Offer the provider's models while the name is typed, and now."""
        self._names = {m.name: m for m in listed}
        completer = QCompleter(sorted(self._names), self.model.edit)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        popup = _Offered()
        completer.setPopup(popup)  # which gives it a delegate that knows no style sheet
        popup.setItemDelegate(QStyledItemDelegate(popup))
        popup.setProperty("floats", True)
        completer.activated.connect(lambda _name: self._model_entered())
        self.model.edit.setCompleter(completer)
        self.model.edit.setFocus()
        if self.model.text() not in self._names:
            completer.setCompletionPrefix(self.model.text())
        completer.complete()

    def show_known(self, model: str, known: Known) -> None:
        """What the catalogue says of the model in the field; the person's own numbers stay."""
        if model != self.model.text().strip():
            return
        listed = self._names.get(model)
        if self._source != "user":
            if listed is not None and listed.window is not None:
                self._set_window(listed.window, "provider")
            elif known.window is not None:
                self._set_window(known.window, "catalogue")
            else:
                self._set_window(ASSUMED_WINDOW, "assumed")
        if known.price is not None:
            self._show_price(known.price)
            self._priced = known.price
        self._show_hints()

    _priced: Price | None = None

    def _set_window(self, window: int, source: LimitSource) -> None:
        self.window_size.edit.setText(str(window))
        self._source = source

    # -- keeping -------------------------------------------------------------------------------

    def _fields(self) -> tuple[Field, ...]:
        named = (self.address, self.key, self.model, self.name, self.window_size, self.longest)
        return (*named, self.price_in, self.price_out)

    def entered(self) -> Entered:
        """What stands in the fields now."""
        return Entered(
            self.provider.value(),
            tuple(f.text() for f in self._fields()),
            self.effort.value(),
            self.fallback.value(),
            self.images.isChecked(),
            self._source,
        )

    def enter(self, kept: Entered) -> None:
        """Put it into the fields again, over the model that is shown."""
        self.provider.set_value(kept.provider)
        for one, text in zip(self._fields(), kept.texts, strict=True):
            one.edit.setText(text)
        self.effort.set_value(kept.effort)
        self.fallback.set_value(kept.fallback)
        self.images.setChecked(kept.images)
        self._source = kept.source
        self._show_hints()

    # -- reading -------------------------------------------------------------------------------

    def definition(self) -> ModelDefinition | None:
        """What the fields describe, or None: then the field that will not do says why."""
        address, model = self._address(), self.model.text().strip()
        spec = BY_ID[self.provider.value()]
        window, price = self._number(self.window_size), self._read_price()
        web = address.startswith(("http://", "https://"))
        wanted = not address and not spec.address
        odd = wanted or (address and not web)
        self.address.set_error(tr("An address begins with http:// or https://.") if odd else "")
        self.model.set_error("" if model else tr("The model's name is needed."))
        small = window is None or window < MIN_WINDOW
        self.window_size.set_error(
            tr("A number of tokens, {n} at least.", n=MIN_WINDOW) if small else ""
        )
        self.price_in.set_error("" if price is not False else tr("Two numbers, or nothing."))
        longest = self._read_longest(window)
        self.longest.set_error(
            "" if longest else tr("A number of tokens, less than the window, or nothing.")
        )
        bad = odd or not model or small or not longest or price is False
        if bad or self._one is None or window is None or isinstance(price, bool):
            return None
        one = self._one
        effort = next((e for e in EFFORTS if e == self.effort.value()), None)
        return replace(
            one,
            provider=spec.id,
            model=model,
            name=self.name.text().strip() or model,
            address=address,
            window=window,
            window_source=self._source,
            max_output=longest,
            price=price,
            images=self.images.isChecked(),
            effort=effort,
            fallback=self.fallback.value(),
        )

    def definition_for_list(self) -> ModelDefinition | None:
        """Where the list of models is asked for; None when the address will not do."""
        if self._one is None:
            return None
        address = self._address()
        spec = BY_ID[self.provider.value()]
        web = address.startswith(("http://", "https://"))
        good = web if address else bool(spec.address)
        self.address.set_error("" if good else tr("An address begins with http:// or https://."))
        if not good:
            return None
        return replace(self._one, provider=spec.id, address=address, name=spec.name)

    def typed_service(self, one: ModelDefinition) -> ModelDefinition | None:
        """``one`` at the service that stands in the fields; None while its address is being
        written."""
        written = with_scheme(self.address.text().strip())
        if written and not written.startswith(("http://", "https://")):
            return None
        name = self.model.text().strip() or one.model or "?"
        return replace(one, provider=self.provider.value(), address=written, model=name)

    def _address(self) -> str:
        """The address, made whole in its field where the scheme was left out."""
        written = self.address.text().strip()
        if (address := with_scheme(written)) != written and " " not in written:
            self.address.edit.setText(address)
            return address
        return written

    @staticmethod
    def _number(entry: Field) -> int | None:
        text = entry.text().replace(",", "").replace(" ", "")
        return int(text) if text.isascii() and text.isdigit() else None

    def _longest_hint(self) -> str:
        return str(_longest(self._number(self.window_size) or ASSUMED_WINDOW))

    def _read_longest(self, window: int | None) -> int:
        """Tokens of the longest answer; the usual for a window when nothing is said; 0 when it
        cannot be read."""
        if not self.longest.text().strip():
            return _longest(window or ASSUMED_WINDOW)
        said = self._number(self.longest) or 0
        return said if window is None or said < window else 0

    def _read_price(self) -> Price | bool | None:
        """The price, None without one, False when it cannot be read. What the catalogue or the
        file says of cached tokens stays while the two numbers are theirs."""
        texts = [f.text().strip() for f in (self.price_in, self.price_out)]
        if not any(texts):
            return None
        try:
            given, taken = (float(t.replace(",", ".")) for t in texts)
        except ValueError:
            return False
        if given < 0 or taken < 0:
            return False
        for known in (self._priced, self._one.price if self._one else None):
            if known is not None and (known.input, known.output) == (given, taken):
                return known
        return Price(given, taken)


class _Offered(QListView):
    """A list below a field, as high as its rows: QCompleter leaves out what the style adds."""

    ROWS = 7  # QCompleter.maxVisibleItems

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        rows = min(self.model().rowCount(), self.ROWS)
        lacking = rows * self.sizeHintForRow(0) - self.viewport().height()
        if lacking > 0:
            self.resize(self.width(), self.height() + lacking)


def _line(first: Field, second: Field | Button) -> QWidget:
    """Two controls in one row; the first has the focus, fields share the width."""
    line = QWidget()
    row = QHBoxLayout(line)
    follow(row, setContentsMargins=(0, 0, 0, 0), setSpacing=8)
    row.addWidget(first, 1)
    if isinstance(second, Field):
        row.addWidget(second, 1)
    else:
        row.addWidget(second, 0, Qt.AlignmentFlag.AlignTop)
    line.setFocusProxy(first)
    return line


def _note(words: Text) -> Label:
    return Label(words, role="caption", tone="faint", wrap=True)


def _longest(window: int) -> int:
    """Tokens of the longest answer asked for: what current models of that size allow."""
    return min(16_384 if window >= 100_000 else 8_192, window // 4)
