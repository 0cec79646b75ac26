"""Selection of the entries of largest magnitude, in place: the second half of DGC's compression.

The NumPy engine partitions. The compiled engines select by radix, in passes over memory and without copying it. The
bits of a magnitude, read as a whole number, have the same order: its *key*. Entries are counted by the first eight bits
of their keys, for each parameter; the counts give the first eight bits of the smallest key that is still taken, and how
many of the entries with these bits; those are counted by their next eight bits, and so on. In the end that key, the
*threshold*, is known, and how many of the entries at the threshold are taken: the first ones. Two more passes count the
entries to take from each unit, and take them.

Counts are whole numbers, so the same entries are taken whichever thread counts first.
"""
