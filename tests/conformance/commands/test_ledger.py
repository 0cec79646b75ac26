import pytest

from optimetry.conformance.commands.files.ledger import read
from optimetry.reference.errors import LedgerError
from optimetry.reports.results import Verdict

OPTIMIZERS, DTYPES = ("adam", "sgd"), ("float16", "bfloat16", "float32", "float64")
KNOWN = "adam float32 dialect:scaled_epsilon why\n"
EVERYWHERE = "adam * dialect:scaled_epsilon why\n"


def verdict(optimizer="adam", dtype="float32", outcome="dialect:scaled_epsilon", engine="default"):
    kind, _, name = outcome.partition(":")
    names = {"dialect" if kind == "dialect" else "law": name or None}
    return Verdict(optimizer=optimizer, dtype=dtype, verdict=kind, engine=engine, **names)


@pytest.fixture
def ledger(tmp_path):
    def written(text):
        path = tmp_path / "expected.txt"
        path.write_text(text, encoding="utf-8")
        return read(path, OPTIMIZERS, DTYPES)

    return written


def balanced(balance):
    return (balance.unexpected, balance.stale) == ([], {})


def test_entries_comments_and_blank_lines(ledger):
    text = "# a comment\n\n  # another\nadam\tfloat32  dialect:scaled_epsilon epsilon is scaled # by design\n"
    (entry,) = ledger(text).entries
    assert (entry.optimizer, entry.dtype, entry.line) == ("adam", "float32", 4)
    assert (entry.verdict, entry.name) == ("dialect", "scaled_epsilon")
    assert entry.reason == "epsilon is scaled # by design"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("adam float32 dialect:x", "must be `optimizer dtype verdict[:name] reason`, is `adam float32 dialect:x`"),
        ("adm float32 dialect:x why", "unknown optimizer 'adm', must be one of: adam, sgd"),
        ("adam float31 dialect:x why", "unknown dtype 'float31', must be one of: float16, bfloat16, float32, "),
        ("adam int* dialect:x why", "unknown dtype 'int*', must be one of: float16, bfloat16, float32, float64, *"),
        ("adam float32 wrong why", "unknown verdict 'wrong', must be one of: conforms, "),
        ("adam float32 dialect why", "adam float32 dialect: must name the dialect, as `dialect:NAME`"),
        ("adam * unsupported why", "adam * unsupported: remove the line, what is not offered needs no entry"),
        ("adam * imprecise:name why", "adam * imprecise:name: only dialect and diverges have names"),
        ("sgd float32 error again", "repeats line 2: sgd float32 error"),
        ("sgd * error again", "repeats line 2: sgd * error"),
    ],
)
def test_a_bad_line_is_named_with_its_number(ledger, line, expected):
    with pytest.raises(LedgerError) as caught:
        ledger(f"# header\nsgd float32 error why\n{line}\n")
    assert f"expected.txt, line 3: {expected}" in str(caught.value)


def test_another_dialect_or_dtype_repeats_nothing(ledger):
    text = "adam float32 dialect:a why\nadam float32 dialect:b why\nadam float64 dialect:a why\nsgd * dialect:a why\n"
    assert len(ledger(text).entries) == 4


def test_a_dtype_repeats_the_pattern_above_it(ledger):
    with pytest.raises(LedgerError, match="line 2: repeats line 1: adam float64 dialect:scaled_epsilon"):
        ledger(EVERYWHERE + "adam float64 dialect:scaled_epsilon why\n")


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_file_that_cannot_be_read_is_an_error(tmp_path, content):
    path = tmp_path / "expected.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(LedgerError, match=r"expected\.txt: "):
        read(path, OPTIMIZERS, DTYPES)


def test_an_expected_verdict_balances(ledger):
    assert balanced(ledger(KNOWN).balance([verdict(), verdict("sgd", outcome="conforms")]))


def test_an_entry_stands_for_every_engine_with_its_verdict(ledger):
    verdicts = [verdict(engine="single"), verdict(engine="foreach"), verdict(engine="fused", outcome="error")]
    balance = ledger(KNOWN).balance(verdicts)
    assert [each.engine for each in balance.unexpected] == ["fused"]
    assert balance.stale == {}


@pytest.mark.parametrize("outcome", ["dialect:epsilon_inside", "diverges", "error"])
def test_whatever_is_offered_and_does_not_conform_must_be_expected(ledger, outcome):
    assert ledger("").balance([verdict(outcome=outcome)]).unexpected == [verdict(outcome=outcome)]


def test_what_is_not_offered_needs_no_entry(ledger):
    assert balanced(ledger("").balance([verdict(outcome="unsupported"), verdict("sgd", outcome="conforms")]))


def test_an_unexpected_pass_is_stale(ledger):
    balance = ledger("\n" + KNOWN).balance([verdict(outcome="conforms")])
    assert balance.unexpected == []
    (text,) = balance.stale
    assert "line 2: expects adam float32 dialect:scaled_epsilon, but the verdict is conforms" in text


@pytest.mark.parametrize("outcome", ["error", "dialect:learning_rate_inside"])
def test_another_verdict_is_both_unexpected_and_stale(ledger, outcome):
    balance = ledger("adam float32 dialect:epsilon_inside why\n").balance([verdict(outcome=outcome)])
    assert balance.unexpected == [verdict(outcome=outcome)]
    (text,) = balance.stale
    assert f"expects adam float32 dialect:epsilon_inside, but the verdict is {outcome}: " in text


def test_a_verdict_without_a_name_is_expected_whatever_its_name(ledger):
    assert balanced(ledger("adam float32 diverges why\n").balance([verdict(outcome="diverges:permutation")]))


@pytest.mark.parametrize("outcome", ["diverges", "diverges:splitting"])
def test_a_law_is_checked_where_it_is_named(ledger, outcome):
    named = ledger("adam float32 diverges:permutation why\n")
    assert balanced(named.balance([verdict(outcome="diverges:permutation")]))
    balance = named.balance([verdict(outcome=outcome)])
    assert balance.unexpected == [verdict(outcome=outcome)]
    assert f"expects adam float32 diverges:permutation, but the verdict is {outcome}: " in next(iter(balance.stale))


def test_each_expected_verdict_comes_with_its_entry(ledger):
    verdicts = [verdict(), verdict("sgd", outcome="conforms"), verdict(dtype="float64", outcome="error")]
    ((expected, entry),) = ledger("\n" + EVERYWHERE).balance(verdicts).expected
    assert (expected is verdicts[0], entry.line, entry.reason) == (True, 2, "why")


@pytest.mark.parametrize("entry", ["sgd float64 error why\n", "sgd * error why\n", "adam float64 error why\n"])
def test_an_entry_for_what_was_not_judged_says_nothing(ledger, entry):
    assert ledger(entry).balance([verdict(outcome="conforms")]).stale == {}


def test_a_pattern_expects_its_verdict_in_every_dtype(ledger):
    assert balanced(ledger(EVERYWHERE).balance([verdict(dtype=dtype) for dtype in DTYPES]))


def test_a_pattern_expects_nothing_of_other_dtypes(ledger):
    verdicts = [verdict("sgd", dtype, "diverges") for dtype in DTYPES]
    balance = ledger("sgd *float16 diverges why\n").balance(verdicts)
    assert [each.dtype for each in balance.unexpected] == ["float32", "float64"]
    assert balance.stale == {}


@pytest.mark.parametrize("entries", [EVERYWHERE, KNOWN + "adam float64 dialect:scaled_epsilon why\n"])
def test_entries_are_stale_dtype_by_dtype(ledger, entries):
    """What float32 still has is no excuse for float64."""
    balance = ledger(entries).balance([verdict(), verdict(dtype="float64", outcome="conforms")])
    assert balance.unexpected == []
    (text,) = balance.stale
    assert "expects adam float64 dialect:scaled_epsilon, but the verdict is conforms" in text


def test_one_engine_that_still_has_the_verdict_keeps_an_entry(ledger):
    assert balanced(ledger(KNOWN).balance([verdict(), verdict(engine="fused", outcome="conforms")]))


def test_a_pattern_passes_over_dtypes_that_are_not_offered(ledger):
    assert balanced(ledger(EVERYWHERE).balance([verdict(), verdict(dtype="float64", outcome="unsupported")]))


@pytest.mark.parametrize("entry", [KNOWN, EVERYWHERE])
def test_an_entry_for_what_is_no_longer_offered_is_stale(ledger, entry):
    (text,) = ledger(entry).balance([verdict(outcome="unsupported")]).stale
    assert "but the verdict is unsupported: remove or correct the line" in text


def test_a_name_with_spaces_is_written_without(ledger):
    """A point of a family that no dialect names has one, as `adamax` of MLX."""
    verdicts = [verdict(outcome="dialect:epsilon=none, correction=none")]
    assert balanced(ledger("adam float32 dialect:epsilon=none,correction=none why\n").balance(verdicts))
    assert not balanced(ledger("adam float32 dialect:epsilon=none why\n").balance(verdicts))
