"""Frameworks under test, one folder each, imported only when named."""
