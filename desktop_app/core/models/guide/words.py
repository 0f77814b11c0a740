"""The Guide's phrases in English and Chinese. A model's words are content, so they live here and
not in the window's catalogues."""

from __future__ import annotations

from typing import Any

from .text import Lang

_WORDS: dict[str, tuple[str, str]] = {
    # before calls
    "say.list": ("I'll list what is there.", "我先列出这里的内容。"),
    "say.find": ("I'll look for it by name.", "我按名字找一下。"),
    "say.search": (
        "I'll search the text of the files for {query}.",
        "我在文件内容里搜索 {query}。",
    ),
    "say.read": ("I'll read {file}.", "我来读取 {file}。"),
    "say.count": ("I'll count.", "我来统计。"),
    "say.compare": ("I'll read both and compare them.", "我读取两个文件再做比较。"),
    "say.summarise": (
        "I'll read it and pull out the main sentences.",
        "我读取全文，摘出关键句子。",
    ),
    "say.write": (
        "I'll write {file}. You will see every change before it is made.",
        "我来写 {file}。写入前你会看到全部改动。",
    ),
    "say.rename": (
        "This is the rename. Nothing happens until you allow it.",
        "下面是改名命令，你允许之后才会执行。",
    ),
    "say.organise": (
        "This is how I would sort {n} file{n_s}. Nothing moves until you allow it.",
        "我打算这样整理 {n} 个文件，你允许之后才会移动。",
    ),
    "say.plan": ("I'll do this in {n} steps.", "我分 {n} 步来做。"),
    # lists
    "list.none": ("There are no files{where}.", "{where}没有文件。"),
    "list.title": ("**{n} file{n_s}**{where}", "**{n} 个文件**{where}"),
    "list.more": ("…and {n} more.", "……还有 {n} 个。"),
    "list.folders": ("**{n} folder{n_s}**{where}", "**{n} 个文件夹**{where}"),
    "list.nofolders": ("There are no folders{where}.", "{where}没有文件夹。"),
    "in": (" in {path}", "（{path}）"),
    "of": (" ({what})", "（{what}）"),
    "h.folder": ("Folder", "文件夹"),
    "h.files": ("Files", "文件数"),
    "h.kinds": ("Kinds", "类型"),
    "h.file": ("File", "文件"),
    "h.lines": ("Lines", "行数"),
    "h.rows": ("Rows", "数据行"),
    "h.words": ("Words", "词数"),
    "h.chars": ("Characters", "字符数"),
    "h.hits": ("Matching lines", "匹配行数"),
    "h.column": ("Column", "列"),
    "h.values": ("Values", "取值"),
    "h.to": ("Goes to", "移到"),
    "h.from": ("From", "原名"),
    "h.new": ("New name", "新名"),
    "top": ("(top)", "（顶层）"),
    # find
    "find.one": ("I found it: {file}", "找到了：{file}"),
    "find.many": ("**{n} files** match {name}:", "有 **{n} 个文件**符合 {name}："),
    "find.none": (
        "No file here has a name like {name}. You can ask me to search the text of the files "
        "instead.",
        "这里没有名字像 {name} 的文件。也可以让我搜索文件内容。",
    ),
    "find.near": (
        "No file is called {name}. These come closest:",
        "没有叫 {name} 的文件，最接近的是：",
    ),
    # search
    "search.none": ("{query} is in none of the files{where}.", "{where}没有文件包含 {query}。"),
    "search.title": (
        "**{n} lines in {files} files** contain {query}{where}:",
        "**{files} 个文件里的 {n} 行**包含 {query}{where}：",
    ),
    "search.one": ("**1 line** contains {query}{where}:", "**1 行**包含 {query}{where}："),
    "search.onefile": (
        "**{n} line{n_s} of {file}** contain {query}:",
        "{file} 里有 **{n} 行**包含 {query}：",
    ),
    "search.more": ("…and {n} more line{n_s}.", "……还有 {n} 行。"),
    "line": ("line {n}", "第 {n} 行"),
    # read
    "read.title": ("{file}, {n} line{n_s}:", "{file}，共 {n} 行："),
    "read.part": ("{file}, lines {first} to {last}:", "{file}，第 {first} 到 {last} 行："),
    "read.start": (
        "{file} is long; this is how it begins (lines {first} to {last}):",
        "{file} 比较长，下面是开头（第 {first} 到 {last} 行）：",
    ),
    "read.more": (
        "Ask for more, for example “{example}”.",
        "想看后面可以说“{example}”。",
    ),
    "read.example": ("show lines {a} to {b} of {file}", "显示 {file} 第 {a} 到 {b} 行"),
    "read.empty": ("{file} is empty.", "{file} 是空文件。"),
    "read.image": ("{file} is an image; I cannot see pictures.", "{file} 是图片，我看不了图片。"),
    "read.which": ("Which file shall I read?", "要读哪个文件？"),
    # count
    "count.files": ("**{n} file{n_s}**{where}.", "{where}共有 **{n} 个文件**。"),
    "count.lines": ("{file} has **{n} line{n_s}**.", "{file} 有 **{n} 行**。"),
    "count.rows": (
        "{file} has **{rows} row{rows_s}** of data below its header ({n} line{n_s} in all).",
        "{file} 有 **{rows} 行数据**（连表头共 {n} 行）。",
    ),
    "count.words": (
        "{file} has **{n} word{n_s}** ({lines} line{lines_s}, {chars} character{chars_s}).",
        "{file} 有 **{chars} 个字符**（{lines} 行，按空格分为 {n} 个词）。",
    ),
    "count.total": ("**{n} in all.**", "**合计 {n}。**"),
    "count.times": (
        "{query} appears **{n} time{n_s}** in {lines} line{lines_s}{where}.",
        "{query} 出现了 **{n} 次**，共 {lines} 行{where}。",
    ),
    "count.once": ("{query} appears **once**{where}.", "{query} 出现了 **1 次**{where}。"),
    "count.atleast": (
        "{query} appears in **{lines} lines**{where}; that is too many to count each occurrence.",
        "{query} 出现在 **{lines} 行**{where}；太多了，没有逐次去数。",
    ),
    # compare
    "compare.which": ("Which two files shall I compare?", "要比较哪两个文件？"),
    "compare.same": (
        "{a} and {b} are **identical** ({n} line{n_s}).",
        "{a} 和 {b} **完全相同**（{n} 行）。",
    ),
    "compare.differ": (
        "{a} and {b} differ: **{gone} line{gone_s}** only in the first, **{new} line{new_s}** "
        "only in the second, {same} the same.",
        "{a} 和 {b} 不同：只在前者的 **{gone} 行**，只在后者的 **{new} 行**，相同 {same} 行。",
    ),
    "compare.big": (
        "{a} has {x} lines, {b} has {y}. They are long, so I compared them with `diff`.",
        "{a} 有 {x} 行，{b} 有 {y} 行。文件比较长，我用 `diff` 做了比较。",
    ),
    "compare.more": ("…and {n} more line{n_s} of differences.", "……还有 {n} 行差异。"),
    # summarise
    "sum.title": (
        "**{file}** in short (sentences taken from it):",
        "**{file}** 的要点（摘自原文）：",
    ),
    "sum.table": (
        "**{file}**: {rows} row{rows_s}, {cols} column{cols_s}.",
        "**{file}**：{rows} 行，{cols} 列。",
    ),
    "sum.tablepart": (
        "**{file}**: {whole} rows, {cols} columns; the figures are of the {rows} rows that I could "
        "see.",
        "**{file}**：{whole} 行，{cols} 列；以下数字来自我能看到的 {rows} 行。",
    ),
    "sum.parts": ("Sections: {parts}", "章节：{parts}"),
    "sum.stat": (
        "{min} to {max}, mean {mean}",
        "{min} 到 {max}，平均 {mean}",
    ),
    "sum.distinct": ("{n} different, most often {top}", "{n} 种，最多的是 {top}"),
    "sum.dates": ("{first} to {last}", "{first} 至 {last}"),
    "sum.unique": ("{n}, all different", "{n} 个，各不相同"),
    "sum.which": ("Which file shall I summarise?", "要总结哪个文件？"),
    "sum.code": ("**{file}** defines: {names}", "**{file}** 定义了：{names}"),
    # write
    "write.done": ("Wrote {file} ({n} line{n_s}).", "已写入 {file}（{n} 行）。"),
    "write.added": ("Added it to {file} ({n} line{n_s} now).", "已加到 {file}（现在 {n} 行）。"),
    "write.exists": (
        "{file} exists already. What shall I do?",
        "{file} 已经存在，怎么办？",
    ),
    "write.add": ("Add to it", "追加到末尾"),
    "write.replace": ("Replace it", "替换"),
    "write.cancel": ("Leave it", "不动它"),
    "write.left": ("I left {file} as it is.", "{file} 保持原样。"),
    "write.large": (
        "The file is too long for me to see all of it, so I did not add to it: the rest could be "
        "lost.",
        "文件太长，我看不到全部，为免丢失内容，没有追加。",
    ),
    "write.which": (
        'What shall I write, and to which file? For example: “write "buy milk" to todo.md”.',
        "要写什么，写到哪个文件？例如：“把“买牛奶”写到 待办.md”。",
    ),
    "write.empty": ("What shall {file} say?", "{file} 里写什么？"),
    "write.notfound": (
        "The files say nothing about {topic}.",
        "文件里没有关于 {topic} 的内容。",
    ),
    "doc.about": ("About {topic}", "关于{topic}"),
    "doc.found": ("Found in the files:", "在文件中找到："),
    "doc.listing": ("Files", "文件"),
    "doc.summary": ("Summary", "总结"),
    "doc.compare": ("Differences between {a} and {b}", "{a} 与 {b} 的差异"),
    "doc.note": ("note", "笔记"),
    # rename
    "rename.which": ("Which file, and what shall its new name be?", "要改哪个文件，新名字是什么？"),
    "rename.newname": ("What shall {file} be called?", "{file} 改成什么名字？"),
    "rename.done": ("Renamed {a} to {b}.", "已把 {a} 改名为 {b}。"),
    "rename.many": ("Renamed {n} file{n_s}.", "已改名 {n} 个文件。"),
    "rename.taken": (
        "{b} exists already, so I renamed nothing.",
        "{b} 已经存在，所以没有改名。",
    ),
    "rename.same": ("That is its name already.", "它已经叫这个名字。"),
    "rename.none": ("There are no .{ext} files here.", "这里没有 .{ext} 文件。"),
    # organise
    "org.done": ("Moved {n} file{n_s} into {k} folder{k_s}.", "已把 {n} 个文件移到 {k} 个文件夹。"),
    "org.done1": ("Moved {n} file{n_s} into {dest}.", "已把 {n} 个文件移到 {dest}。"),
    "org.none": (
        "There is nothing to sort{where}: no loose files.",
        "{where}没有需要整理的散放文件。",
    ),
    "org.made": ("Made the folder {folder}.", "已新建文件夹 {folder}。"),
    "thanks": ("You are welcome.", "不客气。"),
    "org.images": ("images", "图片"),
    "org.documents": ("documents", "文档"),
    "org.data": ("data", "数据"),
    "org.code": ("code", "代码"),
    "org.archives": ("archives", "压缩包"),
    "org.media": ("media", "音视频"),
    "org.other": ("other", "其他"),
    # several steps
    "steps.left": ("Not done, because of this:", "因此以下步骤没有做："),
    "steps.unknown": ("I do not know how to do this step.", "这一步我不会做。"),
    # trouble
    "denied": ("You declined, so I changed nothing.", "你没有允许，我什么都没有改。"),
    "denied.step": ("You declined this step.", "你没有允许这一步。"),
    "stopped": (
        "This was interrupted, and I cannot tell whether it took effect. Please look at the files, "
        "then ask again if needed.",
        "这一步被中断了，我无法确定是否已经生效。请查看文件，需要的话再说一次。",
    ),
    "error": ("That did not work: {why}", "没有成功：{why}"),
    "cut": (
        "Only part of the result fits here; the whole of it was kept.",
        "这里只显示了一部分结果，完整内容已保存。",
    ),
    "cut.in": (
        "Only part of the result fits here; the whole of it is in {path}.",
        "这里只显示了一部分结果，完整内容在 {path}。",
    ),
    "notool": (
        "I would need the {tool} tool for this, and it is not available here.",
        "这需要 {tool} 工具，但现在不可用。",
    ),
    "choose": ("Which one do you mean?", "你指的是哪一个？"),
    "choose.h": ("File", "文件"),
    "nofile": (
        "I could not find a file like {name} here.",
        "这里找不到像 {name} 的文件。",
    ),
    "near": ("These come closest: {files}", "最接近的有：{files}"),
}


def word(lang: Lang, key: str, **params: Any) -> str:
    """A phrase with its parameters put in; ``{n_s}`` is the plural's s of ``n``."""
    plurals = {f"{name}_s": "" if str(value) == "1" else "s" for name, value in params.items()}
    return _WORDS[key][1 if lang == "zh" else 0].format(**params, **plurals)
