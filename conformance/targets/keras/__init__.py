"""Keras (``keras.optimizers``) as a target: its backends torch, jax, numpy and tensorflow, judged apart."""
