"""Opening what there is to see of compactions, and carrying out what a person decides there."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QDialog, QWidget

from desktop_app.core.context.deny import Suggestion, deny_in, deny_suggestions
from desktop_app.core.context.owed import lacks_notes
from desktop_app.core.context.types import LedgerItem
from desktop_app.core.errors import SlipwayError
from desktop_app.core.state import Rule
from desktop_app.core.tasks import Tasks
from desktop_app.ui.bridge import confirm, show
from desktop_app.ui.i18n import tr
from desktop_app.ui.widgets.dialogs import TextPrompt

from . import figures
from .compaction import DetailDialog, PreviewDialog
from .items import TextItem, ToolItem, UserItem
from .tool_words import title as tool_title

if TYPE_CHECKING:
    from .page import ChatPage
    from .view_model import ChatViewModel

log = logging.getLogger(__name__)


def denied(vm: ChatViewModel) -> list[Rule]:
    """The deny rules in force."""
    if vm.conversation is None:
        return []
    return [r for rules in vm.conversation.permissions.deny_rules.values() for r in rules]


def fresh(vm: ChatViewModel, found: list[Suggestion]) -> list[Suggestion]:
    """Suggestions that are no rules yet."""
    known = {(r.tool_name, r.rule_content) for r in denied(vm)}
    return [s for s in found if (s.rule.tool_name, s.rule.rule_content) not in known]


def refs_of(vm: ChatViewModel, row_id: str) -> frozenset[str]:
    """What the ledger may call a row by: its message, block or operation, a call's own id."""
    item = vm.item(row_id)
    more: tuple[str, ...] = ()
    if isinstance(item, ToolItem):
        more = (item.call_id,)
    elif isinstance(item, TextItem):
        more = (item.reply_id,)
    return frozenset({row_id.partition(":")[2], *more} - {""})


_REF = "utoh"  # rows that stand for one message, text, operation or reply


class CompactionWork:
    """The page's dialogs about compactions; one at a time."""

    def __init__(self, page: ChatPage) -> None:
        self._page = page
        self._tasks = Tasks(self._crashed)
        self.dialog: PreviewDialog | DetailDialog | None = None

    def _crashed(self, name: str, error: BaseException) -> None:
        log.error("compaction task %s failed", name, exc_info=error)
        self._page.notified.emit("danger", tr("Something went wrong"), str(error)[:300])

    async def close(self) -> None:
        """Close what is open and stop what is being done."""
        if self.dialog is not None:
            self.dialog.reject()
        await self._tasks.close()

    # -- proposals ----------------------------------------------------------------------------

    def preview(self) -> None:
        """Show what a compaction would do; nothing happens where no session can be written."""
        vm = self._page.vm
        if vm is not None and vm.writable and self.dialog is None:
            self._tasks.start(self._preview(vm), name="preview")

    async def _preview(self, vm: ChatViewModel) -> None:
        names = [tool.name for tool in await self._page.sources.tools()]

        def could_be(item: LedgerItem) -> list[Suggestion]:
            return fresh(vm, deny_suggestions([item], names))

        async def offer(item: LedgerItem) -> None:
            await self._offer(vm, could_be(item), dialog)
            dialog.show_ledger()

        dialog = PreviewDialog(
            self._page,
            vm.propose,
            lambda ref: bool(ref),
            vm.drafted,
            lambda item: bool(could_be(item)),
        )
        dialog.sourceWanted.connect(lambda ref: self._look(vm, ref))
        dialog.ruleWanted.connect(
            lambda item: self._tasks.replace(offer(item), name="rule of an item")
        )
        self.dialog = dialog
        try:
            await asyncio.sleep(0)  # the loop breathes before it is laid out
            done = await show(dialog, keep=True)
            proposal = dialog.proposal
            await dialog.close_tasks()
            if done == QDialog.DialogCode.Accepted and proposal is not None:
                vm.accept(proposal)
        finally:
            self.dialog = None
            dialog.deleteLater()

    # -- the log ------------------------------------------------------------------------------

    def view(self, compaction_id: str) -> None:
        """Look at one compaction of the log."""
        vm = self._page.vm
        if vm is not None and self.dialog is None:
            self._tasks.start(self._view(vm, compaction_id), name="view")

    async def _in_ledger(self, vm: ChatViewModel, row_id: str) -> None:
        """Show the items of the ledger that came from a row."""
        if vm.compactions and self.dialog is None:
            await self._view(vm, vm.compactions[-1].id, refs_of(vm, row_id))

    async def _view(
        self, vm: ChatViewModel, compaction_id: str, refs: frozenset[str] | None = None
    ) -> None:
        """``refs``: only if the ledger has items of these, which are set off."""
        try:
            detail = await vm.detail(compaction_id)
        except SlipwayError as error:
            self._page.failed(error.code, error.params)
            return
        marked = [i.id for i in detail.items if refs and any(e.ref in refs for e in i.evidence)]
        if refs is not None and not marked:
            words = tr(
                "The newest compaction took no rule, decision, fact or pending item from here."
            )
            self._page.notified.emit("info", tr("The ledger has nothing of it"), words)
            return
        record = detail.record
        newest = bool(vm.compactions) and vm.compactions[-1].id == compaction_id
        model = vm.voice.model_name(record.summariser) if record.summariser else ""
        dialog = DetailDialog(
            self._page,
            detail,
            model=model,
            newest=newest and vm.writable and not vm.busy,
            known=lambda ref: bool(ref),
        )
        dialog.sourceWanted.connect(lambda ref: self._look(vm, ref))
        dialog.undoWanted.connect(vm.undo_compaction)
        dialog.againWanted.connect(self.again)
        if marked:
            dialog.mark(marked)
        self.dialog = dialog
        try:
            await show(dialog)
        finally:
            self.dialog = None

    def _look(self, vm: ChatViewModel, ref: str) -> None:
        """Bring the source of something into view; the dialog gives way."""
        if self.dialog is not None:
            self.dialog.reject()
        vm.find_ref(ref)

    def found(self, _ref: str, row_id: str) -> None:
        """A source that was looked for is there, or nowhere."""
        if row_id:
            self._page.show_row(row_id)
        else:
            words = tr("What it came from is not in this conversation any more")
            self._page.notified.emit("info", tr("Not found"), words)

    def again(self) -> None:
        """Ask for a focus, and do the newest compaction once more."""
        vm = self._page.vm
        if vm is not None and not vm.busy:
            self._tasks.start(self._again(vm), name="again")

    async def _again(self, vm: ChatViewModel) -> None:
        # Where the model's notes are missing, to ask for them again is reason enough.
        lacking = bool(vm.compactions) and lacks_notes(vm.compactions[-1])
        prompt = TextPrompt(
            self._page,
            title=lambda: tr("Compact again"),
            label=lambda: tr("What the summary should pay attention to"),
            action=lambda: tr("Compact again"),
            check=lambda text: "" if lacking or text.strip() else tr("Say what matters."),
        )
        if await show(prompt, keep=True) == QDialog.DialogCode.Accepted:
            vm.compact_again(prompt.text())
        prompt.deleteLater()

    # -- undo ---------------------------------------------------------------------------------

    def undo_refused(self, params: dict[str, Any]) -> None:
        """The former prompt would not fit any more: offer a branch that has it."""
        if (vm := self._page.vm) is not None:
            self._tasks.start(self._branch(vm, params), name="branch")

    async def _branch(self, vm: ChatViewModel, params: dict[str, Any]) -> None:
        go = await confirm(
            self._page,
            title=tr("It would not fit any more"),
            text=tr(
                "With what came since, the former prompt would be {tokens} tokens long; {usable} "
                "are usable. A new session can begin where this one was before the compaction.",
                tokens=figures.tokens(int(params.get("tokens") or 0)),
                usable=figures.tokens(int(params.get("usable") or 0)),
            ),
            action=tr("Open a branch"),
            kept=[tr("This session stays as it is.")],
        )
        if not go:
            return
        try:
            key = await vm.fork_before(str(params.get("id") or ""))
        except SlipwayError as error:
            self._page.failed(error.code, error.params)
            return
        self._page.sessionRequested.emit(key)

    async def _offer_rules(self, vm: ChatViewModel, text: str, ref: str) -> None:
        """A "must not" that names a tool, path or host could be a rule too: offer it."""
        names = [tool.name for tool in await self._page.sources.tools()]
        found = await asyncio.to_thread(deny_in, text, ref, names)
        await self._offer(vm, fresh(vm, found), self._page)

    async def _offer(self, vm: ChatViewModel, found: list[Suggestion], parent: QWidget) -> None:
        if not found or vm.conversation is None:
            return
        go = await confirm(
            parent,
            title=tr("Forbid it by a rule too?"),
            text=tr(
                "Your words tell the agent. A rule stops the call itself, whatever the model makes "
                "of them. In this session these would be refused:"
            ),
            action=tr("Add the rules"),
            kept=[f"{tool_title(s.rule.tool_name)}: {s.rule.rule_content or '*'}" for s in found],
        )
        if not go:
            return
        try:
            for one in found:
                await vm.conversation.add_rule(one.rule.model_dump())
        except SlipwayError as error:
            self._page.failed(error.code, error.params)

    # -- rows ---------------------------------------------------------------------------------

    def row_action(self, vm: ChatViewModel, row_id: str, action: str) -> bool:
        """Carry out an action of a row; whether it was one of these."""
        kind, _, ref = row_id.partition(":")
        match action:
            case "compact":
                vm.compact()
            case "compact_plain":
                vm.compact(notes=False)
            case "choose_model" | "manage_models" | "unlock_keys":
                vm.wayWanted.emit(action)
            case "undo_compaction":
                vm.undo_compaction()
            case "compact_again":
                self.again()
            case "view_summary":
                if (found := vm.compaction(row_id)) is not None:
                    self.view(found.compaction_id)
            case "pin" | "unpin" if kind in _REF:
                vm.pin(ref, action == "pin")
                item = vm.item(row_id)
                if action == "pin" and isinstance(item, UserItem):
                    self._tasks.start(self._offer_rules(vm, item.text, ref), name="rules")
            case "in_ledger" if kind in _REF:
                self._tasks.start(self._in_ledger(vm, row_id), name="in ledger")
            case "offload_now":
                vm.offload_now(ref)
            case _:
                return False
        return True
