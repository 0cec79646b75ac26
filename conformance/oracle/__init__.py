"""What a subject must give on a case, on numbers with rounding bounds."""
