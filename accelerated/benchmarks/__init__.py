"""How fast the kernels are: against what memory allows, and against the frameworks installed, in the same run."""
