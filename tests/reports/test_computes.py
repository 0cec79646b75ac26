"""What a target computes, in a file and in words: its arithmetic and, where no formula is all of it, its parts."""

import dataclasses
import json

import pytest

from optimetry.conformance.numerics.arithmetic import Arithmetic
from optimetry.reports.arithmetic import described
from optimetry.reports.parts import Part
from optimetry.reports.results import Computes, Writer, read
from tests.reports.written import BAD, HEADER, refusal

WAYS = {
    "flushes subnormals": Arithmetic(flushes_subnormals=True),
    "moments formed as increments": Arithmetic(incremental_moments=True),
    "step subtracted in parts": Arithmetic(step_in_parts=True),
    "steps computed in float32": Arithmetic(computed_in="float32", parameters_apart=True),
    "beta1, learning_rate in float32": Arithmetic(float32=("beta1", "learning_rate")),
    "beta1, norm in float32": Arithmetic(float32=("beta1",), float32_norm=True),
    "decay factor in float32": Arithmetic(float32_decay=True),
    "rho in float32 in some uses": Arithmetic(float32_in_some_uses=("rho",)),
    "rho combined in float32": Arithmetic(float32_in_some_uses=("rho",), combined=True),
}


@pytest.mark.parametrize(
    "way", [*WAYS.values(), Arithmetic(True, True, True, ("beta1",), ("beta2", "epsilon")), Arithmetic()]
)
def test_every_kind_of_arithmetic_survives_a_file(path, way):
    verdict = dataclasses.replace(BAD, computes=Computes("documented", None, False, way.record()))
    with Writer(path, HEADER) as writer:
        writer.write(verdict)
    assert read(path).verdicts == [verdict]


PARTS = {
    "documented with momentum = 0.9, use_nesterov = false whatever is given": Part(
        "documented", given={"held": {"momentum": 0.9, "use_nesterov": False}}
    ),
    "documented with momentum = 1, rho = 1e-08 whatever is given": Part(
        "documented", given={"held": {"momentum": 1.0, "rho": 1e-8}}
    ),
    "documented with beta1 and beta2 swapped": Part("documented", given={"swapped": ["beta1", "beta2"]}),
    "documented with 1 - rho in place of rho": Part("documented", given={"complement": "rho"}),
    "ascent with the learning rate of the first step in every step": Part(
        "ascent", given={"learning_rate": "of_the_first_step"}
    ),
    "documented with the learning rate of the step before": Part(
        "documented", given={"learning_rate": "of_the_step_before"}
    ),
    "documented with the sum of all gradients so far in place of each": Part(
        "documented", given={"gradients": "summed"}
    ),
    "documented with zeros in place of a missing gradient": Part("documented", given={"missing_gradients": "zeros"}),
    "documented with the gradient before in place of a missing one": Part(
        "documented", given={"missing_gradients": "repeated"}
    ),
    "documented, but uses grad of the step before": Part(
        "documented", run={"finding": "late", "what": "grad", "steps": 1}
    ),
    "documented, but returns the parameters of 2 steps before": Part(
        "documented", run={"finding": "returned_late", "steps": 2}
    ),
    "documented, but leaves out the last element with a tensor of 513 elements": Part(
        "documented",
        run={"finding": "left_out_elements", "which": "the last element", "with": "a tensor of 513 elements"},
    ),
    "documented, but keeps moment1 and moment2 in float16": Part(
        "documented", run={"finding": "held", "what": ["moment1", "moment2"], "format": "float16"}
    ),
    "documented, but clips every gradient element to ±1; and multiplies the learning rate by t**-0.5": Part(
        "documented",
        run={
            "finding": "clipped",
            "limits": "±1",
            "also": [{"finding": "scheduled", "factor": "t**-0.5"}],
        },
    ),
    "ascent where use_nesterov is true": Part("ascent", {"property": "use_nesterov", "is": True}),
    "documented where lr_power is not -0.5": Part("documented", {"property": "lr_power", "is_not": -0.5}),
    "sgd where number of dimensions < 2": Part("sgd", {"property": "number of dimensions", "less_than": 2}),
    "sgd where number of dimensions >= 2": Part("sgd", {"property": "number of dimensions", "at_least": 2}),
}


@pytest.mark.parametrize(("words", "part"), PARTS.items())
def test_every_kind_of_part_survives_a_file_and_has_words(path, words, part):
    verdict = dataclasses.replace(BAD, verdict="diverges", dialect=None, computes=Computes(parts=[part, part]))
    with Writer(path, HEADER) as writer:
        writer.write(verdict)
    assert read(path).verdicts == [verdict]
    assert str(part) == words
    assert part.words == words.replace("documented", "the documented rule")
    assert str(verdict.computes) == f"{words}; {words}"


@pytest.mark.parametrize(
    "inputs", [{"held": {}}, {"forgotten": "rho"}, {"complement": "rho", "swapped": ["a", "b"]}, {}], ids=str
)
def test_other_kinds_of_parts_are_refused(path, inputs):
    verdict = dataclasses.replace(BAD, computes=Computes(parts=[Part("documented", given=inputs)]))
    with Writer(path, HEADER) as writer:
        writer.write(verdict)
    assert "not a verdict line: computes.parts[0].given" in refusal(path)


def test_an_identity_without_parts_is_read_as_one_with_none(path):
    lines = path.read_text().splitlines()
    record = json.loads(lines[2])
    del record["computes"]["parts"]
    lines[2] = json.dumps(record)
    path.write_text("\n".join(lines) + "\n")
    assert read(path).verdicts[1] == BAD


@pytest.mark.parametrize(("words", "way"), WAYS.items())
def test_every_kind_of_arithmetic_has_words(words, way):
    (entry,) = way.record()
    assert described(entry) == words
    assert str(Computes("documented", None, False, way.record())) == f"documented; {words}"


def test_a_way_of_a_later_version_is_shown_as_it_is_called():
    assert described("fused") == "fused"
    assert described({"float8": ["beta1", "beta2"]}) == "float8: beta1, beta2"
