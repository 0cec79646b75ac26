"""The oracle: evaluates a subject on a case, on numbers with rounding bounds."""
