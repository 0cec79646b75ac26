"""Results files, their schema, and the tables and pages made of them."""
