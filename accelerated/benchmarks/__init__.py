"""Times the kernels against the limit of memory and against the installed frameworks, in the same run."""
