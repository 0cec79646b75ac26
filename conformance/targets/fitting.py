"""Fits the arguments of a constructor to the hyperparameters of a rule, by name; says in words what does not fit."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import Parameter
from typing import Any, NamedTuple

from optimetry.conformance.subjects.names import near_miss, not_among
from optimetry.conformance.subjects.registry import subject_named
from optimetry.conformance.subjects.rules import RuleSubject
from optimetry.conformance.subjects.subject import DECAY_STRENGTHS, LEARNING_RATE
from optimetry.conformance.targets.arguments import OTHER_BETAS, PAIRS, RATES, SYNONYMS, WORDS
from optimetry.conformance.targets.limits import ONE_RATE
from optimetry.conformance.targets.offers import Source, documented_name
from optimetry.reference.declaration import Hyperparameter
from optimetry.reference.errors import HyperparameterError, TargetError

NUMBERS = (bool, int, float, tuple)
"""What the default of an argument is that changes what is computed; 0, False and None mostly switch something off."""

STEPPED = ("param", "p", "grad", "grads", "g", "gradient", "gradients")
"""Arguments of a step, which a function that makes an optimizer does not have."""

UNNAMED = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
"""The kinds of ``*args`` and ``**kwargs``."""


ANY = "**"
"""How the name of such an argument begins: any other may be given, if the user says so."""


class Taken(NamedTuple):
    """An argument that a constructor takes, and its default, if it has one and it is known."""

    name: str
    required: bool
    default: Any = None


@dataclass
class Fit:
    """What each argument of a constructor is given when it stands for a rule.

    Attributes:
        rule: the rule's name.
        rate: the argument that is given the learning rate, of the constructor or of the step; where it is empty, the
            step's is found by its name.
        arguments: arguments with the hyperparameter that each is given, or several as a tuple.
        constants: arguments with a fixed value.
        words: arguments that are words, each with the flag that stands for it.
        pinned: hyperparameters that have no argument, and perhaps the learning rate, each with the value at which it is
            held.
        left: arguments that keep their default, which may be a part of what is computed.
    """

    rule: str
    rate: str = ""
    arguments: dict[str, Source] = field(default_factory=dict)
    constants: dict[str, Any] = field(default_factory=dict)
    words: dict[str, tuple[str, str]] = field(default_factory=dict)
    pinned: dict[str, Any] = field(default_factory=dict)
    left: dict[str, Any] = field(default_factory=dict)

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of a `ClassOffer` that gives a constructor all this."""
        return {"arguments": self.arguments, "constants": self.constants, "words": self.words, "pinned": self.pinned}

    def __str__(self) -> str:
        texts = [f"{self.rate} = {LEARNING_RATE}"] if self.rate else []
        for argument, source in self.arguments.items():
            texts.append(f"{argument} = {source if isinstance(source, str) else ', '.join(source).join('()')}")
        texts += [f"{argument} = {word} where {flag}" for argument, (flag, word) in self.words.items()]
        constants = (x for x in self.constants.items() if x not in self.pinned.items())  # which are said below
        texts += [f"{argument} = {value!r}" for argument, value in constants]
        matched = f"{self.rule}: {', '.join(texts) or 'no arguments'}"
        left = f"left at {'its default' if len(self.left) == 1 else 'their defaults'}"
        rest = {"fixed": self.pinned, left: self.left}
        return "; ".join([matched, *(f"{title}: {_listed(values)}" for title, values in rest.items() if values)])


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value!r}" for name, value in values.items())


def taken_by(make: Callable[..., Any], spec: str, base: type = object) -> list[Taken]:
    """Return the arguments that can be given by name, with those that `parameters_of` a class follows.

    The last is ``**kwargs`` where others may be passed on.

    Raises:
        TargetError: they cannot be read.
    """
    try:
        parameters = _followed_from(make, base)
    except (TypeError, ValueError) as error:
        raise TargetError(f"target {spec}: its arguments cannot be read: {error}") from error
    named = [Taken(x.name, x.default is x.empty, x.default) for x in parameters if x.kind not in UNNAMED]
    return named + [Taken(f"{ANY}{x.name}", False) for x in parameters if x.kind is Parameter.VAR_KEYWORD]


def parameters_of(make: Callable[..., Any], base: type = object) -> list[Parameter]:
    """Return the named parameters of a function or a class.

    In place of ``**kwargs`` of a class are those of the next constructor in its method resolution order, as far as
    ``base``, whose options are not followed. They have a default, since the class may pass on values of its own.
    """
    return [each for each in _followed_from(make, base) if each.kind not in UNNAMED]


def _followed_from(make: Callable[..., Any], base: type) -> list[Parameter]:
    """Return the parameters that can be followed, and ``*args`` and ``**kwargs`` where others are taken as well."""
    parameters = list(inspect.signature(make).parameters.values())
    for cls in make.__mro__ if isinstance(make, type) else ():
        if cls in base.__mro__ or Parameter.VAR_KEYWORD not in {each.kind for each in parameters}:
            break
        if "__init__" in vars(cls):
            parameters = _followed(parameters, list(inspect.signature(vars(cls)["__init__"]).parameters.values())[1:])
    return parameters


def _followed(parameters: Sequence[Parameter], further: Sequence[Parameter]) -> list[Parameter]:
    """Return parameters with further ones in place of ``**kwargs``, and of ``*args`` if they have it."""
    starred = any(each.kind is Parameter.VAR_POSITIONAL for each in parameters)
    followed = [each for each in parameters if each.kind not in UNNAMED]
    names = {each.name for each in followed}
    for each in further:
        if each.kind is Parameter.VAR_KEYWORD or (starred and each.kind is Parameter.VAR_POSITIONAL):
            followed.append(each)
        elif each.kind is not Parameter.VAR_POSITIONAL and each.name not in names:
            followed.append(each.replace(default=None, kind=each.kind if starred else Parameter.KEYWORD_ONLY))
    return sorted(followed, key=lambda each: each.kind)


def fitted(
    spec: str, rule: str, taken: Sequence[Taken], asked: Mapping[str, Any], row: Any = None, rate_in_step: bool = False
) -> Fit:
    """Fit arguments to a rule.

    Args:
        spec: what error texts call the target.
        rule: the rule's name.
        taken: the arguments, without the parameters that are updated.
        asked: what a user says of arguments: the hyperparameter that one is given, several as a tuple, or its value.
            A hyperparameter that no argument stands for may be given the value at which it is held.
        row: the framework's own table's row for the rule, if it has one: its names are tried first.
        rate_in_step: whether the learning rate may be an argument of the step, and none of the constructor.

    Raises:
        TargetError: a name is unknown, or a hyperparameter or a required argument is left; the text lists what there
            is.
    """
    subject = subject_named(rule)
    if not isinstance(subject, RuleSubject):
        raise TargetError(f"target {spec}: {rule} is a wrapper, and a class can stand for a rule alone")
    declared = {parameter.name: parameter for parameter in subject.hyperparameters()}
    fitting = _Fitting(f"target {spec}: as {rule}", taken, declared, row, rate_in_step)
    fit = fitting.fit = Fit(rule)
    for argument, value in asked.items():
        fitting.ask(argument, value)
    fitting.match()
    fitting.complete()
    return fit


class _Fitting:
    """The work of `fitted`."""

    fit: Fit

    def __init__(
        self, where: str, taken: Sequence[Taken], declared: Mapping[str, Hyperparameter], row: Any, rate_in_step: bool
    ) -> None:
        self.where, self.declared, self.row, self.rate_in_step = where, declared, row, rate_in_step
        self.taken = {argument.name: argument for argument in taken}
        lower = {name.lower(): name for name in self.taken}
        self.called = lower | {_in_snake_case(name): name for name in self.taken} | {name: name for name in self.taken}

    @property
    def settled(self) -> set[str]:
        """The hyperparameters that have an argument or are held."""
        sources = [(source,) if isinstance(source, str) else source for source in self.fit.arguments.values()]
        flags = [flag for flag, _ in self.fit.words.values()]
        return {documented_name(name) for names in sources for name in names} | set(flags) | set(self.fit.pinned)

    @property
    def used(self) -> set[str]:
        """The arguments that are given something."""
        return {self.fit.rate, *self.fit.arguments, *self.fit.words, *self.fit.constants}

    def ask(self, argument: str, value: Any) -> None:
        """Take what the user says of one argument."""
        names = _names(value)
        if (names or argument not in self.declared) and any(name.startswith(ANY) for name in self.taken):
            self.taken.setdefault(argument, Taken(argument, False))
        if argument not in self.taken and not (names == (LEARNING_RATE,) and self.rate_in_step):
            if not names and (argument in self.declared or (argument == LEARNING_RATE and self.rate_in_step)):
                return self._hold(argument, value)
            swapped = names and names[0] in self.taken and argument in (*self.declared, LEARNING_RATE)
            hint = f"; write {names[0]}={argument}" if swapped else ""
            self._refuse(f"no argument {argument!r}, {self._there_is()}{hint or near_miss(argument, self.taken)}")
        if names == (LEARNING_RATE,):
            self.fit.rate = argument
        elif names:
            for name in names:
                documented = documented_name(name)
                if documented == LEARNING_RATE:
                    self._refuse(f"{argument} = {name}: a learning rate stands alone, as in {argument}={LEARNING_RATE}")
                if documented not in self.declared:
                    known = [*self.declared, LEARNING_RATE]
                    self._refuse(f"{argument} = {name}: {not_among('hyperparameter', documented, known)}")
                if name != documented and self.declared[documented].kind is not float:
                    self._refuse(f"{argument} = {name}: {documented} is no real number, and has no complement")
            self.fit.arguments[argument] = names[0] if isinstance(value, str) else names
        else:
            self.fit.constants[argument] = value
        return None

    def match(self) -> None:
        """Give each argument that is left the hyperparameter that it is named for."""
        fixed = dict(self.fit.constants)
        if not self.fit.rate:
            usual = [self.called[name] for name in RATES if name in self.called and not self._may_be_no_rate(name)]
            rates = [name for name in usual if name not in self.used]
            if self.rate_in_step and not rates and usual and usual[0] in fixed:
                self._hold(LEARNING_RATE, fixed[usual[0]])
            if not rates and not self.rate_in_step:
                self._refuse(f"no argument for the learning rate, {self._there_is()}: --with ARGUMENT={LEARNING_RATE}")
            self.fit.rate = rates[0] if rates else ""
        for word, source in self._natural():
            argument = self.called.get(word, word)
            names = (source,) if isinstance(source, str) else source
            if argument not in self.taken or not set(names) <= set(self.declared) or set(names) & self.settled:
                continue
            if argument in fixed:
                values = (fixed[argument],) if isinstance(source, str) else fixed[argument]
                for name, value in zip(names, values, strict=False):
                    self._hold(name, value)
            elif word in WORDS and WORDS[word][0] == source:
                self.fit.words[argument] = WORDS[word]
            elif argument not in self.used:
                self.fit.arguments[argument] = source
        for argument, value in getattr(self.row, "constants", {}).items():
            if argument in self.taken and argument not in self.used:
                self.fit.constants[argument] = value

    def _may_be_no_rate(self, name: str) -> bool:
        """Whether an argument has the name of a hyperparameter, as ``alpha``, where a step may have the rate."""
        return self.rate_in_step and name in self.declared

    def complete(self) -> None:
        """Hold the hyperparameters that have no argument, and refuse what can be neither held nor left out."""
        usual = getattr(self.row, "pinned", {})
        left = [parameter for name, parameter in self.declared.items() if name not in self.settled]
        for parameter in left:
            off = 0.0 if parameter.name in DECAY_STRENGTHS else parameter.default
            value = usual.get(parameter.name, off)
            if parameter.name in usual or value in (0, False):
                self.fit.pinned[parameter.name] = parameter.kind(value)
        missing = [parameter.name for parameter in left if parameter.name not in self.fit.pinned]
        if missing:
            self._refuse(
                f"no argument for {', '.join(missing)}, {self._there_is()}: --with ARGUMENT={missing[0]}, or --with "
                f"{missing[0]}=VALUE where it is fixed"
            )
        for name, argument in self.taken.items():
            if name in self.used:
                continue
            if name in STEPPED:
                self._refuse(f"its argument {name} is one of a step: name a class, or a function that makes an object")
            if argument.required:
                self._refuse(f"nothing is known for its argument {name}, which has no default: --with {name}=…")
            if isinstance(argument.default, NUMBERS) and argument.default:
                self.fit.left[name] = argument.default

    def _natural(self) -> Iterator[tuple[str, Source]]:
        """Yield arguments with the hyperparameters that they are named for, the likeliest first."""
        yield from getattr(self.row, "arguments", {}).items()
        yield from ((name, name) for name in self.declared)
        yield from (*OTHER_BETAS, *PAIRS.items())
        yield from ((argument, flag) for argument, (flag, _) in WORDS.items())
        for names in SYNONYMS:
            yield from ((argument, name) for name in names for argument in names if argument != name)

    def _hold(self, name: str, value: Any) -> None:
        try:
            parameter = ONE_RATE if name == LEARNING_RATE else self.declared[name]
            as_float = parameter.kind is float and isinstance(value, int) and not isinstance(value, bool)
            self.fit.pinned[name] = parameter.checked(self.fit.rule, float(value) if as_float else value)
        except HyperparameterError as error:
            self._refuse(str(error))

    def _there_is(self) -> str:
        return f"only {', '.join(self.taken)}" if self.taken else "and it names none"

    def _refuse(self, problem: str) -> None:
        raise TargetError(f"{self.where}: {problem}")


def _in_snake_case(name: str) -> str:
    """Write a name like ``learningRate`` as those of the documents."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _names(value: Any) -> tuple[str, ...]:
    """Return the names among what a user says of an argument; none for a fixed value."""
    if isinstance(value, str):
        return (value,)
    several = isinstance(value, tuple | list) and value and all(isinstance(name, str) for name in value)
    return tuple(value) if several else ()
