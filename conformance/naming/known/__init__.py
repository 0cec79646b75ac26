"""Known formulas: the points of every family, in classes, and the probes that separate them."""
