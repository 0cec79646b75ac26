import csv
import dataclasses
import io
import re

from optimetry.reports import tables
from optimetry.reports.results import Computes, Header, Results, Verdict

DASH = "\N{EN DASH}"
HEADER = Header(
    optimetry="0.1.0",
    target="torch",
    target_version="2.13.0",
    platform="Linux x86_64",
    dtypes=["float32"],
    optimizers=["adam"],
    seed=7,
    effort="quick",
)
GOOD = Verdict(optimizer="sgd", dtype="float32", verdict="conforms", share=0.9312, ulp=3, vacuous=0.004, cases=400)
LONG = "a reason | with a bar, " + "and far too many words for one line of a table " * 4
WORST = Verdict(
    optimizer="decayed_adagrad",
    dtype="bfloat16",
    verdict="dialect",
    dialect="epsilon_and_learning_rate_outside",
    computes=Computes("epsilon_and_learning_rate_outside", "w -= …", False, [{"float32": ["rho", "epsilon"]}]),
    share=1.7976931348623157e308,
    ulp=2**62,
    vacuous=0.00001,
    cases=2000,
    engine="foreach",
    reason=LONG,
)
ABSENT = Verdict(optimizer="ftrl", dtype="float32", verdict="unsupported", reason="no class")


def engines(verdict, *names):
    return [dataclasses.replace(verdict, engine=name) for name in names]


def test_a_terminal_table_line_by_line():
    partly = dataclasses.replace(GOOD, optimizer="adam", untried=["missing gradients", "epsilon above 0.1"])
    assert tables.terminal([GOOD, partly]).splitlines() == [
        "optimizer  dtype    verdict   share  ULP  vacuous  cases  reason",
        "---------  -------  --------  -----  ---  -------  -----  ------",
        "sgd        float32  conforms  0.931    3    0.4 %    400",
        "adam       float32  conforms  0.931    3    0.4 %    400  [1]",
        "",
        "[1]  not tried: missing gradients, epsilon above 0.1",
    ]


def test_a_narrow_terminal_table_line_by_line():
    absent = [dataclasses.replace(ABSENT, optimizer=f"rule_{number}") for number in range(9)]
    text = tables.terminal([GOOD, *engines(WORST, "single", "foreach"), *absent], width=80)
    assert text.splitlines() == [
        "optimizer        dtype     engine   verdict   computes            share  reason",
        "---------------  --------  -------  --------  --------------  ---------  ------",
        f"sgd              float32   default  conforms  {DASH}                   0.931",
        "decayed_adagrad  bfloat16  all      dialect   epsilon_and_       beyond  [1]",
        "                                              learning_rate_  any bound",
        "                                              outside; rho,",
        "                                              epsilon in",
        "                                              float32",
        "",
        "[1]  a reason | with a bar, and far too many words for one line of a table and",
        "     far too many words for one line of a table and far too many words for one",
        "     line of a table and far too many words for one line of a table",
        "",
        "unsupported in float32: rule_0, rule_1, rule_2, rule_3, rule_4, rule_5, rule_6,",
        "     rule_7, rule_8: no class",
    ]


def test_what_is_not_offered_is_summed_up_in_one_line():
    lamb = dataclasses.replace(ABSENT, optimizer="lamb", reason="no class either")
    wide = dataclasses.replace(ABSENT, dtype="float64")
    fused = dataclasses.replace(ABSENT, optimizer="sgd", engine="fused")
    text = tables.terminal([GOOD, fused, ABSENT, wide, lamb])
    assert text.splitlines()[-2:] == ["", "unsupported in float32, float64: sgd (fused, float32), ftrl, lamb (float32)"]
    assert len(text.splitlines()) == 5


def test_one_reason_for_all_that_is_not_offered_is_given():
    assert tables.terminal([ABSENT]) == "unsupported in float32: ftrl: no class"
    assert tables.terminal([GOOD, *engines(ABSENT, "a", "b")]).endswith("\n\nunsupported in float32: ftrl: no class")


def test_a_terminal_table_without_reasons_ends_with_its_last_row():
    assert tables.terminal([GOOD]).endswith("    400")


def test_long_names_are_broken_only_as_far_as_the_width_asks():
    """The column ``computes`` gives way until the table fits, and keeps twice the length of its title."""
    narrower = dataclasses.replace(WORST, share=1e100)
    assert max(map(len, tables.terminal([narrower]).split("\n\n")[0].splitlines())) == 120
    rows = tables.terminal([WORST], width=20).split("\n\n")[0].splitlines()
    assert rows[2].split()[4] == "epsilon_and_"
    assert [row.split()[0] for row in rows[3:]] == ["learning_rate_", "outside;", "epsilon", "float32"]


def test_a_terminal_table_fits_whatever_the_names():
    text = tables.terminal([*engines(WORST, "single", "foreach"), WORST, GOOD])
    assert max(map(len, text.splitlines())) <= 120
    assert "epsilon_and_" in text
    assert "float32\n" in text


def test_an_error_ratio_beyond_any_bound_is_said_in_words_that_may_take_two_lines():
    assert "| beyond any bound |" in tables.markdown([Results(HEADER, [WORST])])
    wide, narrow = (tables.terminal([WORST], width) for width in (160, 20))
    assert "  beyond any bound  " in wide
    assert "     beyond  [1]\n" in narrow
    assert "  any bound\n" in narrow


def test_a_reason_is_given_once_and_in_full():
    other = dataclasses.replace(WORST, optimizer="ftrl", reason="no class")
    text = tables.terminal([WORST, dataclasses.replace(WORST, dtype="float32"), other])
    notes = text.split("\n\n")[1]
    assert " ".join(notes.split()) == f"[1] {' '.join(LONG.split())} [2] no class"
    assert [row.split()[-1] for row in text.splitlines() if row.startswith("decayed")] == ["[1]", "[1]"]


def test_engines_that_agree_share_a_row():
    text = tables.terminal(engines(GOOD, "single", "foreach", "fused"))
    assert len(text.splitlines()) == 3
    assert " all " in text


def test_engines_that_offer_nothing_do_not_count_among_all():
    fused = dataclasses.replace(ABSENT, optimizer=GOOD.optimizer, dtype=GOOD.dtype, engine="fused")
    text = tables.terminal([*engines(GOOD, "single", "foreach"), fused])
    assert " all " in text.splitlines()[2]
    assert f"unsupported in {GOOD.dtype}: {GOOD.optimizer} (fused)" in text
    two = tables.terminal(
        [*engines(ABSENT, "single", "foreach"), dataclasses.replace(ABSENT, reason="why", engine="fused")]
    )
    assert "(single, foreach)" in two
    assert "(fused)" in two


def test_engines_that_differ_are_named():
    verdicts = [*engines(GOOD, "single", "foreach"), dataclasses.replace(GOOD, engine="fused", ulp=4)]
    rows = tables.terminal(verdicts).splitlines()[2:]
    assert ["single, foreach" in row for row in rows] == [True, False]
    assert [" fused " in row for row in rows] == [False, True]


def test_columns_that_say_nothing_are_left_out():
    assert "reason" not in tables.terminal([GOOD])
    assert "engine" not in tables.terminal([GOOD])
    assert "computes" not in tables.terminal([GOOD])
    assert "computes" not in tables.terminal([dataclasses.replace(GOOD, computes=Computes("documented"))])
    assert "engine" in tables.terminal([WORST])


def test_flushed_subnormals_stand_beside_conforms():
    flushing = dataclasses.replace(GOOD, computes=Computes("documented", None, False, ["flushes_subnormals"]))
    (row,) = tables.terminal([flushing]).splitlines()[2:]
    assert re.split(r" {2,}", row)[2:4] == ["conforms", "flushes subnormals"]


def test_no_verdicts_are_an_empty_table():
    assert tables.terminal([]).splitlines()[0].startswith("optimizer")


def test_markdown_has_every_column_and_the_full_reason():
    text = tables.markdown([Results(HEADER, [GOOD, WORST])])
    header, rule, *rows = [row for row in text.splitlines() if row.startswith("|")]
    assert [cell.strip() for cell in header.strip("|").split("|")] == list(tables.COLUMNS)
    assert set(rule) <= set("|:-")
    assert len(rows) == 2
    assert "a reason \\| with a bar" in rows[1]
    assert rows[1].replace("\\|", "").count("|") == len(tables.COLUMNS) + 1
    assert text.startswith("## torch 2.13.0\n\nJudged by optimetry 0.1.0, effort quick, seed 7, on Linux x86_64.")


def test_markdown_takes_no_product_for_emphasis_and_no_type_for_a_tag():
    reason = "a*b*c of <class 'float'> in __init__()\nif a < b | c"
    text = tables.markdown([Results(HEADER, [dataclasses.replace(GOOD, reason=reason)])])
    assert r"| a\*b\*c of \<class 'float'> in \_\_init\_\_() if a < b \| c |" in text
    single = tables.markdown([Results(HEADER, [dataclasses.replace(GOOD, reason="w -= 2*g")])])
    assert "| w -= 2*g |" in single  # one alone is none
    shouted = tables.markdown([Results(HEADER, [dataclasses.replace(GOOD, reason="<B> and < 2")])])
    assert r"| \<B> and < 2 |" in shouted


def test_markdown_keeps_every_digit_of_a_number():
    """0.930 is no 0.93, and what looks like a number in a name stays as it is."""
    verdict = dataclasses.replace(GOOD, share=0.93, optimizer="1e5", reason="007")
    row = tables.markdown([Results(HEADER, [verdict])]).splitlines()[6]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells == ["1e5", "float32", "default", "conforms", DASH, "0.930", "3", "0.4 %", "400", "007"]


def test_markdown_has_a_section_for_each_file():
    other = dataclasses.replace(HEADER, target="paddle")
    text = tables.markdown([Results(HEADER, [GOOD]), Results(other, [GOOD])])
    assert [title for title in text.splitlines() if title.startswith("##")] == ["## torch 2.13.0", "## paddle 2.13.0"]


def test_what_was_not_tried_stands_behind_the_reason():
    partly = dataclasses.replace(WORST, reason="another rule", untried=["missing gradients"])
    (row,) = csv.DictReader(io.StringIO(tables.csv_text([Results(HEADER, [partly])])))
    assert row["reason"] == "another rule; not tried: missing gradients"
    assert "| another rule; not tried: missing gradients |" in tables.markdown([Results(HEADER, [partly])])


def test_csv_has_every_digit():
    rows = list(csv.DictReader(io.StringIO(tables.csv_text([Results(HEADER, [WORST, ABSENT])]))))
    assert [row["target"] for row in rows] == ["torch", "torch"]
    assert float(rows[0]["share"]) == WORST.share
    assert int(rows[0]["ULP"]) == WORST.ulp
    assert rows[0]["reason"] == LONG
    assert (rows[1]["share"], rows[1]["ULP"], rows[1]["computes"]) == ("", "", "")
    assert rows[0]["computes"] == "epsilon_and_learning_rate_outside; rho, epsilon in float32"


def test_csv_has_the_title_of_every_column_and_lines_that_end_alike():
    text = tables.csv_text([Results(HEADER, [GOOD])])
    assert text.splitlines(keepends=True) == [
        "target,version,optimizer,dtype,engine,verdict,computes,share,ULP,vacuous,cases,reason\n",
        "torch,2.13.0,sgd,float32,default,conforms,,0.9312,3,0.004,400,\n",
    ]


def test_without_cases_there_is_no_share_of_them():
    text = tables.markdown([Results(HEADER, [dataclasses.replace(GOOD, cases=0, vacuous=0.5)])])
    (row,) = [line for line in text.splitlines() if line.startswith("| sgd")]
    assert [cell.strip() for cell in row.split("|")][-4:-2] == [DASH, DASH]


def test_the_summary_names_what_there_is():
    assert tables.summary([GOOD, GOOD, ABSENT]) == "3 verdicts: 2 conforms, 1 unsupported"
    assert tables.summary([GOOD]) == "1 verdict: 1 conforms"
    assert tables.summary([]) == "no verdicts"


def test_a_narrow_terminal_goes_without_what_tells_least():
    two = [dataclasses.replace(GOOD, engine=engine) for engine in ("single", "foreach")]
    fused = dataclasses.replace(GOOD, engine="fused", share=0.99)
    verdicts = [*two, fused, dataclasses.replace(WORST, computes=Computes(rule="a" * 8 + "_b" * 8))]
    wide, narrow, narrowest = (tables.terminal(verdicts, width).splitlines() for width in (120, 91, 80))
    assert wide[0].split()[-5:] == ["share", "ULP", "vacuous", "cases", "reason"]
    assert narrow[0].split()[-3:] == ["share", "ULP", "reason"]
    assert narrowest[0].split()[-2:] == ["share", "reason"]
    assert max(map(len, narrowest)) <= 80
    assert "single," in narrowest[2]
    assert "foreach" in narrowest[3]


def test_engines_that_differ_in_their_counterexample_alone_share_a_row():
    first, second = engines(WORST, "single", "fused")
    both = [dataclasses.replace(first, counterexample={"step": 1}), dataclasses.replace(second, counterexample=None)]
    (row,) = (line for line in tables.terminal(both, 300).splitlines() if line.startswith("decayed_adagrad"))
    assert " all " in row


def test_what_is_not_offered_is_said_of_the_most_dtypes():
    absent = [
        dataclasses.replace(ABSENT, optimizer=name, dtype=dtype)
        for name, dtypes in {"adam": ("float16", "bfloat16", "float32"), "ftrl": ("float64",)}.items()
        for dtype in dtypes
    ]
    last = tables.terminal(absent, 200).splitlines()[0]
    assert last == "unsupported in float16, bfloat16, float32: adam, ftrl (float64): no class"


def test_what_was_measured_is_not_said_to_be_judged():
    measured = dataclasses.replace(HEADER, effort="none")
    assert tables.about(measured) == "Measured by optimetry 0.1.0, on Linux x86_64."
    assert tables.about(HEADER) == "Judged by optimetry 0.1.0, effort quick, seed 7, on Linux x86_64."
