"""What a number, a bound, an error ratio and a unit in the last place are."""
