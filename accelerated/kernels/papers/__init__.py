"""One file per algorithm of the book papers, each with ``kernel(rule)``.

Where another book has the same formula, its function is taken, and what differs but is the same for all elements stands
in the scalars, as the corrections of a step do.
"""
