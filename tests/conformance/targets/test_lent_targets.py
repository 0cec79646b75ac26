"""Targets that need NumPy and their library alone run under an interpreter that has no optimetry."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from optimetry.conformance import targets
from optimetry.conformance.harness import python_harness
from optimetry.conformance.targets.table import FRAMEWORKS
from tests.imports import import_graph

HARNESS = str(python_harness.__file__)
PACKAGE, TARGETS = targets.__name__, Path(targets.__path__[0])
APART = [name for name, row in FRAMEWORKS.items() if row.apart and (TARGETS / name / "table.py").is_file()]
"""Those with a table of their own; another release of a framework has its table."""

BESIDE = {f"{PACKAGE}.{name}" for name in ("offers", "jax_caches")}
"""What the folders of frameworks share."""

ELSEWHERE = """
import json, sys
sys.path += [{numpy!r}, {harness!r}]
import python_harness
"""
"""The beginning of a program that finds NumPy and the harness: with `-S` no path leads to optimetry."""

TABLES = """
try:
    import optimetry
except ModuleNotFoundError:
    pass
else:
    raise SystemExit("optimetry is installed there")
sys.modules.update(dict.fromkeys({frameworks}))
python_harness.lend_targets()
import importlib
table = importlib.import_module("optimetry.conformance.targets.{name}.table")
print(json.dumps([sorted(table.OFFERS), [module for module in sys.modules if module.startswith("optimetry.")]]))
"""

TOY = """
import numpy as np
from optimetry.conformance.targets.offers import Offer, TableTarget


class Descent(Offer):
    def start(self, subject, hyper, parameters, engine):
        return Run(parameters)


class Run:
    def __init__(self, parameters):
        self.parameters = [parameter.copy() for parameter in parameters]

    def step(self, grads, learning_rate):
        for parameter, grad in zip(self.parameters, grads):
            parameter -= parameter.dtype.type(learning_rate) * grad
        return self.parameters


class Toy(TableTarget):
    name, version, offers = "toy", "1.0", {"sgd": Descent()}


target = Toy()
"""


def ran(code, **more):
    """The output of a program that is run where optimetry is not installed."""
    begin = ELSEWHERE.format(numpy=str(Path(np.__file__).parents[1]), harness=str(Path(HARNESS).parent))
    command = [sys.executable, "-S", "-c", begin + code]
    done = subprocess.run(command, check=False, capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def graph():
    """What each module imports as it runs."""
    return import_graph("optimetry.conformance", TARGETS.parent, with_types=False)


@pytest.mark.parametrize("name", [name for name, row in FRAMEWORKS.items() if row.apart] + ["keras"])
def test_a_target_that_is_lent_imports_folders_of_frameworks_alone(name, graph):
    reached, left = set(), {f"{PACKAGE}.{name}.target", f"{PACKAGE}.{name}.process"} & {*graph}
    while left:
        reached |= left
        left = set().union(*(graph[module] for module in left)) - reached
    assert len(reached) > 2
    folders = tuple(f"{PACKAGE}.{folder.name}." for folder in TARGETS.iterdir() if folder.is_dir())
    assert [module for module in sorted(reached - BESIDE) if not module.startswith(folders)] == []


@pytest.mark.parametrize("name", APART)
def test_the_table_of_a_framework_apart_needs_neither_it_nor_the_rest_of_optimetry(name):
    frameworks = [row.module for row in FRAMEWORKS.values()]
    offered, imported = json.loads(ran(TABLES.format(frameworks=frameworks, name=name)))
    assert {"sgd", "momentum", "adam"} <= set(offered)
    lent, own = "optimetry.conformance", f"optimetry.conformance.targets.{name}"
    others = [module for module in imported if module != own and not module.startswith(f"{own}.")]
    assert set(others) == {lent, f"{lent}.targets", f"{lent}.targets.offers"}


def test_a_lent_target_answers_by_the_protocol(tmp_path):
    """A folder like ours, with a target that no other interpreter has."""
    targets = tmp_path / "conformance" / "targets"
    (targets / "toy").mkdir(parents=True)
    (tmp_path / "conformance" / "harness").mkdir()
    offers = Path(HARNESS).parents[1] / "targets" / "offers.py"
    (targets / "offers.py").write_bytes(offers.read_bytes())
    (targets / "toy" / "target.py").write_text(TOY)
    harness = tmp_path / "conformance" / "harness" / "python_harness.py"
    harness.write_bytes(Path(HARNESS).read_bytes())
    array = python_harness.encoded(np.array([1.0, 2.0]))
    run = {"do": "run", "engine": "default", "optimizer": "sgd", "dtype": "float64", "hyper": {}, "parameters": [array]}
    run["steps"] = [{"grads": [array], "learning_rate": 0.5}]
    asked = [{"do": "hello", "protocol": 1}, run, {**run, "optimizer": "adam"}, {"do": "bye"}]
    play = f"sys.argv = ['harness', 'toy']; sys.path[-1] = {str(harness.parent)!r}\n"
    play += "del sys.modules['python_harness']; import python_harness; python_harness.main()"
    output = ran(play, input="".join(json.dumps(message) + "\n" for message in asked))
    hello, answer, refused = map(json.loads, output.splitlines())
    assert (hello["name"], hello["version"]) == ("toy", "1.0")
    assert python_harness.decoded(answer["after"][0][0]).tolist() == [0.5, 1.0]
    assert refused == {"unsupported": "nothing in toy is known for adam"}
