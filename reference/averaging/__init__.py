"""Averages of parameters over training, to be applied for evaluation and taken back."""
