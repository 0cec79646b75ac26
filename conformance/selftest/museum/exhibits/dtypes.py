"""Parameters of several dtypes in one run: loops over dtypes that do too much or too little."""

from __future__ import annotations

from optimetry.conformance.numerics.arrays import Array
from optimetry.conformance.selftest.faults.dtypes import FirstDtypeAlone, dtypes_fault
from optimetry.conformance.selftest.faults.hooks import Grads
from optimetry.conformance.selftest.museum.exhibit import enter
from optimetry.conformance.targets.numpy.target import RuleRun
from optimetry.reference.rule import Rule


class _DecaysOncePerDtype(RuleRun):
    """Decays all parameters of a group each time it comes to another of their dtypes."""

    def __init__(self, rule: Rule, parameters: list[Array]) -> None:
        super().__init__(rule, parameters)
        self.dtypes = {array.dtype for array in parameters}

    def step(self, grads: Grads, learning_rate: float) -> list[Array]:
        """Decay as often as there are dtypes beside the one whose decay the rule does itself."""
        training = self.training
        kept = 1 - learning_rate * training.rule.hyper()["weight_decay"]
        for i, grad in enumerate(grads):
            for _ in range(len(self.dtypes) - 1 if grad is not None else 0):
                training.parameters[i] = training.parameters[i] * kept
        return super().step(grads, learning_rate)


enter(
    "several dtypes",
    (
        dtypes_fault(
            "timm-2750",
            "torch.adamw",
            "all parameters decay once for each dtype among them; of SGDW, shown in AdamW",
            _DecaysOncePerDtype,
        ),
        dtypes_fault(
            "torch-110454",
            "torch.adagrad",
            "the loop over dtypes returns behind the first that has sparse gradients; shown without sparseness",
            FirstDtypeAlone,
        ),
    ),
)
