"""Numbers with rounding bounds: formats, bounds, error ratios, units in the last place, the environment they need."""
