"""What is written for people: on a terminal, and of documents, diagnoses and found formulas."""
