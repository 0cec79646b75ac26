"""What the targets offer beside optimizers: clips, regularizers, averages and compression, one framework a file."""
