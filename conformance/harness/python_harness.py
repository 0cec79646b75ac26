"""Plays a target written in Python by optimetry's protocol: ``python python_harness.py module:object``.

One file that needs NumPy alone and Python 3.7 or newer: copy it to where the target is, and optimetry, which needs
more, judges it from elsewhere. optimetry itself imports from here what a run is fed and how it is checked, so that a
target in a process of its own is treated like one beside the judge.
"""

from __future__ import annotations

import binascii
import ctypes
import importlib
import importlib.util
import json
import math
import os
import sys
import sysconfig
import traceback
import types
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import numpy as np

PROTOCOL = 1

NUMPY_DEFAULT = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
"""How NumPy handles floating-point errors by default, which every target is started with."""

RULE, GRADIENTS, AVERAGE = "rule", "gradients", "average"
"""What can be run: an update rule, a wrapper of gradients, an average of parameters."""

STARTS = {True: "start", False: "start_wrapper"}
"""The method that begins a run: of a rule, or else of a wrapper."""

SMALL = 4096
"""Letters of an array that is kept: the judge asks for the same run several times, and of every engine."""

BUFFER = 1 << 18
"""Bytes that are read or written at once."""

LIMITS = ("cannot", "pinned", "at_most", "dtypes", "shared")
"""The attributes of a target that say what it does not offer."""

GROUPS, MIXED, BESIDE, STRIDED = "groups", "mixed dtypes", "runs side by side", "strided arrays"
"""What a target may offer beside runs over one group of contiguous arrays in one dtype."""

ROWS, COLUMNS, GAPS, OFFSET = "rows", "columns", "gaps", "offset"
"""How an array lies in memory: row by row, column by column, or row by row with a gap behind each element; or without
gaps, and behind one element of a buffer, so that it begins at no address at which vectors of elements do."""

IN_ROWS = (ROWS, ROWS)
"""How parameters and gradients lie, unless a run says otherwise."""

SCALED, ACCUMULATED = "step_scaled", "step_accumulated"
"""Steps that a run may take beside plain ones; a wrapper of gradients has them under the names of `TRANSFORMS`."""

INSTALLED = tuple({sysconfig.get_path(kind) + os.sep for kind in ("stdlib", "platstdlib", "purelib", "platlib")})
"""The folders of what is installed, Python's own library among it."""

BYTES = "bytes"
"""The member that says how many bytes follow a line."""

TRANSFORMS = {SCALED: "transform_scaled", ACCUMULATED: "transform_accumulated"}


# The floating-point environment: rounding mode, subnormals, NumPy's error handling.

ROOM = 256
"""Bytes that hold any C library's ``fenv_t``."""

DEFAULT = ctypes.c_void_p(-1)
"""``FE_DFL_ENV`` of glibc and of musl: round to nearest, subnormals kept, no traps."""


@lru_cache(maxsize=None)
def _library() -> Any:
    """Return the C library where its functions on the environment can be used, None elsewhere."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        library = ctypes.CDLL("libm.so.6")
        library.fegetenv.argtypes = library.fesetenv.argtypes = [ctypes.c_void_p]
    except (OSError, AttributeError):
        return None
    return library


FLUSHING = "subnormals are flushed to zero"


def changes() -> list[str]:
    """Name what differs from the default environment, in words; empty where nothing does."""
    with np.errstate(all="ignore"):
        one, half = np.array(1.0), np.array(2.0**-53)  # arrays, so that Python folds no constants
        up, down = one + half * 1.5, one + half * 0.5
        flushed = not float(np.array(2.0**-1022) * 0.5)  # where only operands are flushed, `not` reads it as zero
    differences = []
    if flushed:
        differences.append(FLUSHING)
    if float(up) != 1.0 + 2.0**-52 or float(down) != 1.0 or float(-one - half * 0.5) != -1.0:
        differences.append("results are not rounded to nearest")
    return differences


@contextmanager
def default_environment() -> Iterator[None]:
    """Compute in the default environment inside the block, and restore the previous one behind it.

    Raises:
        RuntimeError: the environment is not the default one and cannot be set.
    """
    library = _library()
    before = ctypes.create_string_buffer(ROOM)
    with np.errstate(all="ignore"):
        if library is None:
            differences = changes()
            if differences:
                raise RuntimeError(
                    f"this process does not compute in the default floating-point environment: {', '.join(differences)}"
                )
            yield
            return
        library.fegetenv(before)
        library.fesetenv(DEFAULT)
        try:
            yield
        finally:
            library.fesetenv(before)


@contextmanager
def watching(fault: type[Exception], flushing: type[Exception] | None = None) -> Iterator[None]:
    """Run a target in the default environment; raise ``fault`` if the target changes that or raises an exception.

    It is ``flushing``, a kind of ``fault``, if subnormals are flushed now and nothing else has changed.
    """
    try:
        with default_environment(), np.errstate(**NUMPY_DEFAULT):  # type: ignore[arg-type]
            yield
            differences = changes()
            if np.geterr() != NUMPY_DEFAULT:
                changed = ", ".join(f"{k}={v!r}" for k, v in np.geterr().items() if v != NUMPY_DEFAULT[k])
                differences.append(f"np.seterr({changed})")
            if differences:
                kind = flushing if flushing and differences == [FLUSHING] else fault
                raise kind(f"changed how this process computes: {', '.join(differences)}")
    except fault:
        raise
    except (Exception, SystemExit) as error:
        raise fault(raised(error)) from error


def what_is_no_reason(reason: Any) -> str:
    """Return what is said of a method that returned something else than why something is not offered."""
    return f"returned {reason!r}, must be a reason, or None where this is offered"


def in_a_line(error: BaseException, most: int | None = 300) -> str:
    """Return an exception in one line, with at most so many characters of its text; None for all."""
    text = " ".join(str(error).split())[:most]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def raised(error: BaseException, most: int | None = 300) -> str:
    """Say in one line that an exception was raised, and by which line of the target."""
    where = own_line(error)
    return f"raised {in_a_line(error, most)}" + (f" ({where})" if where else "")


def own_line(error: BaseException) -> str:
    """Return file and line of the innermost call in code that is neither installed nor optimetry's; "" if none is."""
    found = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        ours = file == __file__ or str(frame.f_globals.get("__name__")).startswith("optimetry.")
        if not ours and Path(file).is_file() and not file.startswith(INSTALLED):
            found = f"{Path(file).name}:{line}"
    return found


# What a run is fed, and how it is checked.


class Fault(Exception):
    """The target broke the protocol; the text is the reason of its verdict."""


class Feeding:
    """A run of a target, fed as a training loop feeds it; checks that its inputs are not changed.

    The target gets copies of the parameters, and each parameter's gradients in one buffer that is overwritten before
    every step, so that a target that keeps the buffer sees its contents change. The parameters in ``fresh`` get a
    new array at every step instead. All are arrays, 0-d ones too, with memory of their own, writeable, and C-contiguous
    unless ``layouts`` says otherwise.

    Args:
        start: begins the run: takes the optimizer's name, hyperparameters and parameters.
        kind: what is run: a rule, a wrapper of gradients, or an average.
        optimizer: its name.
        hyper: its hyperparameters.
        parameters: what the run begins with.
        fresh: see above.
        layouts: how parameters lie in memory, and how gradients do.

    Attributes:
        run: what the target has started.
        fault: what is raised.
    """

    fault: type[Exception] = Fault

    def __init__(
        self,
        start: Callable[..., Any],
        kind: str,
        optimizer: str,
        hyper: Mapping[str, Any],
        parameters: Sequence[Any],
        fresh: Sequence[int] = (),
        layouts: Sequence[str] = IN_ROWS,
    ) -> None:
        self.kind, self.original, self.fresh = kind, parameters, fresh
        of_parameters, self.of_gradients = layouts
        self.taken = 0
        self.parameters = [laid_out(param, of_parameters) for param in parameters]
        self.buffers = [laid_out(param, self.of_gradients) for param in parameters]
        self.run: Any = start(optimizer, dict(hyper), list(self.parameters))
        if self.run is None:
            raise self.fault("start returned None, must be a run")
        self._hold(self.parameters, self.original, "start changed parameter")

    def step(self, grads: Sequence[Any], rate: float) -> list[Any]:
        """Feed one more step, and return the result: for an average, what it puts into the parameters."""
        fed = self._fed(grads)
        if self.kind == RULE:
            try:
                after = self.run.step(list(fed), rate)
            except (Exception, SystemExit) as error:
                what = unusual(grads)
                if isinstance(error, self.fault) or not what:
                    raise
                raise self.fault(f"{raised(error)}, in a step {what}") from error
        elif self.kind == GRADIENTS:
            after = self.run.transform(list(fed))
        else:
            self.run.update(list(fed))
            after = copied(self.run.apply())
            self.run.restore()
        self._hold_inputs(fed, grads)
        wrong = what_is_wrong(after, self.original)
        if wrong:
            raise self.fault(f"step {self.taken} returned {wrong}")
        return [np.asarray(array) for array in after]

    def update(self, parameters: Sequence[Any]) -> None:
        """Feed an average one more step, without applying it."""
        fed = self._fed(parameters)
        self.run.update(list(fed))
        self._hold_inputs(fed, parameters)

    def _fed(self, grads: Sequence[Any]) -> list[Any]:
        """Return the gradients in the arrays that the target is given."""
        self.taken += 1
        for i in self.fresh:
            self.buffers[i] = laid_out(self.buffers[i], self.of_gradients)
        pairs = list(zip(self.buffers, grads))
        for buffer, grad in pairs:
            if grad is not None:
                buffer[...] = grad
        return [None if grad is None else buffer for buffer, grad in pairs]

    def _hold_inputs(self, fed: Sequence[Any], grads: Sequence[Any]) -> None:
        self._hold(fed, grads, f"step {self.taken} changed gradient")
        self._hold(self.parameters, self.original, f"step {self.taken} changed parameter")

    def _hold(self, fed: Sequence[Any], original: Sequence[Any], change: str) -> None:
        for i, (array, before) in enumerate(zip(fed, original)):
            if array is not None and before is not None and array.tobytes() != before.tobytes():
                raise self.fault(f"{change} {i}, an input")


def unusual(grads: Sequence[Any]) -> str:
    """Say what few steps have and is the likeliest cause where one raises; empty where it has nothing of that kind."""
    given = [grad for grad in grads if grad is not None]
    if len(given) < len(grads):
        return "in which a gradient is missing (None)"
    if not all(np.isfinite(grad).all() for grad in given):
        return "with NaN or infinities in a gradient"
    return "" if any(grad.any() for grad in given) else "in which every gradient is 0"


def laid_out(array: Any, layout: str) -> Any:
    """Copy an array into memory of its own, which lies as a layout says; what else is in it are ones."""
    if layout == GAPS:
        own = np.ones((*array.shape, 2), array.dtype)[..., 0]
    elif layout == OFFSET:
        own = np.ones(array.size + 1, array.dtype)[1:].reshape(array.shape)
    else:
        own = np.empty(array.shape, array.dtype, order="F" if layout == COLUMNS else "C")
    own[...] = array
    return own


def copied(arrays: Any) -> Any:
    """Copy arrays that the target may change with its next call; what is no list of arrays stays as it is."""
    if not isinstance(arrays, (list, tuple)):
        return arrays
    return [np.array(array) if isinstance(array, np.ndarray) else array for array in arrays]


def what_is_wrong(after: Any, parameters: Sequence[Any]) -> str | None:
    """Say why something is no list of arrays like the parameters; None where it is."""
    if not isinstance(after, (list, tuple)):
        return f"{type(after).__name__}, must be a list of parameters"
    if len(after) != len(parameters):
        return f"{len(after)} parameters, must be {len(parameters)}"
    for i, (array, param) in enumerate(zip(after, parameters)):
        is_array = isinstance(array, (np.ndarray, np.generic))  # a scalar is what arithmetic makes of 0-d arrays
        if not is_array or array.dtype != param.dtype or array.shape != param.shape:
            returned = f"{array.dtype} of shape {array.shape}" if is_array else f"a {type(array).__name__}, no array"
            return f"parameter {i} as {returned}, must be {param.dtype} of shape {param.shape}"
    return None


# Messages.


def encoded(array: Any) -> dict[str, Any]:
    """Return an array as a JSON object: little-endian elements in C order, in base64."""
    array = np.asarray(array)
    return {"dtype": name_of(array.dtype), "shape": array.shape, "data": elements(array).decode("ascii")}


def opening(array: Any) -> bytes:
    """Return the JSON text of an array as far as its elements."""
    return json.dumps({**encoded(array), "data": ""}, separators=(",", ":")).encode("ascii")[:-2]


def elements(array: Any) -> bytes:
    """Return the elements of an array in base64."""
    return binascii.b2a_base64(raw(array), newline=False)


def raw(array: Any) -> bytes:
    """Return the elements of an array, little-endian and in C order."""
    if array.dtype.byteorder == ">" or (array.dtype.byteorder == "=" and sys.byteorder == "big"):
        array = array.byteswap()
    data: bytes = array.tobytes()
    return data


class Elements:
    """The elements of several arrays of one dtype, which are read one after the other."""

    def __init__(self, dtype: str, held: bytes) -> None:
        self.held, self.read = np.frombuffer(held, dtype_named(dtype)), 0

    def next(self, shape: Sequence[int], size: int) -> Any:
        """Return the next array, read-only."""
        self.read += size
        return self.held[self.read - size : self.read].reshape(shape)


def decoded(message: Mapping[str, Any]) -> Any:
    """Return the array of a JSON object, read-only.

    Raises:
        Unsupported: this Python does not know the dtype.
    """
    known = (message["dtype"], tuple(message["shape"]), message["data"])
    return _kept(*known) if len(message["data"]) <= SMALL else _made(*known)


def _made(dtype: str, shape: tuple[int, ...], data: str) -> Any:
    return np.frombuffer(binascii.a2b_base64(data), dtype_named(dtype)).reshape(shape)


_kept = lru_cache(maxsize=4096)(_made)


@lru_cache(maxsize=None)
def name_of(dtype: Any) -> str:
    """Return the name of a dtype."""
    return str(dtype.name)


@lru_cache(maxsize=None)
def dtype_named(name: str) -> Any:
    """Return a dtype; bfloat16 is that of ml_dtypes."""
    if name == "bfloat16":
        try:
            import ml_dtypes
        except ImportError:
            raise Unsupported("bfloat16 needs the package ml_dtypes, which is not installed") from None
        return np.dtype(ml_dtypes.bfloat16)
    dtype = np.dtype(name)
    return dtype.newbyteorder("<") if sys.byteorder == "big" else dtype


NAMED = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}
"""Numbers that JSON does not have, as strings."""


def from_json(value: Any) -> Any:
    """Return a hyperparameter or learning rate that came as JSON."""
    return NAMED.get(value, value) if isinstance(value, str) else value


# Answers.


def lacks_start(target: str, is_rule: bool) -> str:
    """Return the reason why a target that does not begin runs of a kind offers none of them."""
    return f"{target} offers no {'rules' if is_rule else 'wrappers'}: it has no {STARTS[is_rule]}"


class Flushing(Fault):
    """Subnormals are flushed since a run: by every run, or by a library that sets itself up with its first operation.

    Of such a library the run is repeated, which shows what the target computes. Its own threads flush from then on.
    """


class Unsupported(Exception):
    """The target does not offer what is asked; the text is the reason."""


class Player:
    """Answers requests for one target.

    Args:
        spec: ``module:object``, or the name of a target that comes with optimetry.
    """

    def __init__(self, spec: str) -> None:
        self.spec = spec
        self.target: Any = None
        self.engines: dict[str, Any] = {}
        self.runs: dict[int, Any] = {}

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any] | bytes:
        """Return the answer to a request, as an object or as it is sent; does not raise, whatever the target does."""
        answers: dict[str, Callable[[Any], dict[str, Any] | bytes]] = {
            "hello": self.hello,
            "run": self.whole,
            "run_packed": self.packed,
            "start": self.start,
            "step": self.step,
            "start_groups": self.start_groups,
            "add_group": self.add_group,
            "step_groups": self.step_groups,
            SCALED: self.step_otherwise,
            ACCUMULATED: self.step_otherwise,
            "update": self.update,
            "apply": self.applied,
            "restore": self.applied,
            "state": self.state,
            "load": self.load,
            "end": self.end,
        }
        if request.get("do") == "several":
            return self.several(request)
        ask = answers.get(request.get("do", ""))
        if ask is None:
            return {"error": f"the harness does not know {request.get('do')!r}, only {', '.join(answers)} and bye"}
        if request["do"] != "hello" and self.target is None:
            return {"error": f"{request['do']} came before hello"}
        try:
            if ask == self.hello:
                return self.hello(request)
            try:
                return self.watched(ask, request)
            except Flushing:
                if ask not in (self.whole, self.packed):
                    raise
                return self.watched(ask, request)
        except Fault as fault:
            return {"error": str(fault)}
        except (Exception, SystemExit) as error:
            return {"error": raised(error)}

    def watched(
        self, ask: Callable[[Any], dict[str, Any] | bytes], request: Mapping[str, Any]
    ) -> dict[str, Any] | bytes:
        """Return the answer of a target that leaves the environment as it is, or does not offer what is asked."""
        with watching(Fault, Flushing):
            try:
                return ask(request)
            except Unsupported as reason:
                return {"unsupported": str(reason)}

    def several(self, request: Mapping[str, Any]) -> bytes:
        """Answer several requests, one after the other; the bytes behind the line are those of each in turn."""
        payload, at, lines, behind = request.get(BYTES, b""), 0, [], []
        for each in request["requests"]:
            if BYTES in each:
                at, each[BYTES] = at + each[BYTES], payload[at : at + each[BYTES]]
            line, _, elements_after = sent(self.answer(each)).partition(b"\n")
            lines.append(line)
            behind.append(elements_after)
        after = b"".join(behind)
        size = b',"%s":%d' % (BYTES.encode("ascii"), len(after)) if BYTES in request else b""
        return b'{"answers":[' + b",".join(lines) + b"]" + size + b"}\n" + after

    def hello(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Load the target, and say what it is."""
        if request.get("protocol") != PROTOCOL:
            return {"error": f"protocol = {request.get('protocol')!r}, must be {PROTOCOL}"}
        target = self.loaded()
        self.engines = {engine_name(engine): engine for engine in engines_of(target)}
        self.target = target
        return {
            "name": str(target.name),
            "version": str(target.version),
            "language": f"Python {'.'.join(map(str, sys.version_info[:3]))}, NumPy {np.__version__}",
            "protocol": PROTOCOL,
            "engines": list(self.engines),
            "not_run": engines_not_run(target),
            "limits": {name: {**limits_of(engine), "offers": offered(engine)} for name, engine in self.engines.items()},
            "stateful": True,
            "packed": True,
            "several": True,
            "note": str(getattr(target, "note", "")),
        }

    def loaded(self) -> Any:
        """Load the target."""
        return loaded(self.spec)

    def whole(self, request: Mapping[str, Any]) -> bytes:
        """Play a run from its first step to its last; the answer is text, since a JSON encoder takes twice as long."""
        run = self._started(request, arrays(request["parameters"]))
        heads = [opening(param) for param in run.original]
        rows = []
        for step in request["steps"]:
            after = run.step(arrays(step["grads"]), from_json(step["learning_rate"]))
            rows.append(b",".join([head + elements(array) + b'"}' for head, array in zip(heads, after)]))
        return b'{"after":[' + b",".join([b"[" + row + b"]" for row in rows]) + b"]}\n"

    def packed(self, request: Mapping[str, Any]) -> bytes:
        """Play a run whose arrays came behind the line; those of the answer are behind its line as well."""
        shapes = [tuple(shape) for shape in request["shapes"]]
        sizes = [int(np.prod(shape)) for shape in shapes]
        reader, missing = Elements(request["dtype"], request[BYTES]), {tuple(place) for place in request["missing"]}
        run = self._started(request, [reader.next(*param) for param in zip(shapes, sizes)])
        rows = []
        for step, rate in enumerate(request["learning_rates"]):
            places = enumerate(zip(shapes, sizes))
            grads = [None if (step, i) in missing else reader.next(*param) for i, param in places]
            rows += [raw(array) for array in run.step(grads, from_json(rate))]
        after = b"".join(rows)
        return b'{"%s":%d}\n' % (BYTES.encode("ascii"), len(after)) + after

    def start(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Begin a run that is fed step by step."""
        run = self.runs[request["run"]] = self._started(request, arrays(request["parameters"]))
        return {
            "run": request["run"],
            "resumable": hasattr(run.run, "state") and hasattr(run.run, "load"),
            "takes": [kind for kind in TRANSFORMS if otherwise(run, kind) is not None],
        }

    def _engine(self, request: Mapping[str, Any]) -> Any:
        engine = self.engines.get(request["engine"])
        if engine is None:
            raise Fault(f"engine = {request['engine']!r}, must be one of {', '.join(self.engines)}")
        return engine

    def _started(self, request: Mapping[str, Any], parameters: Sequence[Any]) -> Feeding:
        engine = self._engine(request)
        optimizer, kind = request["optimizer"], request.get("kind", RULE)
        hyper = hyper_from_json(request["hyper"])
        start = getattr(engine, STARTS[kind == RULE], None)
        if start is None:
            raise Unsupported(lacks_start(self.target.name, kind == RULE))
        ask = getattr(engine, "unsupported", None)
        try:
            reason = ask(optimizer, hyper, request["dtype"]) if ask else None
        except (Exception, SystemExit) as error:
            raise Fault(f"unsupported() {raised(error)}") from error
        if isinstance(reason, str):
            raise Unsupported(reason)
        if reason is not None:
            raise Fault(f"unsupported() {what_is_no_reason(reason)}")
        layouts = request.get("layouts", IN_ROWS)
        return Feeding(start, kind, optimizer, hyper, parameters, request.get("fresh", ()), layouts)

    def _run(self, request: Mapping[str, Any]) -> Any:
        run = self.runs.get(request["run"])
        if run is None:
            raise Fault(f"run = {request['run']!r}, must be one that was started: {sorted(self.runs)}")
        return run

    def step(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Feed one more step."""
        after = self._run(request).step(arrays(request["grads"]), from_json(request["learning_rate"]))
        return {"run": request["run"], "after": [encoded(array) for array in after]}

    def step_otherwise(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Feed one more step of another kind."""
        run, kind = self._run(request), request["do"]
        fed: Any = [own(part) for part in request["parts"]] if kind == ACCUMULATED else own(request["grads"])
        more = [from_json(request["learning_rate"])] if run.kind == RULE else []
        more += [from_json(request["scale"])] if kind == SCALED else []
        return self._after(request, otherwise(run, kind)(fed, *more), run.original)

    def start_groups(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Begin a run over groups of parameters."""
        groups = [(hyper_from_json(group["hyper"]), own(group["parameters"])) for group in request["groups"]]
        parameters = [param for _, group in groups for param in group]
        run = self._engine(request).start_groups(request["optimizer"], groups)
        self.runs[request["run"]] = Grouped(run, [np.array(param) for param in parameters])
        return {"run": request["run"]}

    def add_group(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Add a group to a run."""
        run, parameters = self._run(request), own(request["parameters"])
        run.original += [np.array(param) for param in parameters]
        run.run.add(hyper_from_json(request["hyper"]), parameters)
        return {"run": request["run"]}

    def step_groups(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Feed one more step to a run over groups."""
        run, rates = self._run(request), [from_json(rate) for rate in request["learning_rates"]]
        return self._after(request, run.run.step(own(request["grads"]), rates), run.original)

    @staticmethod
    def _after(request: Mapping[str, Any], after: Any, parameters: Sequence[Any]) -> dict[str, Any]:
        """Return the answer with the parameters after a step, which must be like those of the run."""
        wrong = what_is_wrong(after, parameters)
        if wrong:
            raise Fault(f"{request['do']} returned {wrong}")
        return {"run": request["run"], "after": [encoded(array) for array in after]}

    def update(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Feed an average."""
        self._run(request).update(arrays(request["grads"]))
        return {"run": request["run"]}

    def applied(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Apply or restore an average."""
        run = self._run(request)
        return self._after(request, getattr(run.run, request["do"])(), run.original)

    def state(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the state of a run."""
        state = self._run(request).run.state()
        if not isinstance(state, Mapping):
            raise Fault(f"state returned a {type(state).__name__}, must be a dict of lists of arrays")
        return {"run": request["run"], "state": {slot: [encoded(a) for a in held] for slot, held in state.items()}}

    def load(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Let a run continue from a state."""
        state = {slot: [np.array(array) for array in arrays(held)] for slot, held in request["state"].items()}
        self._run(request).run.load(state)
        return {"run": request["run"]}

    def end(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Forget a run."""
        self.runs.pop(request["run"], None)
        return {"run": request["run"]}


class Grouped:
    """A run over groups of parameters.

    Attributes:
        run: what the target has started.
        original: all parameters, as they were given to it.
    """

    def __init__(self, run: Any, original: list[Any]) -> None:
        self.run, self.original = run, original


def otherwise(run: Feeding, kind: str) -> Any:
    """Return the method that takes a step of another kind, None where there is none."""
    return None if run.kind == AVERAGE else getattr(run.run, kind if run.kind == RULE else TRANSFORMS[kind], None)


def offered(engine: Any) -> list[str]:
    """Name what an engine offers beside runs over one group in one dtype."""
    groups = callable(getattr(engine, "start_groups", None))
    said = {MIXED: "mixes_dtypes", BESIDE: "side_by_side", STRIDED: "strided"}
    return [GROUPS] * groups + [what for what, name in said.items() if getattr(engine, name, False)]


def hyper_from_json(hyper: Mapping[str, Any]) -> dict[str, Any]:
    """Return hyperparameters that came as JSON."""
    return {name: from_json(value) for name, value in hyper.items()}


def arrays(messages: Sequence[Any]) -> list[Any]:
    """Return the arrays of JSON objects; None stays None."""
    return [None if message is None else decoded(message) for message in messages]


def own(messages: Sequence[Any]) -> list[Any]:
    """Return the arrays of JSON objects, each with memory that can be written."""
    return [None if array is None else np.array(array) for array in arrays(messages)]


def limits_of(engine: Any) -> dict[str, Any]:
    """Return what an engine says that it does not offer, as JSON."""
    limits = {name: getattr(engine, name, None) for name in LIMITS}
    return {name: _plain(value) for name, value in limits.items() if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(map(str, value))
    if isinstance(value, np.generic):
        return value.item()
    return list(value) if isinstance(value, tuple) else value


def loaded(spec: str) -> Any:
    """Load the target that an argument names.

    Raises:
        Fault: it cannot be loaded, or is no target; the text says what is wrong.
    """
    name, colon, path = spec.partition(":")
    if not colon:
        lend_targets()
        name, path = f"optimetry.conformance.targets.{name}.target", "target"
    elif "" not in sys.path:
        sys.path.insert(0, "")  # as `python -m` does
    try:
        candidate: Any = importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise Fault(f"importing {name} {raised(error)}") from error
    for attribute in path.split("."):
        if not hasattr(candidate, attribute):
            raise Fault(f"{getattr(candidate, '__name__', candidate)} has no attribute {attribute!r}")
        candidate = getattr(candidate, attribute)
    return made(candidate)


def lend_targets() -> None:
    """Make the targets that lie beside this file importable where optimetry is not installed.

    The packages that they lie in are made without what those import: a target that needs more than NumPy and its
    library raises, and says what is missing.
    """
    try:
        if importlib.util.find_spec("optimetry.conformance") is not None:
            return
    except ModuleNotFoundError:  # not even its parent
        pass
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - Python 3.7
    for package, path in (
        ("optimetry", os.path.dirname(folder)),  # noqa: PTH120
        ("optimetry.conformance", folder),
        ("optimetry.conformance.targets", os.path.join(folder, "targets")),  # noqa: PTH118
    ):
        sys.modules[package] = module = types.ModuleType(package)
        module.__path__ = [path]


def begins(candidate: Any) -> bool:
    """Whether an object can begin runs: of rules, of wrappers, or of both."""
    return any(callable(getattr(candidate, start, None)) for start in STARTS.values())


def engines_of(target: Any) -> list[Any]:
    """Return the targets to judge one by one: what ``engines()`` lists, or the target itself.

    Raises:
        Fault: it lists none, or two of one name, or its method raises.
    """
    engines: list[Any] = _listed(target, "engines", list, [target])
    names = [engine_name(engine) for engine in engines]
    if not names:
        raise Fault("engines() lists no engine")
    for name in names:
        if names.count(name) > 1:
            raise Fault(f"engines() lists {names.count(name)} engines named {name!r}: each needs its own `engine`")
    return engines


def engine_name(target: Any) -> str:
    """Return the engine that a target says it runs, ``"default"`` if it says nothing."""
    return str(getattr(target, "engine", "default"))


def engines_not_run(target: Any) -> dict[str, str]:
    """Return the engines that a target says cannot run here, with its reasons.

    Raises:
        Fault: its method raises.
    """
    return {str(engine): str(reason) for engine, reason in _listed(target, "not_run", dict, {}).items()}


def _listed(target: Any, method: str, kind: Callable[[Any], Any], otherwise: Any) -> Any:
    """Return what a method of a target lists, and something else where it has no such method."""
    ask = getattr(target, method, None)
    try:
        return kind(ask()) if callable(ask) else otherwise
    except Exception as error:
        raise Fault(f"{method}() {raised(error)}") from error


def made(candidate: Any) -> Any:
    """Make a target from a class, an instance or a function without arguments.

    Raises:
        Fault: it cannot be made, or is no target; the text says what is wrong.
    """
    if isinstance(candidate, type) or (callable(candidate) and not begins(candidate)):
        try:
            candidate = candidate()
        except (Exception, SystemExit) as error:
            hint = "; one optimizer of yours: optimetry check FRAMEWORK:module.Class --as RULE"
            raise Fault(f"calling it without arguments {raised(error)}{hint}") from error
    missing = [
        f"{name} ({kind})"
        for name, kind, kept in (
            ("name", "a string", isinstance(getattr(candidate, "name", None), str)),
            ("version", "a string", isinstance(getattr(candidate, "version", None), str)),
            ("start or start_wrapper", "a method", begins(candidate)),
        )
        if not kept
    ]
    if missing:
        raise Fault(f"a {type(candidate).__name__} is no target, it lacks {', '.join(missing)}")
    return candidate


# The conversation.


def sent(answer: Mapping[str, Any] | bytes) -> bytes:
    """Return an answer as it is sent."""
    return answer if isinstance(answer, bytes) else json.dumps(answer, separators=(",", ":")).encode("ascii") + b"\n"


def private_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Return standard input and output for the protocol alone: what the target prints goes to standard error."""
    requests, replies = os.fdopen(os.dup(0), "rb", BUFFER), os.fdopen(os.dup(1), "wb", BUFFER)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, replies


def main() -> None:
    """Answer requests until there are no more."""
    if len(sys.argv) != 2:
        sys.exit(f"usage: {os.path.basename(sys.argv[0])} module:object")  # noqa: PTH119 - it is a name, not a path
    converse(Player(sys.argv[1]))


def converse(player: Player) -> None:
    """Let a player answer requests from standard input until there are no more."""
    requests, replies = private_streams()
    if sys.path and sys.path[0] == os.path.dirname(os.path.abspath(__file__)):  # noqa: PTH100, PTH120 - Python 3.7
        del sys.path[0]  # the modules beside this file are not the target's
    warnings.simplefilter("ignore")  # cases overflow on purpose
    for line in requests:
        request = json.loads(line)
        if request.get("do") == "bye":
            break
        if BYTES in request:
            request[BYTES] = requests.read(request[BYTES])
        replies.write(sent(player.answer(request)))
        replies.flush()


if __name__ == "__main__":
    main()
