"""Writes the figures of README.md, those of the pages that measure them: ``python -m tests.readme_figures``."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
BEGIN, END = "<!-- figures: begin -->\n", "<!-- figures: end -->\n"

ROWS = (
    (
        "faulty optimizers: a defect seen in a real framework, or one token of a rule changed",
        "{faults}",
        "{rejected} rejected",
    ),
    (
        "the same, by a test as usual: default hyperparameters, N(0, 1) gradients, `rtol=1e-5`",
        "{faults}",
        "{usual} rejected",
    ),
    ("targets that compute something known: a dialect, a point of a family, …", "{members}", "{exact} named exactly"),
    (
        "honest re-implementations: regrouped, fused, blocked, threaded, … in {styles} styles, each in two dtypes",
        "{equivalents}",
        "{conforming} conform",
    ),
    ("all diagnoses together", "{targets}", "{wrong} named wrongly"),
    (
        "rules of {libraries} third-party libraries that are as documented, the first time they were judged",
        "{documented}",
        "{accepted} accepted, today {accepted_today}",
    ),
    ("other rules of these libraries", "{others}", "{refused} rejected, today {refused_today}"),
)


def numbers(page: str, pattern: str) -> list[int]:
    """The numbers that a pattern finds in a page of ``docs``, whose lines are joined."""
    text = " ".join((ROOT / "docs" / page).read_text(encoding="utf-8").split())
    match = re.search(pattern, text)
    assert match, f"docs/{page} has no {pattern}"
    return [int(number) for number in match.groups()]


def field(run: str) -> dict[str, int]:
    """What was counted in a run of `docs/field.md` over all rounds."""
    cells = numbers("field.md", rf"\| {run} run \|.*?\| all" + r" \| (\d+)" * 6)
    libraries, _, documented, rejected, others, accepted = cells
    right = {"accepted": documented - rejected, "refused": others - accepted}
    return {"libraries": libraries, "documented": documented, "others": others, **right}


def table() -> str:
    """The table as it must be."""
    rejected, faults = numbers("sensitivity.md", r"It \w+ (\d+) of the (\d+) faults")
    (passing,) = numbers("sensitivity.md", r"lets (\d+) of them pass")
    (styles,) = numbers("sensitivity.md", r"(\d+) styles of honest engines")
    members, exact = numbers("confusion.md", r"Of (\d+) targets that compute [\w ]+, (\d+) are named exactly")
    targets, wrong = numbers("confusion.md", r"Of all (\d+) targets, (\d+) are named wrongly")
    equivalents, *others, conforming = numbers("confusion.md", r"\| equivalent" + r" \| (\d+)" * 6)
    assert equivalents == sum(others) + conforming
    figures = {
        "faults": faults,
        "rejected": rejected,
        "usual": faults - passing,
        "members": members,
        "exact": exact,
        "styles": styles,
        "equivalents": equivalents,
        "conforming": conforming,
        "targets": targets,
        "wrong": wrong,
        **field("first"),
        **{f"{name}_today": number for name, number in field("latest").items()},
    }
    rows = [("tried", "how many", "result"), ("---", "---:", "---"), *ROWS]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows).format(**figures)


def written(readme: str) -> str:
    """README.md with these figures."""
    before, after = readme.split(BEGIN)
    return before + BEGIN + table() + END + after.split(END)[1]


if __name__ == "__main__":
    README.write_text(written(README.read_text(encoding="utf-8")), encoding="utf-8")
