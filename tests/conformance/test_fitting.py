"""Arguments of a class are fitted to the hyperparameters of a rule by their names."""

from __future__ import annotations

from optimetry.conformance.targets.fitting import Taken, fitted


def test_betas_are_as_many_as_the_rule_has() -> None:
    taken = [Taken(name, False) for name in ("lr", "betas", "eps", "weight_decay")]
    assert fitted("x", "papers.adan", taken, {}).arguments["betas"] == ("beta1", "beta2", "beta3")
    assert fitted("x", "torch.adamw", taken, {}).arguments["betas"] == ("beta1", "beta2")
