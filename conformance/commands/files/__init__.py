"""The files of a run: what ``--out`` names, what is kept of a killed run, and ledgers."""
