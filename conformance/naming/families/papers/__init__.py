"""Families of the rules as published."""
