"""What the Guide says and does when things do not go well: never a second try of a change, never a
claim that something happened."""

from __future__ import annotations

import json

import pytest

from desktop_app.core.messages import Msg, TextBlock, ToolCallBlock, ToolResultBlock
from desktop_app.core.models.guide import GuideModel
from desktop_app.core.models.guide.intents import recognise
from desktop_app.core.tools.base import ToolOutcome
from tests.helpers.models import SCHEMAS, Folder, play, results_message, step


def calls(msg: Msg) -> list[tuple[str, dict]]:
    return [(c.name, json.loads(c.input)) for c in msg.tool_calls()]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rename contract.txt to x.txt", "You declined, so I changed nothing."),
        ("整理 inbox", "你没有允许，我什么都没有改。"),
        ('write "x" to new.txt', "You declined"),
    ],
)
async def test_a_declined_change_ends_the_turn(
    text: str, words: str, guide: GuideModel, folder: Folder
):
    folder.refuse = {"Bash", "Write"}
    before = folder.files()
    played = await play(guide, text, folder)
    assert words in played.text
    assert folder.files() == before
    assert len(folder.asked) == 1, "it does not ask twice"


async def test_a_declined_step_leaves_the_rest_undone_and_says_which(
    guide: GuideModel, folder: Folder
):
    folder.refuse = {"Write"}
    text = "count the files, then write the numbers to n.md, then read contract.txt"
    played = await play(guide, text, folder)
    assert "You declined" in played.text
    assert "Not done, because of this:\n\n- Read contract.txt" in played.text
    assert [t.state for t in folder.context.tasks] == ["completed", "in_progress", "pending"]


async def test_an_error_is_told_with_its_reason(guide: GuideModel, folder: Folder):
    folder.fail = lambda name, args: (
        ToolOutcome("Permission denied: 'contract.txt'.", "error") if name == "Read" else None
    )
    played = await play(guide, "read contract.txt", folder)
    assert played.text == "That did not work: Permission denied: 'contract.txt'."


async def test_an_unknown_file_is_said_to_be_unknown(guide: GuideModel, folder: Folder):
    played = await play(guide, "read budget-2031.xlsx", folder)
    assert "could not find a file like `budget-2031.xlsx`" in played.text


async def test_it_asks_which_file_when_several_are_as_likely(guide: GuideModel, folder: Folder):
    (folder.root / "old").mkdir()
    (folder.root / "old/contract.txt").write_text("The old one.\n")
    (folder.root / "new").mkdir()
    (folder.root / "new/contract.txt").write_text("The new one.\n")
    folder.answers = ["new/contract.txt"]
    played = await play(guide, "read the contract", folder)
    assert played.names() == ["Glob", "AskUser", "Read"]
    options = [o["label"] for o in played.calls[1][1]["questions"][0]["options"]]
    assert set(options) == {"contract.txt", "new/contract.txt", "old/contract.txt"}
    assert "The new one." in played.text


async def test_a_long_result_is_shown_in_part_and_said_to_be_kept(
    guide: GuideModel, folder: Folder
):
    rows = "\n".join(f"{n},place {n % 7},{n * 3}" for n in range(5000))
    (folder.root / "data/long.csv").write_text(f"id,place,value\n{rows}\n")
    played = await play(guide, "summarise long.csv", folder)
    assert "5,000 rows, 3 columns" in played.text
    assert "rows that I could see" in played.text
    assert "`.slipway/sessions/s1/tool_result-1.txt`" in played.text
    counted = await play(guide, "how many rows does long.csv have", folder)
    assert "**5,000 rows**" in counted.text, "counting does not depend on what is seen"


async def test_it_never_adds_to_a_file_it_cannot_see_whole(guide: GuideModel, folder: Folder):
    path = folder.root / "notes/long.md"
    path.write_text("".join(f"line {n} of a long file\n" for n in range(6000)))
    before = path.read_bytes()
    played = await play(guide, 'add "one more" to notes/long.md', folder)
    assert "Write" not in played.names()
    assert "too long" in played.text
    assert path.read_bytes() == before


async def test_without_a_tool_it_says_which_one_it_would_need(guide: GuideModel, folder: Folder):
    some = tuple(s for s in SCHEMAS if s.name not in ("Write", "Bash"))
    played = await play(guide, "rename contract.txt to x.txt", folder, tools=some)
    assert played.text == ("I would need the Bash tool for this, and it is not available here.")


async def test_an_interrupted_read_is_made_again(guide: GuideModel, folder: Folder):
    first, _ = await step(guide, [Msg.user("list the files")])
    (call,) = first.tool_calls()
    stopped = ToolResultBlock(id=call.id, name="Glob", output="Stopped.", state="interrupted")
    messages = [Msg.user("list the files"), first, results_message([stopped])]
    again, _ = await step(guide, messages)
    assert calls(again) == calls(first)


async def test_an_interrupted_change_is_not_made_again(guide: GuideModel, folder: Folder):
    ask = Msg.user("rename contract.txt to x.txt")
    messages = [ask]
    for _ in range(2):
        msg, _ = await step(guide, messages)
        (call,) = msg.tool_calls()
        got = await folder.run(call.name, json.loads(call.input))
        result = ToolResultBlock(id=call.id, name=call.name, output=got.text, state=got.state)
        messages += [msg, results_message([result])]
    msg, _ = await step(guide, messages)
    (call,) = msg.tool_calls()
    assert call.name == "Bash"
    stopped = ToolResultBlock(id=call.id, name="Bash", output="", state="interrupted")
    last, finish = await step(guide, [*messages, msg, results_message([stopped])])
    assert finish.reason == "stop"
    assert "cannot tell whether it took effect" in last.text()


async def test_results_inside_the_assistants_own_message_are_read_too(
    guide: GuideModel, folder: Folder
):
    """AgentScope's shape: one message holds calls and results of a whole reply."""
    ask = Msg.user("read contract.txt")
    blocks: list = []
    for _ in range(2):
        messages = [ask, Msg(name="guide", role="assistant", content=blocks)] if blocks else [ask]
        msg, _ = await step(guide, messages)
        (call,) = msg.tool_calls()
        got = await folder.run(call.name, json.loads(call.input))
        result = ToolResultBlock(id=call.id, name=call.name, output=got.text, state=got.state)
        blocks += [*msg.content, result]
    last, _ = await step(guide, [ask, Msg(name="guide", role="assistant", content=blocks)])
    assert "Liability is limited." in last.text()


async def test_call_ids_that_repeat_do_not_mix_up_results(guide: GuideModel, folder: Folder):
    ask = Msg.user("read contract.txt")
    glob = ToolCallBlock(id="same", name="Glob", input=json.dumps(
        {"pattern": "**/contract.txt", "head_limit": 1000}))  # fmt: skip
    read = ToolCallBlock(id="same", name="Read", input=json.dumps(
        {"file_path": "contract.txt", "limit": 200}))  # fmt: skip
    messages = [
        ask,
        Msg(name="g", role="assistant", content=[glob]),
        results_message([ToolResultBlock(id="same", name="Glob", output="contract.txt")]),
        Msg(name="g", role="assistant", content=[read]),
        results_message([ToolResultBlock(id="same", name="Read", output="     1\tHello")]),
    ]
    last, _ = await step(guide, messages)
    assert "Hello" in last.text()


async def test_an_edited_command_counts_as_done(guide: GuideModel, folder: Folder):
    """The person may change a command before allowing it."""
    ask = Msg.user("rename contract.txt to x.txt")
    messages = [ask]
    for _ in range(2):
        msg, _ = await step(guide, messages)
        (call,) = msg.tool_calls()
        got = await folder.run(call.name, json.loads(call.input))
        result = ToolResultBlock(id=call.id, name=call.name, output=got.text, state=got.state)
        messages += [msg, results_message([result])]
    edited = ToolCallBlock(id="e", name="Bash", input='{"command": "mv -n -- contract.txt y.txt"}')
    done = ToolResultBlock(id="e", name="Bash", output="(no output)")
    last, finish = await step(
        guide,
        [*messages, Msg(name="g", role="assistant", content=[edited]), results_message([done])],
    )
    assert finish.reason == "stop"
    assert "Renamed" in last.text()


async def test_what_other_messages_say_is_no_request(guide: GuideModel):
    """Summaries, pinned blocks and notes of ours are of role user but not the person's."""

    def made(kind: str, text: str) -> Msg:
        block = TextBlock(text=text)
        meta = {"slipway": {"kind": kind}}
        return Msg(name="slipway", role="user", content=[block], metadata=meta)

    messages = [
        made("pinned", "rename a.txt to b.txt"),
        made("summary", "organise everything"),
        Msg.user("list the files"),
        made("hint", "delete all; rename x.txt to y.txt"),
        made("tasks", "- [pending] 1: organise the folder"),
    ]
    msg, _ = await step(guide, messages)
    assert [name for name, _ in calls(msg)] == ["Glob"]
    nothing, finish = await step(guide, [made("pinned", "rename a.txt to b.txt")])
    assert finish.reason == "stop"
    assert "Guide" in nothing.text()


async def test_it_means_the_file_spoken_of_before(guide: GuideModel, folder: Folder):
    first = await play(guide, "read contract.txt", folder)
    then = await play(guide, "summarise it", folder, before=first.messages)
    assert "**contract.txt** in short" in then.text
    await play(guide, "rename it to deal.txt", folder, before=then.messages)
    assert "deal.txt" in folder.files()


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("Never touch contract.txt.", "none"),
        ("不要改名任何文件", "none"),
        ("don't rename anything, just count the files", "count"),
        ("list the files, but do not organise them", "list"),
        ("列出文件，不要整理", "list"),
    ],
)
def test_what_is_forbidden_is_never_done(text: str, intent: str):
    asked = recognise(text)
    assert asked.intent == intent
    assert asked.steps == ()
