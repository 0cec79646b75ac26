"""The code examples of the five pages, extracted from the pages themselves, and a table of which run as printed.

Import lines are changed (and lost ones supplied), lost line breaks and indentation are restored, and nothing else.
Where the page itself is broken, `BROKEN` names the line and the reason, and what makes it whole.
``python -m tests.reference.printed`` writes docs/examples.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.reference.pages import METHODS, ROOT, SEEDS

PAGE = ROOT / "docs" / "examples.md"

END = re.compile(
    rf"(?:{'|'.join(METHODS)})\s*\(|class paddle|paddle\.fluid\.optimizer\.\w+$|#+ .*¶|Notes?:?$|Clear the gradients|"
    r"Second part of minimize|Get current|See examples|Please refer"
)
"""How a line begins with which an example has ended."""

GOES_ON = (
    "# build ModelAverage optimizer",
    "ftrl_optimizer = ",
    "moment_optimizer = ",
    "rms_optimizer = ",
    "sgd_optimizer = ",
    "fetch_list = ",
    "# first step: ",
    "# learning rate for different steps",
    "bd = ",
    "# set learning rate manually",
    "state_dict = ",
    "d_model=",
)
"""Lines that stay in the block above, though a blank line stands between."""

ENDS_BLOCK = ("ema.restore(exe)",)
"""Lines that end the block above, though no blank line stands between."""

IMPORTS = {
    "import paddle.fluid as fluid": "import optimetry.fluid as fluid",
    "import paddle": "import optimetry.paddle as paddle",
}
LOST_IMPORTS = (
    "import numpy",
    "import numpy as np",
    "import optimetry.fluid as fluid",
    "import optimetry.fluid.layers as layers",
    "import optimetry.paddle as paddle",
)
"""What pages 000 and 004 use without the line that imports it."""


@dataclass(frozen=True)
class Example:
    """One example as its page prints it.

    Attributes:
        page: the number of the page.
        line: the number of its first line in the page's file.
        source: its lines, line breaks and indentation restored.
        output: what it prints, as far as the page says.
    """

    page: str
    line: int
    source: str
    output: str = ""

    @property
    def title(self) -> str:
        """Its most telling words: the class or method it shows."""
        words = re.findall(r"(?:optimizer|lr)\.(\w+)\(|\.(set_lr_scheduler|set_lr|get_lr|state_dict)\(", self.source)
        names = dict.fromkeys(first or second for first, second in words)
        return ", ".join(names) or self.source.splitlines()[-1].strip()

    @property
    def runnable(self) -> str:
        """The source with its import lines changed."""
        return "\n".join(IMPORTS.get(line.strip(), line) for line in self.source.splitlines()) + "\n"

    @property
    def broken(self) -> Broken | None:
        """Why it does not run as printed, where it does not."""
        matches = [each for each in BROKEN if each.page in ("", self.page) and each.has in self.source]
        return matches[0] if matches else None

    @property
    def repaired(self) -> str:
        """What runs instead, where the page is broken."""
        source = self.runnable
        for printed, whole in self.broken.repair if self.broken else ():
            assert printed in source, printed
            source = source.replace(printed, whole, 1)
        return "".join(f"{line}\n" for line in (self.broken.before if self.broken else ())) + source


@dataclass(frozen=True)
class Broken:
    """An example that is broken on its page.

    Attributes:
        page: the page; empty for any.
        has: what tells the example apart.
        error: the error it ends in.
        line: the line of the page at which it does.
        reason: why.
        repair: what is printed, and what stood there before it was lost.
        before: lines that the page leaves to the reader.
    """

    page: str
    has: str
    error: str
    line: str
    reason: str
    repair: list[list[str]]
    before: list[str]


TABLE = Path(__file__).with_name("broken_examples.json")
BROKEN = tuple(Broken(**entry) for entry in json.loads(TABLE.read_text(encoding="utf-8")))


def blocks(lines: list[str]) -> list[str]:
    """Lines with their indentation restored: a block begins behind a colon and ends at a blank line."""
    if any(line.startswith(" ") for line in lines):
        return lines
    restored: list[str] = []
    level = depth = 0
    blank = False
    for line in lines:
        if not line.strip():
            blank = True
            restored.append("")
            continue
        if (blank and depth == 0 and not line.startswith(GOES_ON)) or line.startswith(ENDS_BLOCK):
            level = 0
        elif blank and depth == 0 and level > 1:
            level = 1
        blank = False
        restored.append("    " * level + line)
        code = re.sub(r"#.*|'[^']*'|\"[^\"]*\"", "", line)
        depth += sum(code.count(c) for c in "([{") - sum(code.count(c) for c in ")]}")
        depth = max(depth, 0)
        if depth == 0 and code.rstrip().endswith(":"):
            level += 1
    return restored


def session(line: str) -> tuple[str, str]:
    """The source and the output of a session of the interpreter that is printed in one line."""
    source: list[str] = []
    output: list[str] = []
    level = depth = 0
    for prompt, text in re.findall(r"(>>>|(?<= )\.\.\.) (.*?)(?= >>> | \.\.\. |$)", line):
        code, *printed = re.split(r" (?=Learning rate of step\d|current lr is \d)", text)
        output += printed
        level = level if prompt == "..." else 0
        source.append("    " * level + code)
        bare = re.sub(r"#.*|'[^']*'|\"[^\"]*\"", "", code)
        depth += sum(bare.count(c) for c in "([{") - sum(bare.count(c) for c in ")]}")
        if depth == 0 and bare.rstrip().endswith(":"):
            level += 1
    return "\n".join(source), "".join(f"{each.strip()}\n" for each in output)


def examples() -> Iterator[Example]:
    """Every example of the pages, in their order; those of which nothing is left but a heading are passed over."""
    for file in sorted(SEEDS.glob("*.txt")):
        page, lines = file.name[:3], file.read_text(encoding="utf-8").split("\n")
        for i, line in enumerate(lines):
            if line.startswith(">>> "):
                source, output = session(line)
                yield Example(page, i + 1, source, output)
            elif line.strip() == "Examples" and page != "001":
                end = next((j for j in range(i + 1, len(lines)) if END.match(lines[j])), len(lines))
                printed = [each.rstrip() for each in lines[i + 1 : end]]
                if any(printed):
                    first = next(j for j, each in enumerate(printed) if each)
                    yield Example(page, i + 2 + first, "\n".join(blocks(printed[first:])).rstrip())


HEAD = """\
# The examples of the pages

Generated by `python -m tests.reference.printed`; a test fails when it is stale. Every example is extracted from its
page and run under `optimetry.fluid` and `optimetry.paddle`, its import lines alone changed; lost line breaks and
indentation are restored, and nothing else. Where one does not run as printed, the page itself is broken: the line is
named, and the test runs the example with what was lost put back.

| page | line | example | runs as printed | reason |
|---|---|---|---|---|
"""


def row(example: Example) -> str:
    """A line of the table."""
    broken = example.broken
    reason = f"`{broken.line}`: {broken.error.split(':')[0]}: {broken.reason}" if broken else ""
    return f"| {example.page} | {example.line} | {example.title} | {'no' if broken else 'yes'} | {reason} |\n"


def page() -> str:
    """The page as it must be."""
    rows = [row(example) for example in examples()]
    whole = sum("| yes |" in each for each in rows)
    counts = f"\n{len(rows)} examples: {whole} run as printed, {len(rows) - whole} are broken on the page.\n"
    return HEAD + "".join(rows) + counts


if __name__ == "__main__":
    Path(PAGE).write_text(page(), encoding="utf-8")
