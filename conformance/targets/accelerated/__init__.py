"""Our own accelerated backend as a target: each engine judged apart, with and without master copies."""
