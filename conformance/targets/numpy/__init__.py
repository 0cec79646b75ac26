"""The reference itself, evaluated in working precision: the target that must always conform."""
