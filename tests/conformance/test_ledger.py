import pytest

from optimetry.conformance.commands.ledger import read
from optimetry.reference.errors import LedgerError
from optimetry.reports.results import Verdict

OPTIMIZERS, DTYPES = ("adam", "sgd"), ("float32", "float64")


def verdict(optimizer="adam", dtype="float32", outcome="dialect", engine="default"):
    return Verdict(optimizer=optimizer, dtype=dtype, verdict=outcome, engine=engine)


@pytest.fixture
def ledger(tmp_path):
    def written(text):
        path = tmp_path / "expected.txt"
        path.write_text(text, encoding="utf-8")
        return read(path, OPTIMIZERS, DTYPES)

    return written


def test_entries_comments_and_blank_lines(ledger):
    (entry,) = ledger("# a comment\n\n  # another\nadam\tfloat32  dialect epsilon is scaled # by design\n").entries
    assert (entry.optimizer, entry.dtype, entry.verdict, entry.line) == ("adam", "float32", "dialect", 4)
    assert entry.reason == "epsilon is scaled # by design"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("adam float32 dialect", "must be `optimizer dtype verdict reason`, is `adam float32 dialect`"),
        ("adm float32 dialect why", "unknown optimizer 'adm', must be one of: adam, sgd"),
        ("adam float31 dialect why", "unknown dtype 'float31', must be one of: float32, float64"),
        ("adam float32 wrong why", "unknown verdict 'wrong', must be one of: conforms, dialect,"),
        ("sgd float32 error again", "repeats line 2: sgd float32 error"),
    ],
)
def test_a_bad_line_is_named_with_its_number(ledger, line, expected):
    with pytest.raises(LedgerError) as caught:
        ledger(f"# header\nsgd float32 error why\n{line}\n")
    assert f"expected.txt, line 3: {expected}" in str(caught.value)


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_file_that_cannot_be_read_is_an_error(tmp_path, content):
    path = tmp_path / "expected.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(LedgerError, match=r"expected\.txt: "):
        read(path, OPTIMIZERS, DTYPES)


def test_an_expected_verdict_balances(ledger):
    balance = ledger("adam float32 dialect why\n").balance([verdict(), verdict("sgd", outcome="conforms")])
    assert (balance.unexpected, balance.stale) == ([], [])


def test_an_entry_stands_for_every_engine_with_its_verdict(ledger):
    verdicts = [verdict(engine="single"), verdict(engine="foreach"), verdict(engine="fused", outcome="error")]
    balance = ledger("adam float32 dialect why\n").balance(verdicts)
    assert [found.engine for found in balance.unexpected] == ["fused"]
    assert balance.stale == []


@pytest.mark.parametrize("outcome", ["dialect", "diverges", "unsupported", "error"])
def test_whatever_does_not_conform_must_be_expected(ledger, outcome):
    assert ledger("").balance([verdict(outcome=outcome)]).unexpected == [verdict(outcome=outcome)]


def test_an_unexpected_pass_is_stale(ledger):
    balance = ledger("\nadam float32 dialect why\n").balance([verdict(outcome="conforms")])
    assert balance.unexpected == []
    (text,) = balance.stale
    assert "line 2: expects adam float32 dialect, but the verdict is conforms" in text


def test_another_verdict_is_both_unexpected_and_stale(ledger):
    balance = ledger("adam float32 dialect why\n").balance([verdict(outcome="error")])
    assert len(balance.unexpected) == len(balance.stale) == 1


def test_an_entry_for_what_was_not_judged_says_nothing(ledger):
    assert ledger("sgd float64 error why\n").balance([verdict(outcome="conforms")]).stale == []
