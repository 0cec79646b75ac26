"""Holds the numbers that libraries usually have, of which candidates are made: rates, epsilons, guards and limits."""

RATES = (0.001, 0.01, 0.1, 1.0)
"""The default learning rates of frameworks; 1 is where the rate is not multiplied by at all."""

EPSILONS = (1e-6, 1e-7, 1e-8, 1e-10)
"""What libraries add where a rule of ours has an epsilon, and a caller cannot always change."""

EPSILONS_FOR_ZERO = (1e-8, 1e-6, 1e-7, 1e-10, 1e-12)
"""What may be taken for an epsilon of 0: the usual defaults."""

SPACINGS_FOR_ZERO = (1.0, 10.0)
"""What else may be taken for it, in units of the distance from 1 to the next number of the format."""

GUARDS = (1e-5, 1e-6, 1e-7, 1e-8, 1e-10, 1e-12)
"""What libraries add to a divisor that may be zero, where the document has no hyperparameter for it."""

CLIP_GUARDS = (0.0, 1e-6)
"""What clips add to the norm by which they divide."""

NORM_GUARDS = (0.0, 1e-12, 1e-8, 1e-6)
"""What is added to a norm by which every gradient is divided, however small."""

CLIP_NORMS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0)
"""The largest norms of a clip that nobody asked for."""

CLIP_VALUES = (0.1, 0.5, 1.0, 5.0, 10.0, 100.0, 1000.0, 1e4)
"""The largest magnitudes of the elements behind such a clip."""

NORM_LIMITS = (1.0, 10.0)
"""The limits of a norm, or of a ratio of norms, in the formula of a rule."""
