"""One file per algorithm of the book papers, each with ``kernel(rule)``.

Where another book has the same formula, its function is used; differences that are the same for all elements go into
the scalars, as the corrections of a step do.
"""
