"""What is documented and judged: update rules and wrappers, by one protocol."""
