"""Subjects: the documented update rules and wrappers, under one protocol."""
