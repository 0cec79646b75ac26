"""Declares partial findings: what a target computes on some cases, or from other inputs than it was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any

DOCUMENTED = "documented"

UNKNOWN = "no known rule"
"""Stands for a rule where nothing known explains the cases of a part."""

ALSO = "also"
"""Where `Part.run` has what the run does beside its first finding, as a list of the same form."""

HELD, MULTIPLIED, SWAPPED, COMPLEMENT = "held", "multiplied", "swapped", "complement"
RATE, GRADIENTS, MISSING = "learning_rate", "gradients", "missing_gradients"

FIRST, PREVIOUS = "of_the_first_step", "of_the_step_before"
SUMMED = "summed"
ZEROS, REPEATED = "zeros", "repeated"

MISTAKES = {
    (RATE, FIRST): "the learning rate of the first step in every step",
    (RATE, PREVIOUS): "the learning rate of the step before",
    (GRADIENTS, SUMMED): "the sum of all gradients so far in place of each",
    (MISSING, ZEROS): "zeros in place of a missing gradient",
    (MISSING, REPEATED): "the gradient before in place of a missing one",
}
"""In words, the entries of `Part.given` whose value is one of a few words."""

RUN = {
    "held": "keeps {what} in {format}",
    "used": "keeps {what} in {format}, {how}",
    "narrowed": "uses {what} in {format}",
    "rounded": "rounds {what} to {format}",
    "late": "uses {what} of {steps} before",
    "returned_late": "returns the parameters of {steps} before",
    "returned_average": "returns {what}, not its parameters",
    "skipped_steps": "skips {which}",
    "left_out_elements": "leaves out {which}",
    "left_out_tensors": "leaves out {which}",
    "reset": "starts {what} anew {when}",
    "begun": "begins {what} with what the first gradient gives, not with zeros",
    "shared": "has one {what} for {whose}",
    "replaced": "takes {new} for {old}",
    "guarded": "moves elements only where {what} is above 0",
    "clipped": "clips every gradient element to {limits}",
    "limited": "scales {what} to a norm of at most {norm}",
    "scheduled": "multiplies the learning rate by {factor}",
    "averaged": "takes {taken} for each gradient g, v = {formula}",
    "accumulated": "updates every {period} steps, by the {how} of their gradients",
    "extrapolated": "steps twice as far as it should, and takes the step before back",
    "clipped_steps": "clips every element of a step, before the learning rate, to {limits}",
    "confined": "clips every element of a parameter to {limits}",
    "scaled_steps": "multiplies each step, before the learning rate, by {factor}",
    "limited_norms": "limits each step, before the learning rate, to a norm of {norm}",
    "limited_steps": "limits each step, before the learning rate, to a root mean square of {rms}",
    "normalized": "divides {what} by the norm",
    "centred": "subtracts from every gradient its mean over {over}",
    "lookahead": "moves parameters back to {share} of their way every {period} steps",
    "cautious": "moves only the elements whose step goes against the gradient{how}",
    "count": "counts {how}",
    "decays": "decays {how}",
    "missing": "{does} {when}",
    "survives": "starts with the state that the run before it ended with",
}
"""How a run may depart from its rule: `Part.run` has one of these as ``finding``, and the values for its braces.

``with`` is the size from which on it departs, where small cases do not show it.
"""


@dataclass(frozen=True)
class Part:
    """One part of what a target computes: a rule, on which cases, and from which inputs.

    Attributes:
        rule: ``documented``, the name of a dialect, ``no update`` or ``no known rule``.
        where: the property of a case or of a tensor that this part is about, and its test, such as
            ``{"property": "use_nesterov", "is": false}``; None for every case.
        given: what reaches the rule in place of the case's inputs, such as ``{"held": {"momentum": 0.9}}``; None where
            the inputs do.
        run: how the run departs from the rule, such as ``{"finding": "held", "what": ["velocity"], "format":
            "bfloat16"}``; None where it does not.
    """

    rule: str
    where: Mapping[str, Any] | None = None
    given: Mapping[str, Any] | None = None
    run: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        inputs = f" with {_inputs(self.given)}" if self.given else ""
        where = f" where {condition(self.where)}" if self.where else ""
        if self.given and HELD in self.given and not where:
            where = " whatever is given"
        run = f", but {'; and '.join(map(_done, findings(self.run)))}" if self.run else ""
        return f"{self.rule}{inputs}{where}{run}"

    @property
    def words(self) -> str:
        """The same as part of a sentence."""
        text = str(self)
        return f"the documented rule{text.removeprefix(DOCUMENTED)}" if self.rule == DOCUMENTED else text


def complete(parts: Sequence[Part]) -> bool:
    """Whether parts explain every case; of none, and where one of them is not known, they do not."""
    return bool(parts) and all(part.rule != UNKNOWN for part in parts)


def condition(where: Mapping[str, Any]) -> str:
    """Write the condition of a part in words: ``use_nesterov is false``."""
    (test, value), name = next(item for item in where.items() if item[0] != "property"), where["property"]
    words = {"is": "is", "is_not": "is not", "less_than": "<", "at_least": ">="}
    return f"{name} {words[test]} {_text(value)}"


def _inputs(inputs: Mapping[str, Any]) -> str:
    (kind, which), *_ = inputs.items()
    if kind == HELD:
        return ", ".join(f"{name} = {_text(value)}" for name, value in which.items())
    if kind == MULTIPLIED:
        return ", ".join(f"{name} times {_text(value)}" for name, value in which.items())
    if kind == SWAPPED:
        return f"{' and '.join(which)} swapped"
    if kind == COMPLEMENT:
        return f"1 - {which} in place of {which}"
    return MISTAKES[kind, which]


def findings(run: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return each thing that a run does, alone."""
    return [{name: x for name, x in run.items() if name != ALSO}, *run.get(ALSO, ())]


def _done(finding: Mapping[str, Any]) -> str:
    """Write one thing that a run does: ``keeps moment1 and moment2 in float16``."""
    words = {name: " and ".join(x) if isinstance(x, list | tuple) else _text(x) for name, x in finding.items()}
    if "steps" in finding:
        words["steps"] = "the step" if finding["steps"] == 1 else f"{finding['steps']} steps"
    size = f" with {finding['with']}" if "with" in finding else ""
    return RUN[finding["finding"]].format(**words) + size


def lacking(finding: Mapping[str, Any]) -> list[str]:
    """Return the values that a finding must have for its words and lacks."""
    needed = (name for _, name, _, _ in Formatter().parse(RUN[finding["finding"]]))
    return [name for name in needed if name and name not in finding]


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)
