"""`optimetry certify`: every pair of a parameter and a gradient."""

import dataclasses
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import Mock

import jsonschema
import numpy as np
import pytest

from optimetry.conformance.cases.effort import Effort
from optimetry.conformance.certify import pairs as layouts
from optimetry.conformance.certify.judged import Judge
from optimetry.conformance.certify.pairs import FIRST, LATER, STEPS, Pairs
from optimetry.conformance.certify.settings import settings_of
from optimetry.conformance.commands import certify
from optimetry.conformance.commands.files.blocks import FILE, Blocks
from optimetry.conformance.judging.examine import judge
from optimetry.conformance.numerics.formats import flushing
from optimetry.conformance.oracle.expected import expected, with_underflow_room
from optimetry.conformance.selftest.faults import single_pair
from optimetry.conformance.subjects.registry import SUBJECTS, subject_named
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.targets.numpy.target import NumpyTarget
from optimetry.conformance.targets.session import Guard
from optimetry.reference.errors import UsageError
from optimetry.reports import certificate_tables
from optimetry.reports.certificate import Certificate, Place
from optimetry.reports.header import header_of
from optimetry.reports.keeping import add, write
from optimetry.reports.results import Results, ResultsError, read
from optimetry.reports.schema import schema

RULES = [name for name, subject in SUBJECTS.items() if isinstance(subject, RuleSubject) and subject.elementwise]

SMALL = {
    (16, FIRST): (16, 32, 4096 * 2048),
    (16, LATER): (4, 32, 64 * 2048),
    (32, FIRST): (4, 32, 2**27),
    (32, LATER): (4, 32, 2**27),
}
"""Layouts whose blocks take milliseconds."""


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(layouts, "LAYOUTS", SMALL)


def judge_of(optimizer="sgd", dtype="bfloat16", step=FIRST, setting="defaults"):
    settings = {each.name: each for each in settings_of(subject_named(optimizer), corners=True)}
    return Judge(Pairs(optimizer, dtype, step, 0), settings[setting])


def certificate(target, number, **options):
    return judge_of(**options).judged(target, number, Guard())


class Changed(NumpyTarget):
    """The reference, with a function applied to every parameter after each step."""

    def __init__(self, change):
        self.change = change

    def start(self, optimizer, hyper, parameters):
        run, change = super().start(optimizer, hyper, parameters), self.change

        class Run:
            def step(self, grads, learning_rate):
                return [change(array) for array in run.step(grads, learning_rate)]

        return Run()


@pytest.mark.usefixtures("small", "quietly")
@pytest.mark.parametrize("optimizer", RULES)
def test_rows_and_columns_give_the_same_bits_as_arrays_of_the_whole_shape(optimizer):
    for dtype, step, form_of in (("bfloat16", FIRST, flushing), ("float32", LATER, with_underflow_room)):
        judge_ = judge_of(optimizer, dtype, step, "learning_rate = 1")
        block = judge_.pairs.block(7, judge_.setting.hyper)
        case, form = judge_.case_of(block), form_of(judge_.form)
        whole, quick = expected(case, form=form), judge_.expected(block, form)
        assert np.array_equal(quick.value.reshape(-1), whole.value[-1], equal_nan=True)
        assert np.array_equal(quick.bound.reshape(-1), whole.bound[-1], equal_nan=True)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_the_blocks_of_a_first_step_have_every_pair_once(dtype):
    space = Pairs("sgd", dtype, FIRST, 0)
    assert space.space == 2**32
    starts = set()
    for number in range(space.blocks):
        block = space.block(number, {})
        starts.add((int(block.parameters.view(np.uint16)[0, 0]), int(block.gradients.view(np.uint16)[0, 0])))
        for each in (block.parameters, block.gradients) if number % 1009 == 0 else ():
            bits = each.view(np.uint16).reshape(-1)
            assert np.array_equal(bits - bits[0], np.arange(1024) * 64)
    assert starts == {(row, column) for row in range(64) for column in range(64)}


@pytest.mark.parametrize(("dtype", "step"), [("bfloat16", LATER), ("float32", FIRST), ("float32", LATER)])
def test_elsewhere_every_gradient_is_tried(dtype, step):
    space = Pairs("adam", dtype, step, 0)
    blocks = [space.block(number, {"epsilon": 1e-8}) for number in (0, 1, space.blocks - 1)]
    bits = [block.gradients.view(f"u{space.bits // 8}")[0].astype(np.int64) for block in blocks]
    strides = 2**space.bits // bits[0].size
    assert [int(each[0]) for each in bits] == [0, 1 % strides, (space.blocks - 1) % strides]
    assert all((np.diff(each) == strides).all() for each in bits)
    assert space.blocks % strides == 0
    assert [len(block.earlier) for block in blocks] == ([1, 2, 9] if step == LATER else [0, 0, 0])
    assert not np.array_equal(blocks[0].parameters, blocks[1].parameters)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.usefixtures("small")
def test_the_reference_holds(step):
    for optimizer in ("sgd", "adam", "torch.adamw", "rmsprop"):
        certified = certificate(NumpyTarget(), 5, optimizer=optimizer, step=step)
        assert certified.holds, certified
        assert 0 < certified.share.value <= 1
        assert certified.pairs == certified.judged + certified.vacuous == (512 if step == FIRST else 128)


@pytest.mark.usefixtures("small")
def test_a_fault_in_one_pair_of_bits_is_found_and_no_drawn_case_shows_it():
    target = single_pair.target
    (verdict,) = judge([target], "sgd", "bfloat16", effort=Effort("few", 40, 2), seed=0)
    assert verdict.verdict == "conforms"
    number = single_pair.PARAMETER % 4096 * 2048 + single_pair.GRADIENT % 2048
    certified = certificate(target, number)
    assert certified.failures == 1
    (example,) = certified.examples
    assert (example.parameter, example.gradients, example.result) == ("0x3f81", ["0x0001"], "0x0000")
    assert (certified.share.parameter, certified.share.gradients) == ("0x3f81", ["0x0001"])
    assert certificate(target, number + 1).failures == 0


@pytest.mark.usefixtures("small")
def test_flushed_subnormals_are_counted_apart():
    def flush(array):
        return np.where(np.abs(array.astype(float)) < 2.0**-126, np.zeros_like(array), array)

    certified = certificate(Changed(flush), 2048)  # the block of the smallest subnormal parameter
    assert certified.flushed > 0
    assert certified.holds
    assert certified.share.value <= 1


@pytest.mark.usefixtures("small")
def test_the_largest_figures_are_where_the_target_is_furthest_off():
    def off(array):
        array = array.copy()
        array[37] = -array[37]
        return array

    plain, altered = certificate(NumpyTarget(), 0), certificate(Changed(off), 0)
    assert (altered.failures, plain.failures) == (1, 0)
    block = judge_of().pairs.block(0, {})
    (example,) = altered.examples
    assert example.parameter == f"{block.parameters.view(np.uint16)[1, 0]:#06x}"
    assert example.gradients == [f"{block.gradients.view(np.uint16)[0, 5]:#06x}"]
    for figure in (altered.share, altered.ulp):
        assert (figure.parameter, figure.gradients) == (example.parameter, example.gradients)


def test_corners_are_tried_one_by_one():
    names = [each.name for each in settings_of(subject_named("adam"), corners=True)]
    assert names[:3] == ["defaults", "learning_rate = 1", "beta1 = 0.0"]
    assert len(set(names)) == len(names)
    assert [each.name for each in settings_of(subject_named("adam"), corners=False)] == ["defaults"]


@pytest.mark.usefixtures("small")
def test_certificates_add_up_in_any_grouping():
    target = Changed(lambda array: -array)
    a, b, c = (certificate(target, number) for number in (3, 4, 5))
    assert (a + b) + c == a + (b + c)
    assert (a + b).failures == a.failures + b.failures
    assert (a + b).examples == a.examples
    assert (a + b).share.value == max(a.share.value, b.share.value)


# The command.

QUICK = ("--optimizer", "sgd", "--dtype", "float32", "-n", 1)


@pytest.mark.usefixtures("miniatures")
def test_a_run_that_was_killed_goes_on_and_gives_the_same_bytes(optimetry, tmp_path):
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    arguments = ("certify", "miniatures:Correct", *QUICK, "--blocks", 4)
    assert optimetry(*arguments, "--out", undisturbed)[0] == 0
    code = "from optimetry.conformance.commands.cli import main; main()"
    command = [sys.executable, "-c", code, *map(str, arguments), "--out", str(killed)]
    running = subprocess.Popen(command, cwd=Path(__file__).parents[1], stderr=subprocess.DEVNULL)
    file, limit = killed / FILE, time.monotonic() + 60
    while not file.exists() or file.read_bytes().count(b"\n") < 2:
        assert running.poll() is None
        assert time.monotonic() < limit
        time.sleep(0.02)
    running.send_signal(signal.SIGKILL)
    running.wait()
    finished = file.read_bytes().count(b"\n") - 1
    with file.open("ab") as torn:
        torn.write(b'{"block": 9, "certi')
    status, out, err = optimetry(*arguments, "--out", killed)
    assert (status, err) == (0, "")
    assert f"\n{(8 - finished) * 2**20:,} pairs compared" in out
    assert {each.name for each in killed.iterdir()} == {each.name for each in undisturbed.iterdir()}
    for each in undisturbed.iterdir():
        assert (killed / each.name).read_bytes() == each.read_bytes()
    first, later = read(killed / "results.jsonl").certificates
    assert (first.pairs, first.space) == (4 * 2**20, 2**32)
    assert (later.step, later.setting) == ("later", "defaults")
    assert "| sgd" in (killed / "certificates.md").read_text()
    assert "4,194,304" in optimetry("report", killed)[1]


@pytest.mark.usefixtures("miniatures")
def test_a_target_that_breaks_the_protocol_ends_its_certificate(optimetry, tmp_path):
    status, out, _ = optimetry("certify", "miniatures:Raises", *QUICK, "--out", tmp_path)
    assert status == 1
    assert "raised RuntimeError: out of luck" in out
    first, later = read(tmp_path / "results.jsonl").certificates
    assert {x.reason.partition(" (miniatures.py:")[0] for x in (first, later)} == {"raised RuntimeError: out of luck"}
    assert (first.pairs, first.share, first.holds) == (0, None, False)
    assert not (tmp_path / FILE).exists()


@pytest.mark.usefixtures("miniatures")
def test_what_is_not_offered_has_no_certificate(optimetry, tmp_path):
    status, out, _ = optimetry("certify", "miniatures:TwoEngines", *QUICK, "--engine", "fast", "--out", tmp_path)
    assert status == 2
    assert "not offered: sgd float32 (engine fast): not fast yet\n" in out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("miniatures")
@pytest.mark.parametrize("ended", [False, True])
def test_certificates_are_written_together_also_where_the_run_is_ended(optimetry, tmp_path, monkeypatch, ended):
    compare, write_to = certify.certified, Mock(side_effect=add)

    def certified(*asked):
        certificates = compare(*asked)
        yield next(certificates)
        if ended:
            raise KeyboardInterrupt
        yield from certificates

    monkeypatch.setattr(certify, "certified", certified)
    monkeypatch.setattr(certify, "add", write_to)
    arguments = ("certify", "miniatures:Correct", *QUICK, "--blocks", 1, "--out", tmp_path)
    assert optimetry(*arguments)[0] == (130 if ended else 0)
    assert write_to.call_count == 1
    kept = read(tmp_path / "results.jsonl").certificates
    assert len(kept) == (1 if ended else 2)
    assert (tmp_path / FILE).exists() == ended


def test_a_file_of_another_run_is_refused(tmp_path):
    (tmp_path / FILE).write_text('{"target": "other"}\n')
    with pytest.raises(UsageError, match=r"of an unfinished run with other settings \(target 'other'\): finish or"):
        Blocks(tmp_path / FILE, {"target": "numpy"})
    (tmp_path / FILE).write_text('{"target": "numpy"}\nnothing\n')
    with pytest.raises(ResultsError, match="line 2: not a line of unfinished certificates"):
        Blocks(tmp_path / FILE, {"target": "numpy"})


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--optimizer", "lamb"], "--optimizer lamb: must be a rule that treats elements one by one"),
        (["--optimizer", "clip_by_norm"], "--optimizer clip_by_norm: must be a rule that treats elements one by one"),
        (["--dtype", "float64"], "dtype 'float64' is not offered by this command, must be one of: bfloat16, float16,"),
        (["--dtype", "float31"], "unknown dtype 'float31', must be one of: bfloat16, float16, float32"),
        (["--blocks", "0"], "--blocks = '0', must be a whole number of at least 1"),
        (["--blocks", "4097"], "--blocks = 4097, must be at most 4096, which is all; leave it out for all"),
    ],
)
def test_what_cannot_be_certified_is_refused(refused, arguments, text):
    assert text in refused("certify", "numpy", *arguments)


def test_results_of_another_target_are_refused_before_anything_is_compared(refused, tmp_path, monkeypatch):
    header = header_of("torch", "2.0", dtypes=["bfloat16"], optimizers=["sgd"], seed=0, effort="none")
    write(tmp_path / "results.jsonl", Results(header))
    monkeypatch.setattr("optimetry.conformance.commands.certify.certified", compared := Mock())
    text = refused("certify", "numpy", "--optimizer", "sgd", "--out", str(tmp_path))
    assert "results of torch 2.0, must be of numpy" in text
    compared.assert_not_called()


@pytest.mark.usefixtures("small")
def test_a_certificate_line_keeps_the_schema_and_reads_back(tmp_path):
    certified = certificate(Changed(lambda array: -array), 0, dtype="float32")
    header = header_of("numpy", "1", dtypes=["float32"], optimizers=["sgd"], seed=0, effort="none")
    for seed in (1, 2):
        add(tmp_path / "results.jsonl", Results(header, certificates=[dataclasses.replace(certified, seed=seed)]))
    text = (tmp_path / "results.jsonl").read_text().splitlines()[1]
    jsonschema.validate(json.loads(text), schema())
    assert read(tmp_path / "results.jsonl").certificates == [dataclasses.replace(certified, seed=2)]


def test_tables_say_which_part_was_compared():
    certified = Certificate(
        book="fluid", optimizer="sgd", dtype="bfloat16", step=FIRST, setting="defaults", learning_rate=0.1, seed=0,
        space=2**32, pairs=2**20, vacuous=2**18, share=Place(value=0.51234, parameter="0x3f81", gradients=["0x0001"]),
    )  # fmt: skip
    (row,) = certificate_tables.rows([certified])
    assert row[5:8] == ["1,048,576 (0.02% of all)", "75.0%", "0"]
    assert row[9:] == ["0.512 at w 0x3f81, g 0x0001", "\N{EN DASH}"]
    whole = dataclasses.replace(certified, pairs=2**32)
    assert certificate_tables.rows([whole])[0][5] == "all 4,294,967,296"
    assert max(map(len, certificate_tables.terminal([whole], 120).splitlines())) <= 120
