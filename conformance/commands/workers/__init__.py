"""Worker processes, the jobs that they do, and the targets that they start."""
