"""One file per class of ``torch.optim``, each with ``kernel(rule)``.

What is the same for all elements is prepared in double precision and rounded once: the sign of the gradient, the share
of a parameter that a decoupled decay keeps, the corrections of a step. So Adam divides once for each element.
"""
