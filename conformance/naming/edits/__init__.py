"""The edits of a formula: the small mistakes that implementations of it make."""
