"""Formulas as data: rules traced into programs, which are edited, evaluated on any numbers, and written down."""
