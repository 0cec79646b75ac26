"""MindSpore (``mindspore.nn`` and ``mindspore.experimental.optim``) as a target, on the CPU."""
