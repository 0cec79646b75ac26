"""Optax on JAX as a target: its gradient transformations, operation by operation and compiled, judged apart."""
