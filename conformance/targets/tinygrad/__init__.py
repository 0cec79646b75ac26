"""tinygrad (``tinygrad.nn.optim``) as a target, on the CPU."""
