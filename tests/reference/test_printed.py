"""Every code example of the five pages runs as printed, or its page is broken where the table says so."""

import traceback

import numpy as np
import pytest

from tests.reference import printed
from tests.reference.pages import SEEDS

pytestmark = pytest.mark.skipif(not SEEDS.is_dir(), reason=f"the pages are not here: {SEEDS}")

EXAMPLES = list(printed.examples())
DISTINCT = list({(each.runnable, each.output, each.broken is None): each for each in EXAMPLES}.values())


def label(example):
    return f"{example.page}:{example.line}"


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    """Examples save files where they run."""
    monkeypatch.chdir(tmp_path)
    np.random.seed(0)  # noqa: NPY002 - the examples draw from NumPy's old generator


def run(source: str) -> None:
    """Run a source with the lost import lines before it."""
    names = {"FILE": "rows.txt"}
    exec("\n".join(printed.LOST_IMPORTS), names)
    exec(compile(source, "example", "exec"), names)


def failure(source: str) -> tuple[str, str]:
    """The error that a source ends in, and the line at which it does; empty where it runs."""
    try:
        run(source)
    except SyntaxError as error:
        return f"SyntaxError: {error.msg}", source.splitlines()[error.lineno - 1].strip()
    except Exception as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "example"]
        return f"{type(error).__name__}: {error}", source.splitlines()[lines[-1] - 1].strip()
    return "", ""


def test_the_pages_have_examples():
    assert len(EXAMPLES) > 60
    assert {each.page for each in EXAMPLES} == {"000", "001", "003", "004"}  # page 002 has none: COPY-FROM


@pytest.mark.parametrize("example", DISTINCT, ids=label)
def test_an_example_runs_as_printed(example, capsys):
    source = example.runnable
    if "model_average.restore(exe)" not in source:  # of two examples that make all these steps one is enough
        source = source.replace("range(12500)", "range(125)")
    error, line = failure(source)
    if example.broken is None:
        assert error == ""
        assert capsys.readouterr().out.endswith(example.output)
    else:
        assert error.startswith(example.broken.error)
        assert line.startswith(example.broken.line)


@pytest.mark.parametrize("example", [each for each in EXAMPLES if each.broken], ids=label)
def test_a_broken_example_runs_once_it_is_whole(example, tmp_path):
    (tmp_path / "rows.txt").write_text("1 3 1 5\n1 2 1 7\n1 0 1 9\n", encoding="utf-8")
    assert failure(example.repaired) == ("", "")


def test_nothing_but_imports_line_breaks_and_indentation_is_changed():
    texts = {file.name[:3]: file.read_text(encoding="utf-8") for file in SEEDS.glob("*.txt")}
    for example in EXAMPLES:
        page = "".join(texts[example.page].split())
        for line in example.source.splitlines():
            assert "".join(line.split()) in page, (example.page, example.line, line)


def test_the_table_is_not_stale():
    assert printed.PAGE.read_text(encoding="utf-8") == printed.page(), (
        "docs/examples.md is stale: run `python -m tests.reference.printed`"
    )
