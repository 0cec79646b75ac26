"""On its way out."""
