"""Keras (``keras.optimizers``) as a target: its backends torch, jax and numpy, judged apart."""
