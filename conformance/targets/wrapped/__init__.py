"""What the targets offer beside optimizers: their clips, regularizers and averages, one framework a file."""
